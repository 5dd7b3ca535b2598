/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See clock.h. An event on a CPU that goes offline stops for good, without an
 * error, even when the CPU comes back; PERF_EVENT_IOC_ENABLE revives it. The
 * kernel's total_time_enabled is what tells.
 */
#include "user/sampling/clock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/time.h"
#include "user/sampling/events.h"
#include "user/sampling/requirements.h"

#define CHECK_EVERY_NS EL_NS_PER_S
#define GAP_NS (EL_NS_PER_S / 2) /* enabled time that lags by this was not only read late */

/* xorshift64*: jitter needs no secret */
static uint64_t random_next(struct el_clock *clock)
{
	clock->random ^= clock->random >> 12;
	clock->random ^= clock->random << 25;
	clock->random ^= clock->random >> 27;
	return clock->random * 0x2545f4914f6cdd1dull;
}

/* 0.8 to 1.2 of the period */
static uint64_t jittered(struct el_clock *clock)
{
	uint64_t fifth = clock->period / 5;

	return clock->period - fifth + random_next(clock) % (2 * fifth + 1);
}

static int open_event(struct el_clock *clock, int cpu)
{
	struct perf_event_attr attr = {
		.type = clock->event->type,
		.size = sizeof(attr),
		.config = clock->event->config,
		.sample_period = clock->event->clock ? jittered(clock) : clock->period,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
		.disabled = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int add_cpu(struct el_clock *clock, int number, struct el_error *error)
{
	struct el_clock_cpu cpu = {.cpu = number, .link = -1};
	int err;

	cpu.fd = open_event(clock, number);
	if (cpu.fd < 0)
		return el_perf_error(cpu.fd, "opening", clock->event, number, error);
	cpu.link = el_programs_attach(clock->programs, cpu.fd);
	err = cpu.link < 0 ? cpu.link : el_vec_push(&clock->cpus, cpu);
	if (!err)
		return 0;
	close(cpu.fd);
	if (cpu.link >= 0)
		close(cpu.link);
	return el_bpf_error(err, "attach", "", error);
}

int el_clock_init(struct el_clock *clock, struct el_programs *programs,
		  const struct el_sampler_options *options, const int *cpus, size_t n_cpus,
		  struct el_error *error)
{
	uint64_t periods = options->short_run ? 25 : 20,
		 least = options->short_run ? 0 : EL_NS_PER_S;
	int err = 0;

	*clock = (struct el_clock){
		.event = options->event,
		.programs = programs,
		.period = options->period,
		.every_ns = options->period * periods > least ? options->period * periods : least,
		.random = 0x9e3779b97f4a7c15ull ^ el_now_ns(),
	};
	if (getrandom(&clock->random, sizeof(clock->random), GRND_NONBLOCK) < 0)
		clock->random ^= getpid();
	clock->random |= 1;
	for (size_t i = 0; i < n_cpus && !err; i++)
		err = add_cpu(clock, cpus[i], error);
	if (err)
		el_clock_deinit(clock);
	return err;
}

void el_clock_deinit(struct el_clock *clock)
{
	for (size_t i = 0; i < clock->cpus.n; i++) {
		close(clock->cpus.at[i].link);
		close(clock->cpus.at[i].fd);
	}
	el_vec_deinit(&clock->cpus);
}

int el_clock_start(struct el_clock *clock, struct el_error *error)
{
	for (size_t i = 0; i < clock->cpus.n; i++) {
		struct el_clock_cpu *cpu = &clock->cpus.at[i];

		cpu->enabled_ns = cpu->checked_ns = el_now_ns();
		clock->programs->clocks[cpu->cpu].last_ns = cpu->enabled_ns;
		if (ioctl(cpu->fd, PERF_EVENT_IOC_ENABLE, 0))
			return el_perf_error(-errno, "enabling", clock->event, cpu->cpu, error);
	}
	clock->moved_ns = clock->checked_ns = el_now_ns();
	return 0;
}

int el_clock_stop(struct el_clock *clock)
{
	int err = 0;

	for (size_t i = 0; i < clock->cpus.n; i++) {
		struct el_clock_cpu *cpu = &clock->cpus.at[i];

		if (cpu->stopped_ns)
			continue;
		if (ioctl(cpu->fd, PERF_EVENT_IOC_DISABLE, 0))
			err = -errno;
		cpu->stopped_ns = el_now_ns(); /* after it: a tick may have come until then */
	}
	return err;
}

/* The kernel's enabled time, ns. */
static uint64_t kernel_enabled(const struct el_clock_cpu *cpu)
{
	uint64_t values[2] = {0}; /* count, enabled */

	return read(cpu->fd, values, sizeof(values)) == sizeof(values) ? values[1] : 0;
}

static void look_for_gaps(struct el_clock *clock, uint64_t now)
{
	for (size_t i = 0; i < clock->cpus.n; i++) {
		struct el_clock_cpu *cpu = &clock->cpus.at[i];
		uint64_t enabled = kernel_enabled(cpu);

		if (now - cpu->checked_ns > enabled - cpu->kernel_ns + GAP_NS) {
			clock->n_gaps++;
			ioctl(cpu->fd, PERF_EVENT_IOC_ENABLE,
			      0); /* no effect while it is offline: tried again */
		}
		cpu->kernel_ns = enabled;
		cpu->checked_ns = now;
	}
	clock->checked_ns = now;
}

void el_clock_tend(struct el_clock *clock, uint64_t now)
{
	if (!clock->moved_ns || !clock->cpus.n || clock->cpus.at[0].stopped_ns)
		return;
	if (now - clock->checked_ns >= CHECK_EVERY_NS)
		look_for_gaps(clock, now);
	if (!clock->event->clock || now - clock->moved_ns < clock->every_ns)
		return;
	for (size_t i = 0; i < clock->cpus.n; i++) {
		uint64_t period = jittered(clock);

		ioctl(clock->cpus.at[i].fd, PERF_EVENT_IOC_PERIOD, &period);
	}
	clock->moved_ns = now;
}

/* A CPU's books between two ticks, never in the middle of one. */
static void snapshot(const struct el_programs *programs, int cpu, struct el_cpu_counters *counters,
		     uint64_t *last_ns)
{
	const struct el_cpu_clock *clock = &programs->clocks[cpu];
	uint64_t before, after;

	do {
		before = __atomic_load_n(&clock->changes, __ATOMIC_ACQUIRE);
		memcpy(counters, &programs->counters[cpu], sizeof(*counters));
		*last_ns = clock->last_ns;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		after = __atomic_load_n(&clock->changes, __ATOMIC_RELAXED);
	} while (before != after || (before & 1));
}

void el_clock_counts(struct el_clock *clock, struct el_sampler_counts *ret)
{
	for (size_t i = 0; i < clock->cpus.n; i++) {
		const struct el_clock_cpu *cpu = &clock->cpus.at[i];
		struct el_cpu_counters counters;
		uint64_t last, now;

		if (!cpu->enabled_ns)
			continue;
		snapshot(clock->programs, cpu->cpu, &counters, &last);
		now = cpu->stopped_ns ? cpu->stopped_ns : el_now_ns();
		for (int j = 0; j < EL_N_COUNTERS; j++)
			ret->at[j] += counters.at[j];
		ret->enabled_ns += now - cpu->enabled_ns;
		ret->open_tail_ns += now - last;
		ret->kernel_enabled_ns += kernel_enabled(cpu);
	}
	ret->n_cpus = clock->cpus.n;
	ret->n_cpus_offline_gap = clock->n_gaps;
}
