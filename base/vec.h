/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growable arrays: EL_VEC(T) holds `at`, `n` and `capacity`; a zeroed one is
 * empty. Growth can fail, so every push says whether it did. Pointers into
 * the array die with the next push: keep indexes.
 */
#ifndef EL_BASE_VEC_H
#define EL_BASE_VEC_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#define EL_VEC(type)                                                                               \
	struct {                                                                                   \
		type *at;                                                                          \
		size_t n;                                                                          \
		size_t capacity;                                                                   \
	}

/* Room for `wanted` items of `item_size` bytes; 0 or -ENOMEM, unchanged then. */
static inline int el_vec_grow(void **at, size_t *capacity, size_t item_size, size_t wanted)
{
	size_t room = *capacity ? *capacity : 8;
	void *grown;

	if (wanted <= *capacity)
		return 0;
	while (room < wanted) {
		if (room > SIZE_MAX / 2)
			return -ENOMEM;
		room *= 2;
	}
	grown = reallocarray(*at, room, item_size);
	if (!grown)
		return -ENOMEM;
	*at = grown;
	*capacity = room;
	return 0;
}

/* 0 or -ENOMEM */
#define el_vec_reserve(vec, wanted)                                                                \
	el_vec_grow((void **)&(vec)->at, &(vec)->capacity, sizeof(*(vec)->at), (wanted))

/* Appends a copy of `item`; 0 or -ENOMEM. */
#define el_vec_push(vec, item)                                                                     \
	({                                                                                         \
		int el_vec_err = el_vec_reserve((vec), (vec)->n + 1);                              \
		if (!el_vec_err)                                                                   \
			(vec)->at[(vec)->n++] = (item);                                            \
		el_vec_err;                                                                        \
	})

#define el_vec_deinit(vec)                                                                         \
	do {                                                                                       \
		free((vec)->at);                                                                   \
		(vec)->at = NULL;                                                                  \
		(vec)->n = (vec)->capacity = 0;                                                    \
	} while (0)

#endif
