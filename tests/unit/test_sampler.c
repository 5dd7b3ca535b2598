/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampler on the running kernel, against children whose truth is known:
 * a page-fault event of period 1 is exact, and the laws of bpf/wire.h hold
 * with no slack. The children are forks of this program, so its own
 * addresses tell where a sample fell.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/skip.h"
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time.h"
#include "base/vec.h"
#include "user/sampling/events.h"
#include "user/sampling/sampler.h"

/* --- what children do --- */

#define SECTION(name) __attribute__((section(#name), noinline, no_sanitize("address", "undefined")))
extern const char __start_touch_code[], __stop_touch_code[], __start_hot_code[], __stop_hot_code[],
	__start_cold_code[], __stop_cold_code[];

/* On one page: the fault that brings the code in is at its first instruction, where no page is
 * touched. */
static SECTION(touch_code)
	__attribute__((aligned(256))) void touch(volatile char *pages, size_t n, size_t page)
{
	for (size_t i = 0; i < n; i++)
		pages[i * page] = 1;
}

static void touch_pages(size_t n)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *pages =
		mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		_exit(9);
	madvise(pages, n * page, MADV_NOHUGEPAGE);
	touch(pages, n, page);
	munmap(pages, n * page);
}

static inline __attribute__((always_inline)) uint64_t ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#endif
}

static SECTION(hot_code) void hot(uint64_t until)
{
	while (ticks() < until)
		;
}

static SECTION(cold_code) void cold(uint64_t until)
{
	while (ticks() < until)
		;
}

static void spin(uint64_t cpu_ns)
{
	while (el_clock_ns(CLOCK_PROCESS_CPUTIME_ID) < cpu_ns)
		for (volatile int i = 0; i < 20000; i++)
			;
}

/* Periods of which the first fifth is hot(), from one origin; the true share of hot() in CPU time.
 */
static double keep_step(uint64_t period_ns, unsigned int n)
{
	uint64_t ns = el_now_ns(), at = ticks(), start, period, cpu, all, hot_ns = 0;

	cold(at + 50000000);
	start = ticks();
	period = (uint64_t)((double)period_ns * (double)(start - at) / (double)(el_now_ns() - ns));
	all = el_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (unsigned int k = 0; k < n; k++) {
		cpu = el_clock_ns(CLOCK_THREAD_CPUTIME_ID);
		hot(start + k * period + period / 5);
		hot_ns += el_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
		cold(start + (k + 1) * period);
	}
	return (double)hot_ns / (double)(el_clock_ns(CLOCK_THREAD_CPUTIME_ID) - all);
}

/* --- a child that waits for a word before it starts --- */

struct child {
	pid_t pid;
	int go, said;
};

static struct child child_start(void (*work)(int say))
{
	int go[2], said[2];
	struct child child;
	char byte;

	assert_int_equal(pipe(go) | pipe(said), 0);
	child.pid = fork();
	assert_true(child.pid >= 0);
	if (!child.pid) {
		close(go[1]);
		close(said[0]);
		if (read(go[0], &byte, 1) == 1)
			work(said[1]);
		_exit(0);
	}
	close(go[0]);
	close(said[1]);
	child.go = go[1];
	child.said = said[0];
	return child;
}

static void child_go(struct child *child)
{
	assert_int_equal(write(child->go, "g", 1), 1);
}

/* --- what was handed over --- */

struct seen_stack {
	uint64_t id;
	struct el_frame leaf;
	uint16_t n_frames;
};

struct seen {
	EL_VEC(struct el_record_sample) samples;
	EL_VEC(struct seen_stack) stacks;
	uint64_t latest_ns;
	unsigned int backwards, n_fork, n_exec, n_exit, n_mmap, n_named_mmap, without_body;
};

static void in_order(struct seen *seen, uint64_t time_ns)
{
	if (time_ns < seen->latest_ns)
		seen->backwards++;
	seen->latest_ns = time_ns;
}

