/* SPDX-License-Identifier: Apache-2.0 */
/* See mirror.h. Dropped rows are taken away when they are half of all, so that a drop costs little.
 */
#include "user/symbolize/mirror.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static uint64_t hash_of(uint32_t id)
{
	return el_hash_u64(0, id);
}

static bool has_id(const void *owner, uint32_t position, const void *wanted)
{
	const struct el_mirror *mirror = owner;
	const struct el_mirror_image *image = &mirror->images.at[position];

	return !image->dropped && image->image.id == *(const uint32_t *)wanted;
}

static void image_deinit(struct el_mirror_image *image)
{
	for (size_t i = 0; i < image->mappings.n; i++)
		free((char *)image->mappings.at[i].path);
	el_vec_deinit(&image->mappings);
}

void el_mirror_deinit(struct el_mirror *mirror)
{
	for (size_t i = 0; i < mirror->images.n; i++)
		image_deinit(&mirror->images.at[i]);
	el_vec_deinit(&mirror->images);
	el_index_deinit(&mirror->by_id);
}

struct el_mirror_image *el_mirror_find(const struct el_mirror *mirror, uint32_t image)
{
	uint32_t at = el_index_find(&mirror->by_id, hash_of(image), has_id, mirror, &image);

	return at == EL_INDEX_NONE ? NULL : &mirror->images.at[at];
}

int el_mirror_add_image(struct el_mirror *mirror, const struct el_image *image)
{
	struct el_mirror_image row = {.image = *image};
	int err;

	if (el_mirror_find(mirror, image->id))
		return -EEXIST;
	err = el_vec_reserve(&mirror->images, mirror->images.n + 1);
	if (!err)
		err = el_index_add(&mirror->by_id, hash_of(image->id), mirror->images.n);
	return err ? err : el_vec_push(&mirror->images, row);
}

int el_mirror_add_mapping(struct el_mirror *mirror, uint32_t image,
			  const struct el_mapping *mapping)
{
	struct el_mirror_image *row = el_mirror_find(mirror, image);
	struct el_mapping copy = *mapping;
	int err;

	if (!row)
		return -ENOENT;
	copy.path = strdup(mapping->path ? mapping->path : "");
	if (!copy.path)
		return -ENOMEM;
	err = el_vec_push(&row->mappings, copy);
	if (err)
		free((char *)copy.path);
	return err;
}

static void compact(struct el_mirror *mirror)
{
	size_t n = 0;

	el_index_clear(&mirror->by_id);
	for (size_t i = 0; i < mirror->images.n; i++) {
		if (mirror->images.at[i].dropped)
			continue;
		mirror->images.at[n] = mirror->images.at[i];
		/* Cannot fail: the index had room for more. */
		(void)el_index_add(&mirror->by_id, hash_of(mirror->images.at[n].image.id), n);
		n++;
	}
	mirror->images.n = n;
	mirror->n_dropped = 0;
}

void el_mirror_drop_image(struct el_mirror *mirror, uint32_t image)
{
	struct el_mirror_image *row = el_mirror_find(mirror, image);

	if (!row)
		return;
	image_deinit(row);
	row->dropped = true;
	if (++mirror->n_dropped > 64 && mirror->n_dropped > mirror->images.n / 2)
		compact(mirror);
}
