/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In lockstep with a sampler of a fixed period: of each period, counted from
 * one origin, the first fifth is spent in hot(), the rest in cold(). Prints
 * the true share of hot() in CPU time. Usage: lockstep PERIOD_NS SECONDS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#endif
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t __attribute__((noinline)) hot(uint64_t until)
{
	uint64_t n = 0;

	while (ticks() < until)
		n++;
	return n;
}

static uint64_t __attribute__((noinline)) cold(uint64_t until)
{
	uint64_t n = 1;

	while (ticks() < until)
		n += 2;
	return n;
}

int main(int argc, char **argv)
{
	uint64_t period_ns = argc > 1 ? strtoull(argv[1], NULL, 10) : 10101010;
	double seconds = argc > 2 ? atof(argv[2]) : 5, per_ns;
	uint64_t ns = clock_ns(CLOCK_MONOTONIC), tick = ticks(), start, period, cpu, hot_ns = 0,
		 all;
	volatile uint64_t sink = 0;

	/* How long a tick is, over a tenth of a second. */
	while (clock_ns(CLOCK_MONOTONIC) < ns + 100000000)
		;
	start = ticks();
	per_ns = (double)(start - tick) / (double)(clock_ns(CLOCK_MONOTONIC) - ns);
	period = (uint64_t)((double)period_ns * per_ns);
	all = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (uint64_t k = 0; (double)(k * period_ns) < seconds * 1e9; k++) {
		cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		sink += hot(start + k * period + period / 5);
		hot_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
		sink += cold(start + (k + 1) * period);
	}
	printf("%.4f\n", (double)hot_ns / (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - all));
	return 0;
}
