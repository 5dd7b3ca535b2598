/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of known CPU shares: plain loops, an inlined function called from two
 * lines, a macro, recursion, a second thread, a plug-in opened at run time and
 * a division. Usage: calibrated SECONDS PLUGIN.so
 * Each part's work is on one line, so that the truth is a line's self time.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "truth.h"

#define UNIT 20000

static int at_plain, at_inlined, at_macro, at_recursion, at_thread, at_divide, at_light, at_heavy;
static double seconds;

/* A part stays on its line. */
/* clang-format off */
static uint64_t __attribute__((noinline)) plain(uint64_t n)
{
	uint64_t x = n;

	at_plain = __LINE__ + 1;
	while (n--) { x = x * 3 + n; opaque(x); } /* plain */
	return x;
}

static inline uint64_t __attribute__((always_inline)) inlined(uint64_t n)
{
	uint64_t x = n;

	at_inlined = __LINE__ + 1;
	while (n--) { x = x * 5 + n; opaque(x); } /* inlined */
	return x;
}

static uint64_t __attribute__((noinline)) inliner(uint64_t n)
{
	uint64_t x = 0;

	x += inlined(n); /* inlined once */
	opaque(x);
	x += inlined(n * 3); /* inlined thrice */
	return x;
}

#define STEPS(x, n) while (n--) { x ^= x << 7; opaque(x); x += n; opaque(x); }

static uint64_t __attribute__((noinline)) with_macro(uint64_t n)
{
	uint64_t x = n;

	at_macro = __LINE__ + 1;
	STEPS(x, n) /* macro */
	return x;
}

static uint64_t __attribute__((noinline)) recursion(uint64_t n, int depth)
{
	uint64_t x = n;

	at_recursion = __LINE__ + 1;
	for (uint64_t i = n; i--;) { x = x * 7 + i; opaque(x); } /* recursion */
	if (depth)
		x += recursion(n, depth - 1); /* recursive call */
	opaque(x);
	return x;
}

static uint64_t __attribute__((noinline)) divide(uint64_t n)
{
	uint64_t x = 0, quotient;

	at_divide = __LINE__ + 2;
	for (uint64_t i = n; i--;) {
		quotient = (~0ull - i) / (n | 1); opaque(quotient); /* divide */
		x ^= quotient; opaque(x); /* after the division */
	}
	return x;
}

static uint64_t __attribute__((noinline)) light(uint64_t n)
{
	uint64_t x = n;

	at_light = __LINE__ + 1;
	while (n--) { x = x * 9 + n; opaque(x); } /* light */
	return x;
}

static uint64_t __attribute__((noinline)) heavy(uint64_t n)
{
	uint64_t x = n;

	at_heavy = __LINE__ + 1;
	for (uint64_t i = n * 5; i--;) { x = x * 11 + i; opaque(x); } /* heavy */
	return x;
}

static uint64_t __attribute__((noinline)) threaded(uint64_t n)
{
	uint64_t x = n;

	at_thread = __LINE__ + 1;
	while (n--) { x = x * 13 + n; opaque(x); } /* thread */
	return x;
}
/* clang-format on */

static void *thread(void *context)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);

	pthread_setname_np(pthread_self(), "second");
	while (clock_ns(CLOCK_MONOTONIC) < end)
		timed(__FILE__, at_thread, threaded(10 * UNIT));
	return context;
}

int main(int argc, char **argv)
{
	uint64_t (*plugin)(uint64_t n, int *line);
	uint64_t end;
	pthread_t second;
	int at_plugin = 0;
	void *handle;

	seconds = argc > 1 ? atof(argv[1]) : 1;
	handle = argc > 2 ? dlopen(argv[2], RTLD_NOW) : NULL;
	plugin = handle ? (uint64_t(*)(uint64_t, int *))dlsym(handle, "plugin") : NULL;
	if (!plugin) {
		fprintf(stderr, "usage: calibrated SECONDS PLUGIN.so\n");
		return 2;
	}
	pthread_create(&second, NULL, thread, NULL);
	end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
	while (clock_ns(CLOCK_MONOTONIC) < end) {
		timed(__FILE__, at_plain, plain(4 * UNIT));
		timed(__FILE__, at_inlined, inliner(UNIT));
		timed(__FILE__, at_macro, with_macro(2 * UNIT));
		timed(__FILE__, at_recursion, recursion(UNIT / 2, 5));
		timed(__FILE__, at_divide, divide(UNIT));
		timed(__FILE__, at_light, light(UNIT));
		timed(__FILE__, at_heavy, heavy(UNIT));
		timed("plugin.c", at_plugin, plugin(2 * UNIT, &at_plugin));
	}
	pthread_join(second, NULL);
	print_truth();
	return 0;
}
