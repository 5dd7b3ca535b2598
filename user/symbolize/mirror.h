/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a parser has been told: images and their mappings, kept by the
 * collector so that a new parser can be told again. Owns copies of everything.
 */
#ifndef EL_MIRROR_H
#define EL_MIRROR_H

#include "base/index.h"
#include "base/vec.h"
#include "symbolizer/symbolizer.h"

struct el_mirror_image {
	struct el_image image;
	bool ended;
	bool dropped;                       /* waits for its row to be taken away */
	EL_VEC(struct el_mapping) mappings; /* paths are owned */
};

/* A zeroed one is empty. */
struct el_mirror {
	EL_VEC(struct el_mirror_image) images;
	struct el_index by_id;
	size_t n_dropped;
};

void el_mirror_deinit(struct el_mirror *mirror);

/* 0, -EEXIST or -ENOMEM. */
int el_mirror_add_image(struct el_mirror *mirror, const struct el_image *image);
/* 0, -ENOENT or -ENOMEM. */
int el_mirror_add_mapping(struct el_mirror *mirror, uint32_t image,
			  const struct el_mapping *mapping);
/* The image, or NULL. Valid until the next change. */
struct el_mirror_image *el_mirror_find(const struct el_mirror *mirror, uint32_t image);
void el_mirror_drop_image(struct el_mirror *mirror, uint32_t image);

#endif
