/* SPDX-License-Identifier: Apache-2.0 */
/* Process images: fed as the side-band and samples would, and by scans of real processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/skip.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc_stat.h"
#include "base/time.h"
#include "user/process/process.h"

#define START 5000000000123ull /* a start time that is no multiple of a tick */

static uint64_t boot_offset(void)
{
	return el_clock_ns(CLOCK_BOOTTIME) - el_now_ns();
}

static struct el_processes *new_processes(void)
{
	struct el_processes *processes;

	assert_int_equal(el_processes_new(&processes), 0);
	return processes;
}

static struct el_mapping file(uint64_t start, uint64_t end, uint64_t offset, const char *path)
{
	return (struct el_mapping){.start = start,
				   .end = end,
				   .offset = offset,
				   .path = path,
				   .flags = EL_MAPPING_FILE};
}

static void map(struct el_processes *processes, uint64_t time_ns, uint32_t pid,
		struct el_mapping mapping)
{
	assert_int_equal(el_processes_mmap(processes, time_ns, pid, &mapping), 0);
}

static struct el_record_sample sample(uint32_t pid, uint32_t exec_id, uint64_t start_ns,
				      uint64_t time_ns)
{
	return (struct el_record_sample){.image = {pid, exec_id, start_ns},
					 .tid = pid,
					 .time_ns = time_ns,
					 .comm = "thread"};
}

static struct el_process *of(struct el_processes *processes, struct el_record_sample sample)
{
	struct el_process *process = el_processes_of_sample(processes, &sample);

	assert_non_null(process);
	return process;
}

static const char *path_at(struct el_processes *processes, uint32_t id, uint64_t addr,
			   uint64_t time_ns)
{
	const struct el_process_mapping *mapping =
		el_process_mapping_at(processes, id, addr, time_ns);

	return mapping ? mapping->mapping.path : NULL;
}

static void kernel_is_image_zero(void **state)
{
	struct el_processes *processes = new_processes();
	const struct el_process_mapping *mapping;

	(void)state;
	mapping = el_process_mapping_at(processes, 0, 0xffffffff81000000ull, 42);
	assert_non_null(mapping);
	assert_int_equal(mapping->mapping.flags, EL_MAPPING_KERNEL);
	assert_int_not_equal(mapping->mapping.id, 0);
	assert_null(el_process_mapping_at(processes, 0, 0x7fffffffffffull, 42));
	assert_true(el_processes_get(processes, 0)->kernel_thread);
	el_processes_free(processes);
}

static void exec_ends_the_old_image_and_its_mappings(void **state)
{
	struct el_processes *processes = new_processes();
	uint32_t old, new;

	(void)state;
	el_processes_fork(processes, 1000, 1, 50);
	map(processes, 1100, 50, file(0x1000, 0x2000, 0, "/bin/old"));
	old = of(processes, sample(50, 3, START, 1200))->id;
	el_processes_exec(processes, 2000, 50, "new");
	map(processes, 2100, 50, file(0x1000, 0x2000, 0, "/bin/new"));
	new = of(processes, sample(50, 4, START, 2200))->id;
	assert_int_not_equal(old, new);
	assert_string_equal(path_at(processes, old, 0x1500, 1500), "/bin/old");
	assert_string_equal(path_at(processes, new, 0x1500, 2500), "/bin/new");
	assert_string_equal(el_processes_get(processes, new)->comm, "new");
	assert_int_equal(el_processes_get(processes, old)->to_ns, 2000);
	/* A sample that comes late still belongs to the image its key says. */
	assert_int_equal(of(processes, sample(50, 3, START, 2001))->id, old);
	el_processes_free(processes);
}

static void kernel_sample_between_exec_and_its_count_does_not_name_the_image(void **state)
{
	struct el_processes *processes = new_processes();
	struct el_record_sample early = sample(50, 7, START, 2010);
	uint32_t id;

	(void)state;
	el_processes_exec(processes, 2000, 50, "prog");
	early.flags = EL_SAMPLE_KERNEL_MODE;
	id = of(processes, early)->id;
	map(processes, 2020, 50, file(0x1000, 0x2000, 0, "/bin/prog"));
	assert_int_equal(of(processes, sample(50, 8, START, 2100))->id, id);
	assert_int_equal(of(processes, sample(50, 8, START, 2200))->key.exec_id, 8);
	el_processes_free(processes);
}

