/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answer tables: strings, objects and functions are interned, index 0 is
 * none. What nobody resolved still gets a named function, so that no frame
 * vanishes from a report.
 */
#include "symbolizer/answer.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

int el_answer_init(struct el_answer *answer)
{
	struct el_answer_object object = {0};
	struct el_answer_function function = {0};
	struct el_answer_location location = {0};
	int err;

	memset(answer, 0, sizeof(*answer));
	err = el_strings_init(&answer->strings);
	if (!err)
		err = el_vec_push(&answer->objects, object);
	if (!err)
		err = el_vec_push(&answer->functions, function);
	if (!err)
		err = el_vec_push(&answer->locations, location);
	if (err)
		el_answer_deinit(answer);
	return err;
}

void el_answer_deinit(struct el_answer *answer)
{
	el_strings_deinit(&answer->strings);
	el_vec_deinit(&answer->objects);
	el_vec_deinit(&answer->functions);
	el_vec_deinit(&answer->lines);
	el_vec_deinit(&answer->locations);
	el_vec_deinit(&answer->by_query);
}

static uint64_t hash_object(const struct el_answer_object *object)
{
	uint64_t hash = el_hash_bytes(object->path, object->build_id, object->build_id_size);

	return el_hash_u64(hash, object->code);
}

static uint64_t hash_function(const struct el_answer_function *function)
{
	uint64_t hash = el_hash_u64(function->name, function->system_name);

	hash = el_hash_u64(hash, (uint64_t)function->file << 32 | function->start_line);
	return el_hash_u64(hash, function->code << 1 | function->wrapper);
}

static bool same_object(const void *owner, uint32_t position, const void *wanted)
{
	const struct el_answer *answer = owner;
	const struct el_answer_object *left = &answer->objects.at[position], *right = wanted;

	return left->path == right->path && left->code == right->code &&
	       left->build_id_size == right->build_id_size &&
	       !memcmp(left->build_id, right->build_id, left->build_id_size);
}

static bool same_function(const void *owner, uint32_t position, const void *wanted)
{
	const struct el_answer *answer = owner;
	const struct el_answer_function *left = &answer->functions.at[position], *right = wanted;

	return left->name == right->name && left->system_name == right->system_name &&
	       left->file == right->file && left->start_line == right->start_line &&
	       left->code == right->code && left->wrapper == right->wrapper;
}

int el_answer_writer_init(struct el_answer_writer *writer, struct el_answer *answer)
{
	uint32_t i;
	int err = 0;

	*writer = (struct el_answer_writer){.answer = answer};
	for (i = 1; i < answer->objects.n && !err; i++)
		err = el_index_add(&writer->objects, hash_object(&answer->objects.at[i]), i);
	for (i = 1; i < answer->functions.n && !err; i++)
		err = el_index_add(&writer->functions, hash_function(&answer->functions.at[i]), i);
	return err;
}

void el_answer_writer_deinit(struct el_answer_writer *writer)
{
	el_index_deinit(&writer->objects);
	el_index_deinit(&writer->functions);
}

static int add_object(struct el_answer_writer *writer, const struct el_place *place,
		      const struct el_found *found, uint32_t *ret)
{
	struct el_answer *answer = writer->answer;
	struct el_answer_object object = {.code = found->code, .built_ns = found->built_ns};
	const char *path = found->object_path;
	uint64_t hash;
	int err;

	if (!path && place->mapping)
		path = place->mapping->flags & EL_MAPPING_KERNEL      ? "[kernel]"
		       : place->mapping->flags & EL_MAPPING_VDSO      ? "[vdso]"
		       : place->mapping->flags & EL_MAPPING_ANONYMOUS ? "[jit]"
								      : place->mapping->path;
	if (!path) {
		*ret = 0;
		return 0;
	}
	if (!object.code && place->mapping && (place->mapping->flags & EL_MAPPING_ANONYMOUS))
		object.code = EL_CODE_JIT;
	if (found->build_id && found->build_id_size <= EL_BUILD_ID_MAX) {
		object.build_id_size = found->build_id_size;
		memcpy(object.build_id, found->build_id, found->build_id_size);
	} else if (place->mapping) {
		object.build_id_size = place->mapping->build_id_size;
		memcpy(object.build_id, place->mapping->build_id, object.build_id_size);
	}
	err = el_strings_add(&answer->strings, path, &object.path);
	if (err)
		return err;
	hash = hash_object(&object);
	*ret = el_index_find(&writer->objects, hash, same_object, answer, &object);
	if (*ret == EL_INDEX_NONE) {
		*ret = answer->objects.n;
		err = el_vec_push(&answer->objects, object);
		if (!err)
			err = el_index_add(&writer->objects, hash, *ret);
	}
	if (!err && found->has_lines)
		answer->objects.at[*ret].has_lines = 1;
	return err;
}

