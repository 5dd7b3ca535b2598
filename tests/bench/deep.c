/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fixed amount of work at the bottom of a stack of DEPTH calls; prints the
 * CPU nanoseconds it took. Usage: deep DEPTH ROUNDS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t __attribute__((noinline)) deeper(int depth, uint64_t n)
{
	uint64_t x = n;

	if (depth > 0) {
		x = deeper(depth - 1, n);
	} else {
		for (uint64_t i = n * 1000; i--;) {
			x = x * 3 + i;
			__asm__ volatile("" : "+r"(x));
		}
	}
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

int main(int argc, char **argv)
{
	struct timespec before, after;

	if (argc < 3)
		return 2;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	deeper(atoi(argv[1]), strtoull(argv[2], NULL, 10));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	printf("%lld\n", (long long)(after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec -
				 before.tv_nsec);
	return 0;
}