static void missed_exec_gives_a_new_unscanned_image(void **state)
{
	struct el_processes *processes = new_processes();
	struct el_process *process;
	uint32_t old;

	(void)state;
	old = of(processes, sample(50, 3, START, 1000))->id;
	map(processes, 1100, 50, file(0x1000, 0x2000, 0, "/bin/old"));
	process = of(processes, sample(50, 4, START, 2000));
	assert_int_not_equal(process->id, old);
	assert_false(process->scanned);
	assert_null(path_at(processes, process->id, 0x1500, 2000));
	assert_string_equal(path_at(processes, old, 0x1500, 1500), "/bin/old");
	el_processes_free(processes);
}

static void forked_child_has_its_parents_mappings_of_that_moment(void **state)
{
	struct el_processes *processes = new_processes();
	uint32_t child, grandchild;
	size_t n;

	(void)state;
	map(processes, 1000, 50, file(0x1000, 0x2000, 0, "/lib/a"));
	el_processes_fork(processes, 2000, 50, 51);
	el_processes_fork(processes, 2500, 51, 52);
	map(processes, 3000, 50, file(0x1000, 0x2000, 0, "/lib/b"));
	map(processes, 3000, 50, file(0x5000, 0x6000, 0, "/lib/c"));
	child = of(processes, sample(51, 0, START, 4000))->id;
	grandchild = of(processes, sample(52, 0, START, 4000))->id;
	assert_string_equal(path_at(processes, child, 0x1500, 4000), "/lib/a");
	assert_string_equal(path_at(processes, grandchild, 0x1500, 4000), "/lib/a");
	assert_null(path_at(processes, child, 0x5500, 4000));
	el_process_mappings(processes, child, &n);
	assert_int_equal(n, 1);
	el_processes_free(processes);
}

static void forked_child_outlives_its_forgotten_parent(void **state)
{
	struct el_processes *processes = new_processes();

	(void)state;
	map(processes, 1000, 50, file(0x1000, 0x2000, 0, "/lib/a"));
	el_processes_fork(processes, 2000, 50, 51);
	el_processes_exit(processes, 2100, 50);
	el_processes_forget(processes, 3000, NULL, NULL);
	assert_string_equal(
		path_at(processes, of(processes, sample(51, 0, START, 4000))->id, 0x1500, 4000),
		"/lib/a");
	el_processes_free(processes);
}

static void overlay_cuts_the_older_mapping_at_that_time(void **state)
{
	struct el_processes *processes = new_processes();
	const struct el_process_mapping *right;
	uint32_t id;

	(void)state;
	map(processes, 1000, 50, file(0x10000, 0x20000, 0x4000, "/lib/old"));
	map(processes, 2000, 50, file(0x14000, 0x16000, 0, "/lib/new"));
	id = of(processes, sample(50, 0, START, 2500))->id;
	assert_string_equal(path_at(processes, id, 0x14000, 1999), "/lib/old");
	assert_string_equal(path_at(processes, id, 0x14000, 2000), "/lib/new");
	assert_string_equal(path_at(processes, id, 0x13fff, 3000), "/lib/old");
	assert_string_equal(path_at(processes, id, 0x1ffff, 3000), "/lib/old");
	assert_null(path_at(processes, id, 0x20000, 3000));
	right = el_process_mapping_at(processes, id, 0x16000, 3000);
	assert_int_equal(right->mapping.offset, 0x4000 + 0x6000);
	el_processes_free(processes);
}

static void same_address_over_time_gives_each_its_own(void **state)
{
	struct el_processes *processes = new_processes();
	char path[32];
	uint32_t id;

	(void)state;
	id = of(processes, sample(50, 0, START, START))->id;
	for (unsigned int i = 0; i < 3000; i++) {
		snprintf(path, sizeof(path), "/lib/%u", i);
		map(processes, START + i * 10, 50, file(0x1000, 0x2000 + i % 7, 0, path));
	}
	for (unsigned int i = 0; i < 3000; i += 13) {
		snprintf(path, sizeof(path), "/lib/%u", i);
		assert_string_equal(path_at(processes, id, 0x1800, START + i * 10 + 5), path);
	}
	el_processes_free(processes);
}