static int add_function(struct el_answer_writer *writer, const struct el_found_frame *frame,
			uint32_t *ret)
{
	struct el_answer *answer = writer->answer;
	struct el_answer_function function = {
		.start_line = frame->start_line, .code = frame->code, .wrapper = frame->wrapper};
	const char *name = frame->name ? frame->name : frame->system_name;
	const char *system_name = frame->system_name ? frame->system_name : name;
	uint64_t hash;
	int err;

	err = el_strings_add(&answer->strings, name ? name : "[unknown]", &function.name);
	if (!err)
		err = el_strings_add(&answer->strings, system_name ? system_name : "[unknown]",
				     &function.system_name);
	if (!err)
		err = el_strings_add(&answer->strings, frame->file, &function.file);
	if (err)
		return err;
	hash = hash_function(&function);
	*ret = el_index_find(&writer->functions, hash, same_function, answer, &function);
	if (*ret != EL_INDEX_NONE)
		return 0;
	*ret = answer->functions.n;
	err = el_vec_push(&answer->functions, function);
	return err ? err : el_index_add(&writer->functions, hash, *ret);
}

/* Why nobody claimed the address, when no resolver said. */
static enum el_miss miss_of(const struct el_place *place, const struct el_found *found)
{
	if (found->miss || found->frames.n)
		return found->miss;
	if (!place->mapping)
		return EL_MISS_NO_MAPPING;
	if (place->mapping->flags & EL_MAPPING_ANONYMOUS)
		return EL_MISS_JIT_UNKNOWN;
	if (place->mapping->flags & EL_MAPPING_KERNEL)
		return EL_MISS_KERNEL_HIDDEN;
	return EL_MISS_NO_FUNCTION;
}

static struct el_found_frame frame_of_nothing(const struct el_place *place)
{
	uint32_t flags = place->mapping ? place->mapping->flags : 0;

	if (flags & EL_MAPPING_KERNEL)
		return (struct el_found_frame){.name = "[kernel]", .code = EL_CODE_KERNEL};
	if (flags & EL_MAPPING_ANONYMOUS)
		return (struct el_found_frame){.name = "[jit]", .code = EL_CODE_JIT};
	return (struct el_found_frame){.name = "[unknown]", .code = EL_CODE_UNKNOWN};
}

static int add_line(struct el_answer_writer *writer, const struct el_found_frame *frame)
{
	struct el_answer_line line = {.line = frame->line, .column = frame->column};
	int err = add_function(writer, frame, &line.function);

	return err ? err : el_vec_push(&writer->answer->lines, line);
}

int el_answer_writer_add(struct el_answer_writer *writer, const struct el_place *place,
			 const struct el_found *found)
{
	struct el_answer *answer = writer->answer;
	struct el_found_frame nothing = frame_of_nothing(place);
	struct el_answer_location location = {
		.first_line = answer->lines.n, .flags = found->flags, .addr = found->addr};
	size_t i;
	int err;

	location.miss = miss_of(place, found);
	err = add_object(writer, place, found, &location.object);
	for (i = 0; i < found->frames.n && !err; i++)
		err = add_line(writer, &found->frames.at[i]);
	if (!err && !found->frames.n)
		err = add_line(writer, &nothing);
	location.n_lines = answer->lines.n - location.first_line;
	if (!err)
		err = el_vec_push(&answer->by_query, (uint32_t)answer->locations.n);
	return err ? err : el_vec_push(&answer->locations, location);
}
