/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perf maps of hostile and honest processes. Most run in a mount and pid
 * namespace of their own, with a /tmp of their own, where anything may be done.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/skip.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "with_fetcher.h"

/* Becomes process 1 of new namespaces with an empty /tmp; the outer process waits for it. */
static int enter_namespaces(void)
{
	pid_t pid;
	int status;

	if (unshare(CLONE_NEWNS | CLONE_NEWPID) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return -1;
	pid = fork();
	if (pid) {
		waitpid(pid, &status, 0);
		_exit(1);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	return mount("tmpfs", "/tmp", "tmpfs", 0, NULL);
}

static int put(const char *path, const char *text)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	return fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || close(fd);
}

#define MAP "/tmp/perf-1.map"

static int honest(int ready, const char *folder)
{
	(void)folder;
	if (enter_namespaces() || put(MAP, "1000 10 inside\n"))
		return 1;
	child_tell(ready);
	return 0;
}

static int fifo(int ready, const char *folder)
{
	(void)folder;
	if (enter_namespaces() || mkfifo(MAP, 0600))
		return 1;
	child_tell(ready);
	return 0;
}

static int absolute_link(int ready, const char *folder)
{
	(void)folder;
	if (enter_namespaces() || symlink("/etc/passwd", MAP))
		return 1;
	child_tell(ready);
	return 0;
}

static int climbing_link(int ready, const char *folder)
{
	(void)folder;
	if (enter_namespaces() || symlink("../../../../etc/passwd", MAP))
		return 1;
	child_tell(ready);
	return 0;
}

static int linked_tmp(int ready, const char *folder)
{
	(void)folder;
	if (enter_namespaces() || mkdir("/tmp/root", 0755) || mkdir("/tmp/root/real", 0755) ||
	    symlink("/real", "/tmp/root/tmp") ||
	    put("/tmp/root/real/perf-1.map", "2000 10 linked\n") || chroot("/tmp/root"))
		return 1;
	child_tell(ready);
	return 0;
}

static int escaping_tmp(int ready, const char *folder)
{
	(void)folder;
	if (enter_namespaces() || put(MAP, "outside\n") || mkdir("/tmp/root", 0755) ||
	    symlink("../../../tmp", "/tmp/root/tmp") || chroot("/tmp/root"))
		return 1;
	child_tell(ready);
	return 0;
}

static int sparse(int ready, const char *folder)
{
	(void)folder;
	if (enter_namespaces() || put(MAP, "x") || truncate(MAP, 1ll << 40))
		return 1;
	child_tell(ready);
	return 0;
}

static int small_sparse(int ready, const char *folder)
{
	(void)folder;
	if (enter_namespaces() || put(MAP, "x") || truncate(MAP, 200 << 20))
		return 1;
	child_tell(ready);
	return 0;
}

static int foreign(int ready, const char *folder)
{
	(void)folder;
	if (enter_namespaces() || put(MAP, "x\n") || chown(MAP, 4321, 4321))
		return 1;
	child_tell(ready);
	return 0;
}

static int own_of_another_user(int ready, const char *folder)
{
	(void)folder;
	if (enter_namespaces() || chmod("/tmp", 0777) || setresuid(4321, 4321, 4321) ||
	    put(MAP, "3000 10 mine\n"))
		return 1;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	child_tell(ready);
	return 0;
}

static int older(int ready, const char *folder)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_sec = time(NULL) - 100}};

	(void)folder;
	if (enter_namespaces() || put(MAP, "x\n") || utimensat(AT_FDCWD, MAP, times, 0))
		return 1;
	child_tell(ready);
	return 0;
}

/* The pid of process 1 in there: the only child of the one we started. */
static pid_t inner_of(pid_t outer)
{
	char path[64];
	FILE *file;
	int pid = -1;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", outer, outer);
	file = fopen(path, "r");
	if (!file)
		return -1;
	if (fscanf(file, "%d", &pid) != 1)
		pid = -1;
	fclose(file);
	return pid;
}

struct container {
	pid_t outer;
	struct el_image image;
};