static void mapping_told_twice_is_one_and_learns(void **state)
{
	struct el_processes *processes = new_processes();
	struct el_mapping told = file(0x1000, 0x2000, 0, "/lib/a"), scanned = told;
	const struct el_process_mapping *all;
	uint32_t generation;
	size_t n;

	(void)state;
	told.build_id_size = 20;
	memset(told.build_id, 7, 20);
	scanned.inode = 99;
	scanned.dev_major = 8;
	scanned.path = "/lib/a (deleted)";
	map(processes, 1000, 50, told);
	map(processes, 2000, 50, scanned);
	generation = of(processes, sample(50, 0, START, 2100))->generation;
	map(processes, 3000, 50, told);
	all = el_process_mappings(processes, of(processes, sample(50, 0, START, 3100))->id, &n);
	assert_int_equal(n, 1);
	assert_int_equal(all->mapping.inode, 99);
	assert_int_equal(all->mapping.build_id_size, 20);
	assert_int_equal(of(processes, sample(50, 0, START, 3200))->generation, generation);
	el_processes_free(processes);
}

static void reused_pid_is_another_image(void **state)
{
	struct el_processes *processes = new_processes();
	uint32_t first, second;

	(void)state;
	first = of(processes, sample(50, 0, START, START))->id;
	second = of(processes,
		    sample(50, 0, START + 10 * EL_PROC_TICK_NS, START + 10 * EL_PROC_TICK_NS))
			 ->id;
	assert_int_not_equal(first, second);
	assert_int_equal(of(processes, sample(50, 0, START, START + 5))->id, first);
	el_processes_free(processes);
}

static void news_of_a_fork_after_the_scan_keep_the_image(void **state)
{
	struct el_processes *processes = new_processes();
	uint64_t fork_ns = el_now_ns(), start_ns = fork_ns + boot_offset() - 50000;
	uint32_t id;

	(void)state;
	id = of(processes, sample(50, 0, start_ns, fork_ns + 100))->id;
	el_processes_fork(processes, fork_ns, 49, 50);
	assert_int_equal(of(processes, sample(50, 0, start_ns, fork_ns + 200))->id, id);
	assert_int_equal(el_processes_get(processes, id)->parent_pid, 49);
	assert_int_equal(el_processes_get(processes, id)->to_ns, UINT64_MAX);
	el_processes_free(processes);
}

static void thread_name_is_not_the_process_name(void **state)
{
	struct el_processes *processes = new_processes();
	struct el_record_sample of_thread = sample(50, 0, START, START);

	(void)state;
	el_processes_exec(processes, 1000, 50, "server");
	el_processes_comm(processes, 1100, 50, 51, "worker");
	of_thread.tid = 51;
	assert_string_equal(of(processes, of_thread)->comm, "server");
	el_processes_comm(processes, 1200, 50, 50, "renamed-to-something-long");
	assert_string_equal(of(processes, of_thread)->comm, "renamed-to-some");
	el_processes_free(processes);
}

static void cgroup_id_of_a_sample_names_the_path(void **state)
{
	struct el_processes *processes = new_processes();
	struct el_record_sample one = sample(50, 0, START, START);

	(void)state;
	one.cgroup_id = 77;
	assert_string_equal(el_processes_string(processes, of(processes, one)->cgroup), "");
	el_processes_cgroup(processes, 77, "/system.slice/a");
	assert_string_equal(el_processes_string(processes, of(processes, one)->cgroup),
			    "/system.slice/a");
	el_processes_free(processes);
}

static void count_gone(void *context, uint32_t id)
{
	(void)id;
	++*(int *)context;
}

static void forgotten_images_are_told_and_living_ones_stay(void **state)
{
	struct el_processes *processes = new_processes();
	uint32_t dead, living;
	int n_gone = 0;

	(void)state;
	dead = of(processes, sample(50, 0, START, START))->id;
	living = of(processes, sample(51, 0, START, START))->id;
	map(processes, START, 51, file(0x1000, 0x2000, 0, "/lib/a"));
	map(processes, START + 10, 51, file(0x1000, 0x2000, 0, "/lib/b"));
	el_processes_exit(processes, START + 20, 50);
	el_processes_forget(processes, START + 100, count_gone, &n_gone);
	assert_int_equal(n_gone, 1);
	assert_null(el_processes_get(processes, dead));
	assert_string_equal(path_at(processes, living, 0x1000, START + 100), "/lib/b");
	assert_null(path_at(processes, living, 0x1000, START + 5));
	assert_int_equal(of(processes, sample(51, 0, START, START + 200))->id, living);
	assert_non_null(el_processes_get(processes, 0));
	el_processes_free(processes);
}

