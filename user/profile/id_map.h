/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of a file, any 64-bit numbers, to rows of the profile. Made for dense ids, bears any. */
#ifndef EL_ID_MAP_H
#define EL_ID_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/index.h"
#include "base/vec.h"

struct el_id_row {
	uint64_t id;
	uint32_t row;
};

struct el_id_map {
	EL_VEC(struct el_id_row) at;
	struct el_index index; /* of those whose id is not their position + 1 */
	uint64_t seed;
};

static inline bool el_id_map_equal(const void *owner, uint32_t position, const void *wanted)
{
	const struct el_id_map *map = owner;

	return map->at.at[position].id == *(const uint64_t *)wanted;
}

/* -ENOENT when the id is not there. */
static inline int el_id_map_find(const struct el_id_map *map, uint64_t id, uint32_t *ret)
{
	uint32_t position;

	if (id - 1 < map->at.n && map->at.at[id - 1].id == id) {
		*ret = map->at.at[id - 1].row;
		return 0;
	}
	position =
		el_index_find(&map->index, el_hash_u64(map->seed, id), el_id_map_equal, map, &id);
	if (position == EL_INDEX_NONE)
		return -ENOENT;
	*ret = map->at.at[position].row;
	return 0;
}

/* -EEXIST when the id is there, -EINVAL for id 0. */
static inline int el_id_map_add(struct el_id_map *map, uint64_t id, uint32_t row)
{
	uint32_t found;
	int err = 0;

	if (!id)
		return -EINVAL;
	if (!el_id_map_find(map, id, &found))
		return -EEXIST;
	if (id != map->at.n + 1)
		err = el_index_add(&map->index, el_hash_u64(map->seed, id), map->at.n);
	if (!err)
		err = el_vec_push(&map->at, ((struct el_id_row){id, row}));
	return err;
}

static inline void el_id_map_deinit(struct el_id_map *map)
{
	el_vec_deinit(&map->at);
	el_index_deinit(&map->index);
}

#endif
