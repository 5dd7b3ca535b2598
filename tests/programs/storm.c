/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short-lived processes, one after another: fork, exec of this program, a
 * little work, exit. Usage: storm SECONDS | storm once
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void __attribute__((noinline)) once(void)
{
	for (volatile int i = 0; i < 2000000; i++)
		;
}

int main(int argc, char **argv)
{
	time_t end;
	long n = 0;

	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "once")) {
		once();
		return 0;
	}
	end = time(NULL) + atol(argv[1]);
	while (time(NULL) < end) {
		if (!fork()) {
			execl("/proc/self/exe", "storm", "once", (char *)NULL);
			_exit(3);
		}
		wait(NULL);
		n++;
	}
	printf("%ld processes\n", n);
	return 0;
}