static void exec_storm_without_samples_keeps_memory_level(void **state)
{
	struct el_processes *processes = new_processes();
	struct el_processes_counts counts;

	(void)state;
	map(processes, 1000, 7, file(0x1000, 0x2000, 0, "/bin/sh"));
	for (uint32_t i = 0; i < 100000; i++) {
		uint64_t time_ns = 1000000ull * i;
		uint32_t pid = 100 + i % 30000;

		el_processes_fork(processes, time_ns, 7, pid);
		el_processes_exec(processes, time_ns + 1, pid, "true");
		map(processes, time_ns + 2, pid, file(0x1000, 0x2000, 0, "/bin/true"));
		el_processes_exit(processes, time_ns + 3, pid);
	}
	el_processes_counts(processes, &counts);
	assert_in_range(counts.images, 2, 20000);
	el_processes_free(processes);
}

static void hostile_mmap_storm_stays_bounded(void **state)
{
	struct el_processes *processes = new_processes();
	struct el_processes_counts counts;
	uint64_t before = el_now_ns();
	size_t n;

	(void)state;
	for (uint64_t i = 0; i < 300000; i++)
		map(processes, START + i, 50,
		    file(i * 0x3000 % 0x7fff0000000,
			 (i * 0x3000 % 0x7fff0000000) + 0x1000 * (1 + i % 5), 0, "/lib/a"));
	el_process_mappings(processes, of(processes, sample(50, 0, START, START))->id, &n);
	assert_in_range(n, 1, 1 << 17);
	el_processes_counts(processes, &counts);
	assert_true(counts.mappings_refused > 0);
	assert_true(el_now_ns() - before < 5000000000ull);
	el_processes_free(processes);
}

/* --- real processes --- */

static pid_t start_child(void (*body)(int ready))
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		body(ready[1]);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void odd_file_child(int ready)
{
	int fd = open("/tmp/el odd\nname", O_RDWR | O_CREAT | O_TRUNC, 0600);

	prctl(PR_SET_NAME, "odd)( name");
	if (ftruncate(fd, 8192))
		_exit(1);
	mmap((void *)0x100000000, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 4096);
	unlink("/tmp/el odd\nname");
	mmap((void *)0x200000000, 4096, PROT_READ | PROT_EXEC,
	     MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0);
	mmap((void *)0x300000000, 4096, PROT_READ | PROT_EXEC,
	     MAP_SHARED | MAP_FIXED | MAP_ANONYMOUS, -1, 0);
	if (write(ready, "", 1) != 1)
		_exit(1);
}

static void scan_reads_what_is_mapped(void **state)
{
	struct el_processes *processes = new_processes();
	pid_t pid = start_child(odd_file_child);
	const struct el_process_mapping *mapping;
	struct el_process *process;
	size_t n, n_again;

	(void)state;
	assert_int_equal(el_processes_scan(processes, el_now_ns(), pid), 0);
	process = el_processes_get(processes, 1);
	assert_non_null(process);
	assert_int_equal(process->key.tgid, pid);
	assert_true(process->scanned);
	assert_int_equal(process->parent_pid, getpid());
	assert_string_equal(process->comm, "odd)( name");
	mapping = el_process_mapping_at(processes, 1, 0x100000000, el_now_ns());
	assert_string_equal(mapping->mapping.path, "/tmp/el odd\nname (deleted)");
	assert_int_equal(mapping->mapping.flags, EL_MAPPING_FILE);
	assert_int_equal(mapping->mapping.offset, 4096);
	assert_int_not_equal(mapping->mapping.inode, 0);
	assert_int_equal(
		el_process_mapping_at(processes, 1, 0x200000000, el_now_ns())->mapping.flags,
		EL_MAPPING_ANONYMOUS);
	assert_int_equal(
		el_process_mapping_at(processes, 1, 0x300000000, el_now_ns())->mapping.flags,
		EL_MAPPING_ANONYMOUS);
	el_process_mappings(processes, 1, &n);
	assert_int_equal(el_processes_scan(processes, el_now_ns(), pid), 0);
	el_process_mappings(processes, 1, &n_again);
	assert_int_equal(n, n_again);
	end_child(pid);
	assert_int_equal(el_processes_scan(processes, el_now_ns(), pid), -ESRCH);
	el_processes_free(processes);
}