static const struct seen_stack *find_stack(const struct seen *seen, uint64_t id)
{
	for (size_t i = 0; i < seen->stacks.n; i++)
		if (seen->stacks.at[i].id == id)
			return &seen->stacks.at[i];
	return NULL;
}

static int take_sample(void *context, const struct el_record_sample *sample)
{
	struct seen *seen = context;

	in_order(seen, sample->time_ns);
	if (sample->user_stack && !find_stack(seen, sample->user_stack))
		seen->without_body++;
	return el_vec_push(&seen->samples, *sample);
}

static int take_stack(void *context, const struct el_record_stack *stack)
{
	struct seen *seen = context;
	struct seen_stack kept = {stack->id, stack->frames[0], stack->n_frames};

	return el_vec_push(&seen->stacks, kept);
}

static int take_fork(void *context, uint64_t time_ns, uint32_t parent, uint32_t child)
{
	struct seen *seen = context;

	in_order(seen, time_ns);
	seen->n_fork += parent != child;
	return 0;
}

static int take_exec(void *context, uint64_t time_ns, uint32_t pid, const char *comm)
{
	struct seen *seen = context;

	(void)pid;
	in_order(seen, time_ns);
	seen->n_exec += !strcmp(comm, "true");
	return 0;
}

static int take_exit(void *context, uint64_t time_ns, uint32_t pid)
{
	struct seen *seen = context;

	(void)pid;
	in_order(seen, time_ns);
	seen->n_exit++;
	return 0;
}

static int take_mmap(void *context, uint64_t time_ns, uint32_t pid,
		     const struct el_mapping *mapping)
{
	struct seen *seen = context;

	(void)pid;
	in_order(seen, time_ns);
	seen->n_mmap++;
	seen->n_named_mmap += (mapping->flags & EL_MAPPING_FILE) &&
			      strstr(mapping->path, "/true") &&
			      (mapping->build_id_size || mapping->inode);
	return 0;
}

static struct el_sampler_sink sink_of(struct seen *seen)
{
	return (struct el_sampler_sink){.context = seen,
					.sample = take_sample,
					.stack = take_stack,
					.fork = take_fork,
					.exec = take_exec,
					.exit = take_exit,
					.mmap = take_mmap};
}

static void seen_deinit(struct seen *seen)
{
	el_vec_deinit(&seen->samples);
	el_vec_deinit(&seen->stacks);
}

static bool within(const struct seen *seen, const struct el_record_sample *sample,
		   const char *start, const char *stop)
{
	const struct seen_stack *stack = find_stack(seen, sample->user_stack);

	return stack && stack->leaf.addr >= (uintptr_t)start && stack->leaf.addr < (uintptr_t)stop;
}

/* --- a recording of one child --- */

static struct el_sampler_options options_of(const char *event, uint64_t period, const pid_t *pid)
{
	return (struct el_sampler_options){.event = el_event_type_find(event),
					   .period = period,
					   .pids = pid,
					   .n_pids = 1,
					   .short_run = true};
}

static void sampler_start(const struct el_sampler_options *options, struct el_sampler **ret)
{
	struct el_error error = {""};

	if (el_sampler_new(options, ret, &error)) {
		if (geteuid())
			skip_because("needs root");
		fail_msg("%s", error.text);
	}
	assert_int_equal(el_sampler_start(*ret, &error), 0);
}

static void drain(struct el_sampler *sampler, bool last, struct seen *seen)
{
	struct el_sampler_sink sink = sink_of(seen);

	assert_int_equal(el_sampler_drain(sampler, last, &sink), 0);
}

