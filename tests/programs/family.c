/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A family: N children that each burn CPU, every other one in a second
 * thread too, every third after an exec of this program. Prints
 * "PID CPU_NS" of each child, and ends with status 7.
 * Usage: family N MILLISECONDS | family burn MILLISECONDS
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void __attribute__((noinline)) burn(uint64_t ns)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
	volatile uint64_t x = 0;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 50000; i++)
			x += (uint64_t)i;
}

static void *burn_thread(void *ns)
{
	burn(*(uint64_t *)ns);
	return NULL;
}

static void child(int i, uint64_t ns, char **argv)
{
	pthread_t thread;

	if (i % 3 == 2) {
		execl("/proc/self/exe", "family", "burn", argv[2], (char *)NULL);
		_exit(3);
	}
	if (i % 2)
		pthread_create(&thread, NULL, burn_thread, &ns);
	burn(ns);
	if (i % 2)
		pthread_join(thread, NULL);
	_exit(0);
}

int main(int argc, char **argv)
{
	uint64_t ns;
	int n;

	if (argc < 3)
		return 2;
	ns = strtoull(argv[2], NULL, 10) * 1000000u;
	if (!strcmp(argv[1], "burn")) {
		burn(ns);
		return 0;
	}
	n = atoi(argv[1]);
	for (int i = 0; i < n; i++)
		if (!fork())
			child(i, ns, argv);
	for (int i = 0; i < n; i++) {
		struct rusage usage;
		pid_t pid = wait4(-1, NULL, 0, &usage);

		printf("%d %llu\n", pid,
		       (unsigned long long)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) *
				       1000000000u +
			       (unsigned long long)(usage.ru_utime.tv_usec +
						    usage.ru_stime.tv_usec) *
				       1000u);
	}
	fflush(stdout);
	return 7;
}
