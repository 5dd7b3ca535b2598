/* SPDX-License-Identifier: Apache-2.0 */
/* See fold_location.h. */
#include "user/symbolize/fold_location.h"

#include <stdio.h>
#include <string.h>

void el_fold_locations_deinit(struct el_fold_locations *locations)
{
	el_vec_deinit(&locations->lasting.objects);
	el_vec_deinit(&locations->lasting.functions);
	el_vec_deinit(&locations->timed.objects);
	el_vec_deinit(&locations->timed.functions);
	el_vec_deinit(&locations->lines);
}

/* Room for `n` rows, the new ones 0. */
#define COVER(vec, count)                                                                          \
	({                                                                                         \
		int el_cover_err = el_vec_reserve((vec), (count));                                 \
		while (!el_cover_err && (vec)->n < (count))                                        \
			(vec)->at[(vec)->n++] = 0;                                                 \
		el_cover_err;                                                                      \
	})

static void hex(const uint8_t *bytes, size_t size, char *text)
{
	for (size_t i = 0; i < size; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

static int build_object(struct el_profile_builder *builder, const struct el_answer *answer,
			const struct el_answer_object *object, uint32_t *ret)
{
	struct el_profile_object row = {
		.built_ns = object->built_ns,
		.code = object->code,
		.has_lines = object->has_lines,
	};
	char build_id[2 * EL_BUILD_ID_MAX + 1] = "";
	int err = el_profile_build_string(builder, el_strings_get(&answer->strings, object->path),
					  &row.path);

	hex(object->build_id, object->build_id_size, build_id);
	if (!err)
		err = el_profile_build_string(builder, build_id, &row.build_id);
	return err ? err : el_profile_build_object(builder, &row, ret);
}

static int build_function(struct el_profile_builder *builder, const struct el_answer *answer,
			  const struct el_answer_function *function, uint32_t *ret)
{
	const struct el_strings *strings = &answer->strings;
	struct el_profile_function row = {
		.start_line = function->start_line,
		.code = function->code,
		.wrapper = function->wrapper,
	};
	int err = el_profile_build_string(builder, el_strings_get(strings, function->name),
					  &row.name);

	if (!err)
		err = el_profile_build_string(
			builder, el_strings_get(strings, function->system_name), &row.system_name);
	if (!err)
		err = el_profile_build_string(builder, el_strings_get(strings, function->file),
					      &row.file);
	return err ? err : el_profile_build_function(builder, &row, ret);
}

static int find_object(struct el_fold_locations *locations, struct el_fold_made *made,
		       const struct el_answer *answer, uint32_t object, uint32_t *ret)
{
	int err = COVER(&made->objects, answer->objects.n);

	if (!err && object && !made->objects.at[object])
		err = build_object(locations->builder, answer, &answer->objects.at[object],
				   &made->objects.at[object]);
	if (!err)
		*ret = made->objects.at[object];
	return err;
}

static int find_function(struct el_fold_locations *locations, struct el_fold_made *made,
			 const struct el_answer *answer, uint32_t function, uint32_t *ret)
{
	int err = COVER(&made->functions, answer->functions.n);

	if (!err && function && !made->functions.at[function])
		err = build_function(locations->builder, answer, &answer->functions.at[function],
				     &made->functions.at[function]);
	if (!err)
		*ret = made->functions.at[function];
	return err;
}

/* An object for what the answer has none for: the mapped file, or code without a file. */
static int stand_in(struct el_fold_locations *locations, const struct el_mapping *mapping,
		    uint32_t *ret)
{
	struct el_profile_object row = {0};
	const char *path = mapping->path;
	int err;

	if (mapping->flags & EL_MAPPING_ANONYMOUS || !path || !*path) {
		path = "[jit]";
		row.code = EL_CODE_JIT;
	} else {
		row.code = EL_CODE_NATIVE;
	}
	err = el_profile_build_string(locations->builder, path, &row.path);
	return err ? err : el_profile_build_object(locations->builder, &row, ret);
}

static int find_mapping(struct el_fold_locations *locations, const struct el_mapping *mapping,
			uint32_t object, uint32_t *ret)
{
	struct el_profile_mapping row = {.object = object};
	int err = 0;

	if (mapping) {
		row.start = mapping->start;
		row.limit = mapping->end;
		row.offset = mapping->offset;
		if (!object)
			err = stand_in(locations, mapping, &row.object);
	}
	if (err)
		return err;
	if (!row.object) {
		*ret = 0;
		return 0;
	}
	return el_profile_build_mapping(locations->builder, &row, ret);
}

static int find_lines(struct el_fold_locations *locations, struct el_fold_made *made,
		      const struct el_answer *answer, const struct el_answer_location *location)
{
	int err = 0;

	locations->lines.n = 0;
	for (uint32_t i = 0; !err && i < location->n_lines; i++) {
		const struct el_answer_line *line = &answer->lines.at[location->first_line + i];
		struct el_profile_line row = {.line = line->line, .column = line->column};

		err = find_function(locations, made, answer, line->function, &row.function);
		if (!err)
			err = el_vec_push(&locations->lines, row);
	}
	return err;
}

int el_fold_location(struct el_fold_locations *locations, const struct el_fold_place *place,
		     uint32_t *ret)
{
	struct el_profile_location row = {
		.addr = place->pc == EL_PC_RETURN ? place->addr - 1 : place->addr,
	};
	const struct el_answer_location *location;
	const struct el_answer *answer;
	struct el_found_answer found;
	struct el_fold_made *made;
	uint32_t object;
	int err;

	el_questions_find(locations->questions, place->image, place->addr, place->pc,
			  place->time_ns, &found);
	made = found.known == locations->questions->lasting ? &locations->lasting
							    : &locations->timed;
	answer = &found.known->answer;
	location = &answer->locations.at[found.location];
	row.flags = location->flags;
	row.miss = location->miss;
	/* Nothing said at all is a miss like any other. */
	if (!location->n_lines && !row.miss)
		row.miss = found.mapping ? EL_MISS_NO_FUNCTION : EL_MISS_NO_MAPPING;
	err = find_object(locations, made, answer, location->object, &object);
	if (!err)
		err = find_mapping(locations, found.mapping, object, &row.mapping);
	if (!err)
		err = find_lines(locations, made, answer, location);
	if (err)
		return err;
	return el_profile_build_location(locations->builder, &row, locations->lines.at,
					 locations->lines.n, ret);
}

int el_fold_no_stack(struct el_fold_locations *locations, uint32_t *ret)
{
	const struct el_profile_location row = {.miss = EL_MISS_NO_STACK};

	return el_profile_build_location(locations->builder, &row, NULL, 0, ret);
}
