/* SPDX-License-Identifier: Apache-2.0 */
/* Mostly waits: a little work ten times a second. Usage: sleepy SECONDS */
#include <stdlib.h>
#include <unistd.h>

static void __attribute__((noinline)) work(void)
{
	for (volatile int i = 0; i < 4000000; i++)
		;
}

int main(int argc, char **argv)
{
	for (int i = 0, n = argc > 1 ? atoi(argv[1]) * 10 : 20; i < n; i++) {
		work();
		usleep(90000);
	}
	return 0;
}
