/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that a process registers for debuggers: Numba and whatever else makes
 * code through LLVM. Names come always, lines when the process was started
 * with them. The files of an image are searched for a list only once it has
 * code without a file; the lists are looked at when asked to refresh and when
 * such code was sampled since.
 */
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "symbolizer/jit_descriptor.h"
#include "symbolizer/jit_objects.h"
#include "symbolizer/numba_name.h"
#include "symbolizer/pc.h"
#include "symbolizer/resolver.h"

#define LOOK_MAX_NS (EL_NS_PER_S / 2)
#define LISTS_MAX 8

/* A list of the image: its place, and what the last look saw. */
struct list {
	uint64_t descriptor;
	struct el_gdbjit_list seen;
	bool finished;    /* the last look came to its end */
	uint64_t seen_ns; /* 0: never */
};

struct state {
	struct el_resolver_context *context;
	const struct el_resolver_target *target;
	struct el_gdbjit_memory memory;
	size_t n_searched; /* mappings of the target that were searched for lists */
	bool wanted;       /* the image has code without a file */
	struct list lists[LISTS_MAX];
	uint32_t n_lists;
	uint64_t looked_ns; /* when all lists were looked at; 0: never */
	uint64_t full_ns;   /* when the lists were walked whatever they looked like */
	struct el_jit_objects objects;
	EL_VEC(struct el_numba_name) names; /* of the last answer */
};

static ssize_t read_memory(void *context, uint64_t addr, void *bytes, size_t size)
{
	struct state *state = context;
	const struct el_source *source = &state->context->source;

	return source->read_memory(source->context, &state->target->image, addr, bytes, size);
}

static uint64_t now(void *context)
{
	const struct state *state = context;

	return el_resolver_now_ns(state->context);
}

static int attach(struct el_resolver_context *context, const struct el_resolver_target *target,
		  void **ret)
{
	struct state *state = calloc(1, sizeof(*state));
	int err = 0;

	if (!state)
		return -ENOMEM;
	if (context->jit_descriptors)
		el_jit_descriptors_hold(context->jit_descriptors);
	else
		err = el_jit_descriptors_new(&context->jit_descriptors);
	if (err) {
		free(state);
		return err;
	}
	state->context = context;
	state->target = target;
	state->objects.context = context;
	state->memory =
		(struct el_gdbjit_memory){.context = state, .read = read_memory, .now = now};
	*ret = state;
	return 0;
}

static void detach(void *context)
{
	struct state *state = context;

	if (!state)
		return;
	for (uint32_t i = 0; i < state->n_lists; i++)
		el_gdbjit_list_deinit(&state->lists[i].seen);
	el_jit_objects_deinit(&state->objects);
	el_vec_deinit(&state->names);
	if (el_jit_descriptors_put(state->context->jit_descriptors))
		state->context->jit_descriptors = NULL;
	free(state);
}

static int map(void *context, const struct el_mapping *mapping)
{
	struct state *state = context;

	if (mapping->flags & EL_MAPPING_ANONYMOUS)
		state->wanted = true;
	return 0;
}

static bool has_list(const struct state *state, uint64_t descriptor)
{
	for (uint32_t i = 0; i < state->n_lists; i++)
		if (state->lists[i].descriptor == descriptor)
			return true;
	return false;
}

/* Searches the files that were mapped since the last time. */
static void search_files(struct state *state)
{
	const struct el_resolver_target *target = state->target;
	uint64_t descriptor;

	for (; state->n_searched < target->mappings.n; state->n_searched++) {
		const struct el_mapping *mapping = &target->mappings.at[state->n_searched];

		if (!(mapping->flags & EL_MAPPING_FILE) ||
		    (mapping->flags & (EL_MAPPING_KERNEL | EL_MAPPING_VDSO)) ||
		    state->n_lists == LISTS_MAX)
			continue;
		if (!el_jit_descriptors_look(state->context->jit_descriptors,
					     &state->context->source, &target->image, mapping,
					     &descriptor) &&
		    !has_list(state, descriptor))
			state->lists[state->n_lists++] = (struct list){.descriptor = descriptor};
	}
}

