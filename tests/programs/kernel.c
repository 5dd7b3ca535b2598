/* SPDX-License-Identifier: Apache-2.0 */
/* Spends its time in the kernel: reads /dev/zero in large pieces. Usage: kernel SECONDS */
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static char buffer[1 << 20];

static void __attribute__((noinline)) read_zeros(int fd)
{
	for (int i = 0; i < 100; i++)
		if (read(fd, buffer, sizeof(buffer)) < 0) /* read */
			exit(1);
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atol(argv[1]) : 2);
	int fd = open("/dev/zero", O_RDONLY);

	while (time(NULL) < end)
		read_zeros(fd);
	return 0;
}
