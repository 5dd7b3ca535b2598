/* SPDX-License-Identifier: Apache-2.0 */
/* Execs itself again and again, each time at other addresses. Usage: again TIMES LOOPS */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 0;
	volatile long loops = argc > 2 ? atol(argv[2]) : 0;
	char left[16];

	while (loops > 0)
		loops--; /* spin */
	if (!times)
		return 0;
	snprintf(left, sizeof(left), "%d", times - 1);
	execl("/proc/self/exe", "again", left, argv[2], NULL);
	return 1;
}
