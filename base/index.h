/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash index over an array that somebody else owns: it stores positions
 * only, and asks the owner whether a position holds the wanted item. Tables of
 * the model, string tables and caches are an array plus one of these.
 * A zeroed el_index is empty. Position 0 can be stored like any other.
 */
#ifndef EL_BASE_INDEX_H
#define EL_BASE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct el_index {
	struct el_index_slot *slots; /* n_slots, a power of two */
	uint32_t n_slots;
	uint32_t n;
};

#define EL_INDEX_NONE UINT32_MAX

/* Whether the owner's item at `position` is the one `wanted` describes. */
typedef bool el_index_equal(const void *owner, uint32_t position, const void *wanted);

/* The position of the wanted item, or EL_INDEX_NONE. */
uint32_t el_index_find(const struct el_index *index, uint64_t hash, el_index_equal *equal,
		       const void *owner, const void *wanted);
/* Adds a position under `hash` without looking for an equal one; 0 or -ENOMEM. */
int el_index_add(struct el_index *index, uint64_t hash, uint32_t position);
void el_index_clear(struct el_index *index);
void el_index_deinit(struct el_index *index);

#endif
