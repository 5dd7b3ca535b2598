/* SPDX-License-Identifier: Apache-2.0 */
/* Spends its time in the vdso. Usage: clock MILLISECONDS */
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
	long milliseconds = argc > 1 ? atol(argv[1]) : 500;
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 <
	       milliseconds);
	return 0;
}
