/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Touches fresh pages, N on one line and M on another: as many page faults,
 * every time. Usage: faults N M
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static char *fresh(size_t n, size_t page)
{
	char *memory =
		mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	madvise(memory, n * page, MADV_NOHUGEPAGE);
	return memory;
}

static void __attribute__((noinline)) first(volatile char *memory, size_t n, size_t page)
{
	for (size_t i = 0; i < n; i++)
		memory[i * page] = 1; /* first */
}

static void __attribute__((noinline)) second(volatile char *memory, size_t n, size_t page)
{
	for (size_t i = 0; i < n; i++)
		memory[i * page] = 2; /* second */
}

int main(int argc, char **argv)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t n = argc > 1 ? (size_t)atol(argv[1]) : 5000,
	       m = argc > 2 ? (size_t)atol(argv[2]) : 1234;
	char *a = fresh(n, page), *b = fresh(m, page);

	first(a, n, page);
	second(b, m, page);
	printf("touched %zu and %zu pages\n", n, m);
	return 0;
}
