/* SPDX-License-Identifier: Apache-2.0 */
/* The part of calibrated.c that is opened at run time. */
#include <stdint.h>

uint64_t plugin(uint64_t n, int *line);

/* The part stays on its line. */
/* clang-format off */
uint64_t plugin(uint64_t n, int *line)
{
	uint64_t x = n;

	*line = __LINE__ + 1;
	while (n--) { x = x * 17 + n; __asm__ volatile("" : "+r"(x)); } /* plugin */
	return x;
}
/* clang-format on */