static void scanned_image_is_the_one_its_samples_mean(void **state)
{
	struct el_processes *processes = new_processes();
	uint64_t start_ns;

	(void)state;
	assert_int_equal(el_processes_scan(processes, el_now_ns(), getpid()), 0);
	start_ns = el_processes_get(processes, 1)->key.start_ns;
	assert_int_equal(start_ns % EL_PROC_TICK_NS, 0);
	assert_int_equal(of(processes, sample(getpid(), 5, start_ns + 1234567, el_now_ns()))->id,
			 1);
	/* From the beginning of the process, not of the scan. */
	assert_non_null(el_process_mapping_at(processes, 1, (uintptr_t)boot_offset,
					      el_processes_get(processes, 1)->from_ns + 1));
	assert_int_equal(el_processes_get(processes, 1)->key.start_ns, start_ns + 1234567);
	el_processes_free(processes);
}

static void scan_ends_what_is_no_longer_mapped(void **state)
{
	struct el_processes *processes = new_processes();
	uint64_t first;

	(void)state;
	mmap((void *)0x400000000, 4096, PROT_READ | PROT_EXEC,
	     MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0);
	assert_int_equal(el_processes_scan(processes, el_now_ns(), getpid()), 0);
	first = el_now_ns();
	munmap((void *)0x400000000, 4096);
	assert_int_equal(el_processes_scan(processes, el_now_ns(), getpid()), 0);
	assert_non_null(el_process_mapping_at(processes, 1, 0x400000000, first));
	assert_null(el_process_mapping_at(processes, 1, 0x400000000, el_now_ns()));
	el_processes_free(processes);
}

static void kernel_thread_has_no_mappings(void **state)
{
	struct el_processes *processes = new_processes();
	size_t n;

	(void)state;
	if (el_processes_scan(processes, el_now_ns(), 2)) {
		el_processes_free(processes);
		skip_because("a PID namespace without kthreadd");
	}
	if (strcmp(el_processes_get(processes, 1)->comm, "kthreadd")) {
		el_processes_free(processes);
		skip_because("a PID namespace without kthreadd");
	}
	assert_true(el_processes_get(processes, 1)->kernel_thread);
	el_process_mappings(processes, 1, &n);
	assert_int_equal(n, 0);
	el_processes_free(processes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_is_image_zero),
		cmocka_unit_test(exec_ends_the_old_image_and_its_mappings),
		cmocka_unit_test(kernel_sample_between_exec_and_its_count_does_not_name_the_image),
		cmocka_unit_test(missed_exec_gives_a_new_unscanned_image),
		cmocka_unit_test(forked_child_has_its_parents_mappings_of_that_moment),
		cmocka_unit_test(forked_child_outlives_its_forgotten_parent),
		cmocka_unit_test(overlay_cuts_the_older_mapping_at_that_time),
		cmocka_unit_test(same_address_over_time_gives_each_its_own),
		cmocka_unit_test(mapping_told_twice_is_one_and_learns),
		cmocka_unit_test(reused_pid_is_another_image),
		cmocka_unit_test(news_of_a_fork_after_the_scan_keep_the_image),
		cmocka_unit_test(thread_name_is_not_the_process_name),
		cmocka_unit_test(cgroup_id_of_a_sample_names_the_path),
		cmocka_unit_test(forgotten_images_are_told_and_living_ones_stay),
		cmocka_unit_test(exec_storm_without_samples_keeps_memory_level),
		cmocka_unit_test(hostile_mmap_storm_stays_bounded),
		cmocka_unit_test(scan_reads_what_is_mapped),
		cmocka_unit_test(scanned_image_is_the_one_its_samples_mean),
		cmocka_unit_test(scan_ends_what_is_no_longer_mapped),
		cmocka_unit_test(kernel_thread_has_no_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