static struct container start(int (*body)(int ready, const char *folder))
{
	struct container container = {.outer = child_start(body, NULL)};
	pid_t inner;

	if (container.outer < 0)
		skip_because("no new namespaces here");
	inner = inner_of(container.outer);
	if (inner < 0) {
		child_end(container.outer);
		skip_because("a kernel without CONFIG_PROC_CHILDREN");
	}
	container.image = image_of(inner, 1);
	return container;
}

static void end(struct container *container)
{
	kill((pid_t)container->image.pid, SIGKILL);
	child_end(container->outer);
}

static int open_of(struct with_fetcher *with, const struct container *container)
{
	return with->source.open_perf_map(with->source.context, &container->image);
}

static void expect(int (*body)(int ready, const char *folder), int wanted_err, const char *text)
{
	struct container container = start(body);
	struct with_fetcher with;
	int fd;

	with_fetcher_start(&with);
	fd = open_of(&with, &container);
	if (wanted_err)
		assert_int_equal(fd, wanted_err);
	else
		assert_true(fd_holds(fd, text));
	with_fetcher_end(&with);
	end(&container);
}

static void map_in_a_container_is_found_by_its_inner_pid(void **state)
{
	(void)state;
	expect(honest, 0, "1000 10 inside");
}

static void map_of_an_unprivileged_process_is_its_own(void **state)
{
	(void)state;
	expect(own_of_another_user, 0, "3000 10 mine");
}

static void tmp_may_be_a_link_inside_the_root(void **state)
{
	(void)state;
	expect(linked_tmp, 0, "2000 10 linked");
}

static void tmp_that_climbs_out_of_the_root_stays_inside(void **state)
{
	(void)state;
	expect(escaping_tmp, -EACCES, NULL);
}

static void fifo_is_refused(void **state)
{
	(void)state;
	expect(fifo, -EACCES, NULL);
}

static void link_to_a_host_file_is_refused(void **state)
{
	(void)state;
	expect(absolute_link, -EACCES, NULL);
	expect(climbing_link, -EACCES, NULL);
}

static void sparse_file_is_refused(void **state)
{
	(void)state;
	expect(sparse, -EACCES, NULL);
	expect(small_sparse, -EACCES, NULL);
}

static void file_of_another_user_is_refused(void **state)
{
	(void)state;
	expect(foreign, -EACCES, NULL);
}

static void file_older_than_the_process_is_stale(void **state)
{
	(void)state;
	expect(older, -ESTALE, NULL);
}

static int write_own(int ready, const char *folder)
{
	char path[64];

	(void)folder;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	if (put(path, "4000 10 own\n"))
		return 1;
	child_tell(ready);
	return 0;
}

static void map_of_a_dead_process_is_found_when_it_was_seen_alive(void **state)
{
	pid_t pid = child_start(write_own, NULL);
	struct el_image image = image_of(pid, 1), stranger = image_of(pid, 2);
	struct with_fetcher with;
	char path[64];

	(void)state;
	with_fetcher_start(&with);
	assert_true(
		fd_holds(with.source.open_perf_map(with.source.context, &image), "4000 10 own"));
	child_end(pid);
	assert_true(
		fd_holds(with.source.open_perf_map(with.source.context, &image), "4000 10 own"));
	assert_int_equal(with.source.open_perf_map(with.source.context, &stranger), -ENOENT);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	unlink(path);
	with_fetcher_end(&with);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(map_in_a_container_is_found_by_its_inner_pid),
		cmocka_unit_test(map_of_an_unprivileged_process_is_its_own),
		cmocka_unit_test(tmp_may_be_a_link_inside_the_root),
		cmocka_unit_test(tmp_that_climbs_out_of_the_root_stays_inside),
		cmocka_unit_test(fifo_is_refused),
		cmocka_unit_test(link_to_a_host_file_is_refused),
		cmocka_unit_test(sparse_file_is_refused),
		cmocka_unit_test(file_of_another_user_is_refused),
		cmocka_unit_test(file_older_than_the_process_is_stale),
		cmocka_unit_test(map_of_a_dead_process_is_found_when_it_was_seen_alive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