/* One look at one list. Its walk and its new objects share the deadline. */
static int look_at(struct state *state, uint32_t n, bool fully)
{
	struct list *list = &state->lists[n];
	struct el_gdbjit_list seen = {0};
	struct el_jit_look look = {.list = n, .memory = &state->memory, .now = &seen};
	int err;

	if (!fully && list->finished &&
	    el_gdbjit_list_unchanged(&list->seen, &state->memory, list->descriptor)) {
		list->seen_ns = now(state);
		return 0;
	}
	look.now_ns = now(state);
	look.before_ns = list->seen_ns;
	look.before = list->seen.complete && list->finished ? &list->seen : NULL;
	look.deadline_ns = look.now_ns + LOOK_MAX_NS;
	err = el_gdbjit_list_read(&seen, &state->memory, list->descriptor, look.deadline_ns);
	if (!err) {
		state->context->stats.jit_lists_cut += !seen.complete;
		err = el_jit_objects_look(&state->objects, &look);
	}
	if (err) {
		el_gdbjit_list_deinit(&seen);
		return err;
	}
	el_gdbjit_list_deinit(&list->seen);
	list->seen = seen;
	list->finished = !look.unfinished;
	/* What a broken look did not show may have been there: its life begins earlier. */
	if (seen.complete && list->finished)
		list->seen_ns = look.now_ns;
	return 0;
}

static int refresh(void *context)
{
	struct state *state = context;
	uint64_t time = now(state);
	bool fully = time - state->full_ns >= EL_NS_PER_S;
	int err = 0;

	if (!state->wanted || state->target->ended || !state->context->source.read_memory)
		return 0;
	search_files(state);
	for (uint32_t i = 0; i < state->n_lists && err != -ENOMEM; i++)
		err = look_at(state, i, fully);
	state->looked_ns = time;
	if (fully)
		state->full_ns = time;
	return err == -ENOMEM ? err : 0;
}

static bool is_generated(const struct el_place *place)
{
	return !place->mapping || (place->mapping->flags & EL_MAPPING_ANONYMOUS);
}

static struct el_jit_object *find(struct state *state, const struct el_place *place,
				  bool *ret_other)
{
	uint64_t addr = el_pc_in_call(place->pc, place->addr);

	/* Sampled since the last look: code that we know may have made room for other. */
	if (is_generated(place) && (!state->looked_ns || place->time_ns > state->looked_ns))
		refresh(state);
	return el_jit_objects_find(&state->objects, addr, place->time_ns, ret_other);
}

/* Names as Numba's users write them; the frames' code is what the object is. */
static void name_frames(struct state *state, bool is_numba, struct el_found *found)
{
	uint8_t code = is_numba ? EL_CODE_NUMBA : EL_CODE_JIT;
	struct el_numba_name *name;

	found->code = code;
	state->names.n = 0;
	if (el_vec_reserve(&state->names, found->frames.n))
		is_numba = false; /* the mangled names are right too */
	for (size_t i = 0; i < found->frames.n; i++) {
		struct el_found_frame *frame = &found->frames.at[i];

		frame->code = code;
		if (!is_numba || !frame->system_name)
			continue;
		name = &state->names.at[state->names.n++];
		if (!el_numba_name_parse(frame->system_name, name))
			continue;
		frame->name = name->text;
		frame->wrapper = name->wrapper;
	}
}

static bool look_up(struct state *state, const struct el_jit_object *object,
		    const struct el_place *place, struct el_found *found)
{
	const struct el_source *source = &state->context->source;
	int err;

	if (source->parsing && source->parsing(source->context, object->hash)) {
		found->miss = EL_MISS_QUARANTINED;
		return true;
	}
	err = el_object_lookup(object->object, place->addr, place->pc, found);
	if (source->parsing)
		source->parsing(source->context, 0);
	if (err)
		return false;
	name_frames(state, object->is_numba, found);
	return true;
}

static bool resolve(void *context, const struct el_place *place, struct el_found *found)
{
	struct state *state = context;
	const struct el_jit_object *object;
	bool other = false;

	if (place->mapping && (place->mapping->flags & (EL_MAPPING_KERNEL | EL_MAPPING_VDSO)))
		return false;
	object = find(state, place, &other);
	if (object)
		return look_up(state, object, place, found);
	if (place->mapping && is_generated(place)) {
		found->object_path = "[jit]";
		found->code = EL_CODE_JIT;
		found->miss =
			other || state->target->ended ? EL_MISS_JIT_GONE : EL_MISS_JIT_UNKNOWN;
	}
	return false;
}

const struct el_resolver el_resolver_gdbjit = {
	.name = "GDB JIT list",
	.attach = attach,
	.map = map,
	.refresh = refresh,
	.resolve = resolve,
	.detach = detach,
};
