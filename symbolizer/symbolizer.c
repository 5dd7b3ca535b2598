/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symbolizer: images and their mappings, and the loop that asks the
 * resolvers in order. It knows no format; answers are built in answer.c.
 */
#include "symbolizer/symbolizer.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "symbolizer/answer.h"
#include "symbolizer/object.h"
#include "symbolizer/resolver.h"

#define CACHE_LIMIT (256u << 20)
/* Between two looks at the cache's size, which costs a walk over all objects. */
#define QUERIES_PER_CHECK 4096

struct image {
	struct el_resolver_target target;
	void *states[EL_RESOLVERS_MAX];
};

struct el_symbolizer {
	struct el_resolver_context context;
	size_t cache_limit;
	EL_VEC(struct image *) images;
	struct el_found found;
};

int el_symbolizer_new(const struct el_source *source, const struct el_symbolizer_options *options,
		      struct el_symbolizer **ret)
{
	struct el_symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));
	int err;

	if (!symbolizer)
		return -ENOMEM;
	symbolizer->context.source = *source;
	symbolizer->cache_limit =
		options && options->cache_limit ? options->cache_limit : CACHE_LIMIT;
	symbolizer->context.no_skid = options && options->no_skid;
	err = el_objects_new(&symbolizer->context, &symbolizer->context.objects);
	if (err) {
		free(symbolizer);
		return err;
	}
	*ret = symbolizer;
	return 0;
}

static void free_image(struct image *image)
{
	size_t i;

	for (i = 0; el_resolvers[i]; i++)
		if (image->states[i])
			el_resolvers[i]->detach(image->states[i]);
	for (i = 0; i < image->target.mappings.n; i++)
		free((char *)image->target.mappings.at[i].path);
	el_vec_deinit(&image->target.mappings);
	free(image);
}

void el_symbolizer_free(struct el_symbolizer *symbolizer)
{
	size_t i;

	if (!symbolizer)
		return;
	for (i = 0; i < symbolizer->images.n; i++)
		free_image(symbolizer->images.at[i]);
	el_vec_deinit(&symbolizer->images);
	el_vec_deinit(&symbolizer->found.frames);
	el_objects_free(symbolizer->context.objects);
	free(symbolizer);
}

/* Images are few and sorted by id. The position of `id`, or where it belongs. */
static size_t image_position(const struct el_symbolizer *symbolizer, uint32_t id)
{
	return el_partition(symbolizer->images.n, i,
			    symbolizer->images.at[i]->target.image.id < id);
}

static struct image *find_image(const struct el_symbolizer *symbolizer, uint32_t id)
{
	size_t at = image_position(symbolizer, id);

	if (at < symbolizer->images.n && symbolizer->images.at[at]->target.image.id == id)
		return symbolizer->images.at[at];
	return NULL;
}

int el_symbolizer_add_image(struct el_symbolizer *symbolizer, const struct el_image *image)
{
	struct image *added;
	size_t at, i;
	int err = 0;

	if (find_image(symbolizer, image->id))
		return -EEXIST;
	added = calloc(1, sizeof(*added));
	if (!added)
		return -ENOMEM;
	added->target.image = *image;
	for (i = 0; el_resolvers[i] && !err; i++)
		err = el_resolvers[i]->attach(&symbolizer->context, &added->target,
					      &added->states[i]);
	if (!err)
		err = el_vec_reserve(&symbolizer->images, symbolizer->images.n + 1);
	if (err) {
		free_image(added);
		return err;
	}
	at = image_position(symbolizer, image->id);
	memmove(symbolizer->images.at + at + 1, symbolizer->images.at + at,
		(symbolizer->images.n - at) * sizeof(*symbolizer->images.at));
	symbolizer->images.at[at] = added;
	symbolizer->images.n++;
	return 0;
}

int el_symbolizer_end_image(struct el_symbolizer *symbolizer, uint32_t id)
{
	struct image *image = find_image(symbolizer, id);

	if (!image)
		return -ENOENT;
	image->target.ended = true;
	return 0;
}

void el_symbolizer_drop_image(struct el_symbolizer *symbolizer, uint32_t id)
{
	size_t at = image_position(symbolizer, id);

	if (!find_image(symbolizer, id))
		return;
	free_image(symbolizer->images.at[at]);
	symbolizer->images.n--;
	memmove(symbolizer->images.at + at, symbolizer->images.at + at + 1,
		(symbolizer->images.n - at) * sizeof(*symbolizer->images.at));
}

