/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that measure their own truth: CPU time per source line, taken with
 * the thread's CPU clock around each part, printed as JSON at the end:
 * {"cpu_ns": N, "lines": {"FILE:LINE": ns, ...}}.
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MAX_PARTS 32

/* Keeps the compiler from seeing through a value. */
#define opaque(x) __asm__ volatile("" : "+r"(x))

struct part {
	const char *file;
	int line;
	uint64_t ns;
};

static struct part parts[MAX_PARTS];
static int n_parts;
static pthread_mutex_t parts_lock = PTHREAD_MUTEX_INITIALIZER;

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline void credit(const char *file, int line, uint64_t ns)
{
	const char *slash = strrchr(file, '/');
	int i;

	file = slash ? slash + 1 : file;
	pthread_mutex_lock(&parts_lock);
	for (i = 0; i < n_parts; i++)
		if (parts[i].line == line && !strcmp(parts[i].file, file))
			break;
	if (i == n_parts && n_parts < MAX_PARTS)
		parts[n_parts++] = (struct part){.file = file, .line = line};
	if (i < MAX_PARTS)
		parts[i].ns += ns;
	pthread_mutex_unlock(&parts_lock);
}

/* Runs `call` and credits its CPU time to the line whose number `at` holds afterwards. */
#define timed(file, at, call)                                                                      \
	do {                                                                                       \
		uint64_t before_ = clock_ns(CLOCK_THREAD_CPUTIME_ID);                              \
		call;                                                                              \
		credit(file, at, clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_);                     \
	} while (0)

static inline void print_truth(void)
{
	printf("{\"cpu_ns\": %llu, \"lines\": {",
	       (unsigned long long)clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	for (int i = 0; i < n_parts; i++)
		printf("%s\"%s:%d\": %llu", i ? ", " : "", parts[i].file, parts[i].line,
		       (unsigned long long)parts[i].ns);
	printf("}}\n");
	fflush(stdout);
}

#endif