/* Until the child has ended; the child's CPU time, ns. */
static uint64_t record_child(struct el_sampler *sampler, struct child *child, struct seen *seen)
{
	struct rusage usage;

	child_go(child);
	while (!wait4(child->pid, NULL, WNOHANG, &usage)) {
		struct pollfd polled = {.fd = el_sampler_fd(sampler), .events = POLLIN};

		poll(&polled, 1, 20);
		drain(sampler, false, seen);
	}
	close(child->go);
	assert_int_equal(el_sampler_stop(sampler), 0);
	drain(sampler, true, seen);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 * EL_NS_PER_MS +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

#define AT(name) counts->at[EL_COUNTER_##name]

static void laws_hold(struct el_sampler *sampler, bool clock, struct el_sampler_counts *counts)
{
	el_sampler_counts(sampler, counts);
	assert_int_equal(AT(ELAPSED),
			 AT(IDLE) + AT(FILTERED) + AT(KEPT) + AT(LOST_RING) + AT(LATE));
	assert_int_equal(AT(RAN),
			 AT(RAN_IDLE) + AT(RAN_FILTERED) + AT(RAN_KEPT) + AT(RAN_LOST_RING));
	assert_int_equal(counts->enabled_ns, AT(ELAPSED) + counts->open_tail_ns);
	assert_int_equal(counts->delivered, AT(RAN_KEPT));
	assert_int_equal(counts->out_of_order, 0);
	if (clock)
		assert_int_equal(counts->delivered_weight, AT(KEPT));
	/* Perf's own clock agrees but for the time the ioctls take. */
	assert_true(counts->kernel_enabled_ns <= counts->enabled_ns);
	assert_true(counts->enabled_ns - counts->kernel_enabled_ns <
		    counts->enabled_ns / 100 + 20 * EL_NS_PER_MS);
}

/* --- tests --- */

static void touch_1234_pages(int say)
{
	(void)say;
	touch_pages(1234);
}

static void fault_of_period_one_is_counted_exactly(void **state)
{
	struct child child = child_start(touch_1234_pages);
	struct el_sampler_options options = options_of("page-faults", 1, &child.pid);
	struct el_sampler_counts counts;
	struct el_sampler *sampler;
	struct seen seen = {0};
	size_t n = 0;

	(void)state;
	sampler_start(&options, &sampler);
	record_child(sampler, &child, &seen);
	laws_hold(sampler, false, &counts);
	for (size_t i = 0; i < seen.samples.n; i++) {
		if (!within(&seen, &seen.samples.at[i], __start_touch_code + 1, __stop_touch_code))
			continue;
		assert_int_equal(find_stack(&seen, seen.samples.at[i].user_stack)->leaf.flags,
				 EL_FRAME_EXACT);
		assert_int_equal(seen.samples.at[i].weight, 1);
		assert_int_equal(seen.samples.at[i].image.tgid, child.pid);
		n++;
	}
	assert_int_equal(n, 1234);
	assert_int_equal(seen.without_body, 0);
	assert_int_equal(seen.backwards, 0);
	assert_int_equal(seen.n_exit, 1);
	el_sampler_free(sampler);
	close(child.said);
	seen_deinit(&seen);
}

static void spin_half_a_second(int say)
{
	(void)say;
	spin(500 * EL_NS_PER_MS);
}

static void kept_time_is_the_childs_cpu_time(void **state)
{
	struct child child = child_start(spin_half_a_second);
	struct el_sampler_options options = options_of("cpu", 1003009, &child.pid);
	struct el_sampler_counts counts;
	struct el_sampler *sampler;
	struct seen seen = {0};
	uint64_t began = el_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	double cpu, kept;

	(void)state;
	sampler_start(&options, &sampler);
	/* Loading, with the verifier's work, is part of every start. */
	assert_true(el_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - began < 150 * EL_NS_PER_MS);
	cpu = (double)record_child(sampler, &child, &seen);
	laws_hold(sampler, true, &counts);
	kept = (double)counts.at[EL_COUNTER_KEPT];
	/* What a machine under load delays is named, not lost. */
	if (kept > 1.03 * cpu || kept + (double)counts.at[EL_COUNTER_LATE] < 0.97 * cpu)
		fail_msg("kept %.0f of %.0f ns", kept, cpu);
	el_sampler_free(sampler);
	close(child.said);
	seen_deinit(&seen);
}

#define STEP_NS 1003009

static void keep_step_and_tell(int say)
{
	double share = keep_step(STEP_NS, 2500);

	if (write(say, &share, sizeof(share)) != sizeof(share))
		_exit(9);
}

static void program_in_step_with_the_period_reads_its_true_share(void **state)
{
	struct child child = child_start(keep_step_and_tell);
	struct el_sampler_options options = options_of("cpu", STEP_NS, &child.pid);
	struct el_sampler *sampler;
	struct seen seen = {0};
	double truth, hot_ns = 0, cold_ns = 0, share;

	(void)state;
	sampler_start(&options, &sampler);
	record_child(sampler, &child, &seen);
	assert_int_equal(read(child.said, &truth, sizeof(truth)), sizeof(truth));
	for (size_t i = 0; i < seen.samples.n; i++) {
		const struct el_record_sample *sample = &seen.samples.at[i];

		if (within(&seen, sample, __start_hot_code, __stop_hot_code))
			hot_ns += (double)sample->weight;
		else if (within(&seen, sample, __start_cold_code, __stop_cold_code))
			cold_ns += (double)sample->weight;
	}
	share = hot_ns / (hot_ns + cold_ns);
	print_message("true share %.3f, sampled %.3f\n", truth, share);
	assert_true(share > truth - 0.05 && share < truth + 0.05);
	el_sampler_free(sampler);
	close(child.said);
	seen_deinit(&seen);
}

static void fork_touch_and_exec(int say)
{
	pid_t grandchild = fork();

	(void)say;
	if (!grandchild) {
		touch_pages(77);
		execl("/bin/true", "true", NULL);
		_exit(9);
	}
	waitpid(grandchild, NULL, 0);
}

static void grandchild_is_followed_through_its_exec(void **state)
{
	struct child child = child_start(fork_touch_and_exec);
	struct el_sampler_options options = options_of("page-faults", 1, &child.pid);
	struct el_sampler_counts counts;
	uint32_t exec_id = 0, exec_id_after = 0;
	size_t n_touch = 0, n_true = 0;
	struct el_sampler *sampler;
	struct seen seen = {0};

	(void)state;
	sampler_start(&options, &sampler);
	record_child(sampler, &child, &seen);
	laws_hold(sampler, false, &counts);
	for (size_t i = 0; i < seen.samples.n; i++) {
		const struct el_record_sample *sample = &seen.samples.at[i];

		if (sample->image.tgid == (uint32_t)child.pid)
			continue;
		if (within(&seen, sample, __start_touch_code + 1, __stop_touch_code)) {
			exec_id = sample->image.exec_id;
			n_touch++;
		} else if (!strcmp(sample->comm, "true")) {
			exec_id_after = sample->image.exec_id;
			n_true++;
		}
	}
	assert_int_equal(n_touch, 77);
	assert_true(n_true > 0);
	assert_int_not_equal(exec_id, exec_id_after);
	assert_int_equal(seen.n_fork, 1);
	assert_int_equal(seen.n_exec, 1);
	assert_int_equal(seen.n_exit, 2);
	assert_true(seen.n_named_mmap > 0);
	assert_int_equal(seen.backwards, 0);
	assert_int_equal(counts.at[EL_COUNTER_TARGET_FULL], 0);
	el_sampler_free(sampler);
	close(child.said);
	seen_deinit(&seen);
}

static void touch_then_exec(int say)
{
	(void)say;
	touch_pages(500);
	execl("/bin/true", "true", NULL);
	_exit(9);
}

static void own_child_is_a_target_from_its_exec_on(void **state)
{
	struct child child = child_start(touch_then_exec);
	struct el_sampler_options options = options_of("page-faults", 1, &child.pid);
	struct el_sampler *sampler;
	struct seen seen = {0};

	(void)state;
	options.await_exec = true;
	sampler_start(&options, &sampler);
	record_child(sampler, &child, &seen);
	assert_true(seen.samples.n > 0);
	for (size_t i = 0; i < seen.samples.n; i++)
		assert_string_equal(seen.samples.at[i].comm, "true");
	assert_int_equal(seen.n_exec, 1);
	el_sampler_free(sampler);
	close(child.said);
	seen_deinit(&seen);
}

static void touch_many_pages(int say)
{
	(void)say;
	touch_pages(5000);
}

static void ring_too_small_loses_and_says_how_many(void **state)
{
	struct child child = child_start(touch_many_pages);
	struct el_sampler_options options = options_of("page-faults", 1, &child.pid);
	struct el_sampler_counts counts;
	struct el_sampler *sampler;
	struct seen seen = {0};

	(void)state;
	options.ring_size = 4096;
	sampler_start(&options, &sampler);
	child_go(&child);
	waitpid(child.pid, NULL, 0); /* nobody drains meanwhile */
	close(child.go);
	assert_int_equal(el_sampler_stop(sampler), 0);
	drain(sampler, true, &seen);
	laws_hold(sampler, false, &counts);
	assert_true(counts.at[EL_COUNTER_RAN_LOST_RING] > 4000);
	assert_true(counts.at[EL_COUNTER_RAN_LOST_RING] + counts.delivered >= 5000);
	assert_int_equal(counts.delivered, seen.samples.n);
	el_sampler_free(sampler);
	close(child.said);
	seen_deinit(&seen);
}

static void whole_machine_keeps_the_laws_while_running(void **state)
{
	struct child child = child_start(spin_half_a_second);
	struct el_sampler_options options = {.period = 200000, .all = true, .short_run = true};
	struct el_sampler_counts counts;
	struct el_sampler *sampler;
	struct seen seen = {0};

	(void)state;
	sampler_start(&options, &sampler);
	child_go(&child);
	/* Between drains the accounts of running CPUs are whole at any moment. */
	for (uint64_t until = el_now_ns() + 300 * EL_NS_PER_MS; el_now_ns() < until;) {
		el_sampler_counts(sampler, &counts);
		assert_int_equal(counts.enabled_ns,
				 counts.at[EL_COUNTER_ELAPSED] + counts.open_tail_ns);
		assert_int_equal(counts.at[EL_COUNTER_ELAPSED],
				 counts.at[EL_COUNTER_IDLE] + counts.at[EL_COUNTER_KEPT] +
					 counts.at[EL_COUNTER_LOST_RING] +
					 counts.at[EL_COUNTER_LATE]);
	}
	waitpid(child.pid, NULL, 0);
	close(child.go);
	assert_int_equal(el_sampler_stop(sampler), 0);
	drain(sampler, true, &seen);
	laws_hold(sampler, true, &counts);
	assert_int_equal(counts.at[EL_COUNTER_FILTERED], 0);
	el_sampler_free(sampler);
	close(child.said);
	seen_deinit(&seen);
}

static void forgotten_stacks_are_sent_again(void **state)
{
	struct child child = child_start(spin_half_a_second);
	struct el_sampler_options options = options_of("cpu", 1003009, &child.pid);
	struct el_sampler *sampler;
	struct seen seen = {0}, later = {0};

	(void)state;
	sampler_start(&options, &sampler);
	child_go(&child);
	usleep(200000);
	drain(sampler, false, &seen);
	assert_true(seen.samples.n > 0);
	el_sampler_forget_stacks(sampler);
	waitpid(child.pid, NULL, 0);
	close(child.go);
	el_sampler_stop(sampler);
	drain(sampler, true, &later);
	assert_true(later.samples.n > 50);
	/* But for what was on its way when they were forgotten. */
	assert_true(later.without_body < 5);
	el_sampler_free(sampler);
	close(child.said);
	seen_deinit(&seen);
	seen_deinit(&later);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fault_of_period_one_is_counted_exactly),
		cmocka_unit_test(kept_time_is_the_childs_cpu_time),
		cmocka_unit_test(program_in_step_with_the_period_reads_its_true_share),
		cmocka_unit_test(grandchild_is_followed_through_its_exec),
		cmocka_unit_test(own_child_is_a_target_from_its_exec_on),
		cmocka_unit_test(ring_too_small_loses_and_says_how_many),
		cmocka_unit_test(whole_machine_keeps_the_laws_while_running),
		cmocka_unit_test(forgotten_stacks_are_sent_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
