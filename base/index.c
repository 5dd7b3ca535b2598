/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing, at most 3/4 full; see index.h. */
#include "base/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct el_index_slot {
	uint32_t hash_high; /* spares most calls of equal() */
	uint32_t position;  /* EL_INDEX_NONE: empty */
};

static void place(struct el_index_slot *slots, uint32_t n_slots, struct el_index_slot item,
		  uint32_t home)
{
	while (slots[home].position != EL_INDEX_NONE)
		home = (home + 1) & (n_slots - 1);
	slots[home] = item;
}

/* The slot keeps 32 bits of the hash; its home comes from them alone, so that growing needs no
 * rehash. */
static uint32_t home_of(uint32_t hash_high, uint32_t n_slots)
{
	return hash_high & (n_slots - 1);
}

static int grow(struct el_index *index)
{
	uint32_t n_slots = index->n_slots ? index->n_slots * 2 : 16;
	struct el_index_slot *slots;

	if (index->n_slots >= 1u << 31)
		return -ENOMEM;
	slots = malloc((size_t)n_slots * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	memset(slots, 0xff, (size_t)n_slots * sizeof(*slots));
	for (uint32_t i = 0; i < index->n_slots; i++) {
		struct el_index_slot item = index->slots[i];

		if (item.position != EL_INDEX_NONE)
			place(slots, n_slots, item, home_of(item.hash_high, n_slots));
	}
	free(index->slots);
	index->slots = slots;
	index->n_slots = n_slots;
	return 0;
}

uint32_t el_index_find(const struct el_index *index, uint64_t hash, el_index_equal *equal,
		       const void *owner, const void *wanted)
{
	uint32_t high = hash >> 32;
	uint32_t at;

	if (!index->n_slots)
		return EL_INDEX_NONE;
	for (at = home_of(high, index->n_slots); index->slots[at].position != EL_INDEX_NONE;
	     at = (at + 1) & (index->n_slots - 1)) {
		if (index->slots[at].hash_high == high &&
		    equal(owner, index->slots[at].position, wanted))
			return index->slots[at].position;
	}
	return EL_INDEX_NONE;
}

int el_index_add(struct el_index *index, uint64_t hash, uint32_t position)
{
	struct el_index_slot item = {.hash_high = hash >> 32, .position = position};
	int err;

	if ((uint64_t)(index->n + 1) * 4 > (uint64_t)index->n_slots * 3) {
		err = grow(index);
		if (err)
			return err;
	}
	place(index->slots, index->n_slots, item, home_of(item.hash_high, index->n_slots));
	index->n++;
	return 0;
}

void el_index_clear(struct el_index *index)
{
	if (index->slots)
		memset(index->slots, 0xff, (size_t)index->n_slots * sizeof(*index->slots));
	index->n = 0;
}

void el_index_deinit(struct el_index *index)
{
	free(index->slots);
	*index = (struct el_index){0};
}
