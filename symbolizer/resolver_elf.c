/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code in mapped ELF files and in the vdso. A mapping's file is acquired when
 * the mapping is announced, while the process may still be alive, and parsed
 * when the first address in it is asked about.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "symbolizer/object.h"

#define VDSO_MAX (256u << 10)

/* What a mapping of the image leads to. */
struct mapped {
	uint32_t mapping;
	int err; /* of the acquisition */
	struct el_object *object;
};

struct state {
	struct el_resolver_context *context;
	const struct el_resolver_target *target;
	EL_VEC(struct mapped) mapped;
};

static int attach(struct el_resolver_context *context, const struct el_resolver_target *target,
		  void **ret)
{
	struct state *state = calloc(1, sizeof(*state));

	if (!state)
		return -ENOMEM;
	state->context = context;
	state->target = target;
	*ret = state;
	return 0;
}

static void detach(void *context)
{
	struct state *state = context;
	size_t i;

	if (!state)
		return;
	for (i = 0; i < state->mapped.n; i++)
		el_object_put(state->mapped.at[i].object);
	el_vec_deinit(&state->mapped);
	free(state);
}

/* The kernel gives the vdso to every process; it is small, so each image has its own copy,
 * taken while the process lives. */
static int read_vdso(struct state *state, const struct el_mapping *mapping, struct el_object **ret)
{
	const struct el_source *source = &state->context->source;
	size_t size = mapping->end - mapping->start;
	ssize_t n = -ENOENT;
	void *bytes;

	if (mapping->end <= mapping->start || size > VDSO_MAX)
		return -EINVAL;
	bytes = malloc(size);
	if (!bytes)
		return -ENOMEM;
	if (source->read_memory && !state->target->ended)
		n = source->read_memory(source->context, &state->target->image, mapping->start,
					bytes, size);
	if (n <= 0) {
		free(bytes);
		return n < 0 ? n : -EIO;
	}
	return el_object_from_memory(state->context->objects, bytes, n, "[vdso]", ret);
}

static int map(void *context, const struct el_mapping *mapping)
{
	struct state *state = context;
	struct mapped mapped = {.mapping = mapping->id};

	if (mapping->flags & EL_MAPPING_VDSO)
		mapped.err = read_vdso(state, mapping, &mapped.object);
	else if ((mapping->flags & EL_MAPPING_FILE) && !(mapping->flags & EL_MAPPING_KERNEL))
		mapped.err = el_object_of_mapping(state->context->objects, &state->target->image,
						  mapping, &mapped.object);
	else
		return 0;
	if (mapped.err == -ENOMEM)
		return mapped.err;
	return el_vec_push(&state->mapped, mapped);
}

static struct mapped *mapped_of(struct state *state, const struct el_mapping *mapping)
{
	size_t i;

	for (i = state->mapped.n; i-- > 0;)
		if (state->mapped.at[i].mapping == mapping->id)
			return &state->mapped.at[i];
	return NULL;
}

static enum el_miss miss_of(int err)
{
	switch (err) {
	case -ESTALE:
		return EL_MISS_STALE_FILE;
	case -EINVAL:
		return EL_MISS_BAD_FILE;
	case -EIO:
	case -EFAULT:
		return EL_MISS_UNREADABLE;
	default:
		return EL_MISS_NO_FILE;
	}
}

static uint64_t identity_of(const struct el_mapping *mapping)
{
	if (mapping->build_id_size)
		return el_hash_bytes(1, mapping->build_id, mapping->build_id_size);
	if (mapping->inode)
		return el_hash_u64(el_hash_u64(2, mapping->inode),
				   (uint64_t)mapping->dev_major << 32 | mapping->dev_minor);
	return el_hash_bytes(3, mapping->path ? mapping->path : "",
			     mapping->path ? strlen(mapping->path) : 0);
}

/* True: the object knows a function there. */
static bool look_up(struct mapped *mapped, const struct el_place *place, struct el_found *found)
{
	uint64_t offset = place->addr - place->mapping->start + place->mapping->offset, addr;

	if (place->mapping->flags & EL_MAPPING_VDSO)
		offset = place->addr - place->mapping->start;
	found->addr = place->addr;
	if (place->mapping->flags & EL_MAPPING_WHOLE)
		addr = place->addr;
	else if (!el_object_addr_of_offset(mapped->object, offset, &addr))
		addr = offset; /* no segment has it: the lookup says why */
	if (el_object_lookup(mapped->object, addr, place->pc, found))
		return false;
	return found->frames.n > 0;
}

static bool resolve(void *context, const struct el_place *place, struct el_found *found)
{
	struct state *state = context;
	const struct el_source *source = &state->context->source;
	struct mapped *mapped;
	bool claimed;

	if (!place->mapping || !(place->mapping->flags & (EL_MAPPING_FILE | EL_MAPPING_VDSO)) ||
	    (place->mapping->flags & EL_MAPPING_KERNEL))
		return false;
	mapped = mapped_of(state, place->mapping);
	if (!mapped || !mapped->object) {
		found->miss = mapped ? miss_of(mapped->err) : EL_MISS_NO_FILE;
		return false;
	}
	if (source->parsing && source->parsing(source->context, identity_of(place->mapping))) {
		found->miss = EL_MISS_QUARANTINED;
		return false;
	}
	claimed = look_up(mapped, place, found);
	if (source->parsing)
		source->parsing(source->context, 0);
	return claimed;
}

const struct el_resolver el_resolver_elf = {
	.name = "elf",
	.attach = attach,
	.map = map,
	.resolve = resolve,
	.detach = detach,
};