/* The kernel has no process: its image exists as soon as its mapping does. */
static struct image *image_for(struct el_symbolizer *symbolizer, uint32_t id)
{
	struct el_image kernel = {0};
	struct image *image = find_image(symbolizer, id);

	if (image || id || el_symbolizer_add_image(symbolizer, &kernel))
		return image;
	return find_image(symbolizer, 0);
}

int el_symbolizer_add_mapping(struct el_symbolizer *symbolizer, uint32_t id,
			      const struct el_mapping *mapping)
{
	struct image *image = image_for(symbolizer, id);
	struct el_mapping copy = *mapping;
	size_t i;
	int err;

	if (!image)
		return -ENOENT;
	if (mapping->end <= mapping->start || mapping->build_id_size > EL_BUILD_ID_MAX)
		return -EINVAL;
	copy.path = strdup(mapping->path ? mapping->path : "");
	if (!copy.path)
		return -ENOMEM;
	err = el_vec_push(&image->target.mappings, copy);
	if (err) {
		free((char *)copy.path);
		return err;
	}
	for (i = 0; el_resolvers[i] && !err; i++)
		if (el_resolvers[i]->map && image->states[i])
			err = el_resolvers[i]->map(image->states[i], &copy);
	return err;
}

int el_symbolizer_refresh(struct el_symbolizer *symbolizer, uint32_t id)
{
	struct image *image = find_image(symbolizer, id);
	size_t i;
	int err = 0;

	if (!image)
		return -ENOENT;
	for (i = 0; el_resolvers[i] && err != -ENOMEM; i++)
		if (el_resolvers[i]->refresh && image->states[i])
			err = el_resolvers[i]->refresh(image->states[i]);
	return err == -ENOMEM ? err : 0;
}

static const struct el_mapping *mapping_of(const struct image *image, const struct el_query *query)
{
	size_t i;

	if (!query->mapping)
		return NULL;
	for (i = image->target.mappings.n; i-- > 0;)
		if (image->target.mappings.at[i].id == query->mapping)
			return &image->target.mappings.at[i];
	return NULL;
}

static void resolve_one(struct el_symbolizer *symbolizer, struct image *image,
			const struct el_query *query, struct el_place *place)
{
	struct el_found *found = &symbolizer->found;
	size_t i;

	*place = (struct el_place){.addr = query->addr,
				   .time_ns = query->time_ns,
				   .mapping = mapping_of(image, query),
				   .pc = query->pc};
	if (place->pc == EL_PC_LATE && symbolizer->context.no_skid)
		place->pc = EL_PC_EXACT;
	el_found_reset(found);
	found->addr = query->addr;
	for (i = 0; el_resolvers[i]; i++)
		if (image->states[i] && el_resolvers[i]->resolve(image->states[i], place, found))
			return;
	found->frames.n = 0;
}

int el_symbolizer_resolve(struct el_symbolizer *symbolizer, uint32_t id,
			  const struct el_query *queries, size_t n, struct el_answer *answer)
{
	struct image *image = find_image(symbolizer, id);
	struct el_answer_writer writer;
	struct el_place place;
	size_t i;
	int err;

	if (!image)
		return -ENOENT;
	err = el_answer_writer_init(&writer, answer);
	for (i = 0; i < n && !err; i++) {
		resolve_one(symbolizer, image, &queries[i], &place);
		err = el_answer_writer_add(&writer, &place, &symbolizer->found);
		if (i % QUERIES_PER_CHECK == QUERIES_PER_CHECK - 1 || i == n - 1)
			el_symbolizer_evict(symbolizer, symbolizer->cache_limit);
	}
	el_answer_writer_deinit(&writer);
	return err;
}

void el_symbolizer_evict(struct el_symbolizer *symbolizer, size_t limit)
{
	uint64_t before = symbolizer->context.stats.evictions;

	el_objects_evict(symbolizer->context.objects, limit);
	/* Freed pieces of the heap go back to the system, not only to the next malloc. */
	if (symbolizer->context.stats.evictions > before)
		malloc_trim(0);
}

void el_symbolizer_stats(const struct el_symbolizer *symbolizer, struct el_symbolizer_stats *ret)
{
	*ret = symbolizer->context.stats;
	ret->units_indexed = el_objects_units_indexed(symbolizer->context.objects);
	ret->cached_bytes = el_objects_bytes(symbolizer->context.objects);
}
