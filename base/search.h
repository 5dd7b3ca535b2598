/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting and binary search by whatever the caller compares. */
#ifndef EL_BASE_SEARCH_H
#define EL_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/*
 * How many of the `n` first items `holds` is true for, which is an expression
 * over the position `i`, true up to some item and false from there on: with
 * at[i].start <= addr, the item that may cover `addr` is the one before.
 */
#define el_partition(n, i, holds)                                                                  \
	({                                                                                         \
		size_t el_low = 0, el_high = (n);                                                  \
		while (el_low < el_high) {                                                         \
			size_t i = el_low + (el_high - el_low) / 2;                                \
			if (holds)                                                                 \
				el_low = i + 1;                                                    \
			else                                                                       \
				el_high = i;                                                       \
		}                                                                                  \
		el_low;                                                                            \
	})

/* For comparators: negative, 0 or positive, as the larger one is `b`, none or `a`. */
static inline int el_compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

#endif
