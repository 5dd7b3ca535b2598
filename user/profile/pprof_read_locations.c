/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a profile file: mappings, and the locations in them with their lines. */
#include <string.h>

#include "user/profile/pprof_fields.h"
#include "user/profile/pprof_reader.h"

struct mapping_text {
	uint64_t object, file, build_id;
	bool has_lines;
};

/* Another tool's mapping says what its object is. */
static int object_of_mapping(struct el_pprof_reader *reader, const struct mapping_text *text,
			     uint32_t *ret)
{
	struct el_profile_object object = {.has_lines = text->has_lines};
	const char *path;
	int err = 0;

	if (text->object) {
		if (text->object > reader->objects.n)
			return el_pprof_damaged(reader,
						"a mapping names an object that is not there");
		*ret = reader->objects.at[text->object - 1];
		return 0;
	}
	if (reader->ours || (!text->file && !text->build_id))
		return 0;
	err = el_pprof_intern_text(reader, text->file, &object.path);
	if (!err)
		err = el_pprof_intern_text(reader, text->build_id, &object.build_id);
	if (err)
		return err;
	path = el_strings_get(&reader->profile->strings, object.path);
	object.code = strncmp(path, "[kernel", 7) ? EL_CODE_NATIVE : EL_CODE_KERNEL;
	return el_profile_build_object(reader->builder, &object, ret);
}

static int read_mapping(struct el_pprof_reader *reader, const struct el_protobuf_field *message)
{
	struct el_cursor cursor = el_cursor_of(message->bytes, message->size);
	struct el_profile_mapping mapping = {0};
	struct mapping_text text = {0};
	struct el_protobuf_field field;
	uint64_t id = 0;
	uint32_t row;
	int err = el_pprof_count_item(reader);

	if (err)
		return err;
	while (el_protobuf_next(&cursor, &field)) {
		if (field.number == EL_PPROF_MAPPING_ID)
			id = field.value;
		else if (field.number == EL_PPROF_MAPPING_START)
			mapping.start = field.value;
		else if (field.number == EL_PPROF_MAPPING_LIMIT)
			mapping.limit = field.value;
		else if (field.number == EL_PPROF_MAPPING_OFFSET)
			mapping.offset = field.value;
		else if (field.number == EL_PPROF_MAPPING_FILE)
			text.file = field.value;
		else if (field.number == EL_PPROF_MAPPING_BUILD_ID)
			text.build_id = field.value;
		else if (field.number == EL_PPROF_MAPPING_HAS_LINE_NUMBERS)
			text.has_lines = !!field.value;
		else if (field.number == EL_PPROF_MAPPING_OBJECT)
			text.object = field.value;
	}
	if (cursor.failed)
		return el_pprof_damaged(reader, "a mapping is malformed");
	if (mapping.limit < mapping.start)
		mapping.limit = mapping.start;
	err = object_of_mapping(reader, &text, &mapping.object);
	if (!err)
		err = el_profile_build_mapping(reader->builder, &mapping, &row);
	if (err)
		return err;
	err = el_id_map_add(&reader->mappings, id, row);
	return err == -EEXIST || err == -EINVAL
		       ? el_pprof_damaged(reader, "a mapping's id is 0 or not unique")
		       : err;
}

int el_pprof_visit_mappings(struct el_pprof_reader *reader, const struct el_protobuf_field *field)
{
	return field->number == EL_PPROF_MAPPING ? read_mapping(reader, field) : 0;
}

static int read_line(struct el_pprof_reader *reader, const struct el_protobuf_field *message)
{
	struct el_cursor cursor = el_cursor_of(message->bytes, message->size);
	struct el_profile_line line = {0};
	struct el_protobuf_field field;
	uint64_t function = 0;
	int err = el_pprof_count_item(reader);

	if (err)
		return err;
	while (el_protobuf_next(&cursor, &field)) {
		if (field.number == EL_PPROF_LINE_FUNCTION)
			function = field.value;
		else if (field.number == EL_PPROF_LINE_LINE)
			line.line = field.value <= UINT32_MAX ? field.value : 0;
		else if (field.number == EL_PPROF_LINE_COLUMN)
			line.column = field.value <= UINT32_MAX ? field.value : 0;
	}
	if (cursor.failed)
		return el_pprof_damaged(reader, "a line is malformed");
	if (function && el_id_map_find(&reader->functions, function, &line.function))
		return el_pprof_damaged(reader, "a line names a function that is not there");
	return el_vec_push(&reader->lines, line);
}

/* What another tool's location lacks, it does not say why. */
static uint16_t miss_of_lines(const struct el_pprof_reader *reader)
{
	if (!reader->lines.n || !reader->lines.at[0].function)
		return EL_MISS_NO_FUNCTION;
	return reader->lines.at[0].line ? EL_MISS_NONE : EL_MISS_NO_LINE;
}

static int read_location_fields(struct el_pprof_reader *reader,
				const struct el_protobuf_field *message,
				struct el_profile_location *location, uint64_t *ret_id,
				bool *ret_filler)
{
	struct el_cursor cursor = el_cursor_of(message->bytes, message->size);
	struct el_protobuf_field field;
	uint64_t mapping = 0;
	int err = 0;

	while (!err && el_protobuf_next(&cursor, &field)) {
		if (field.number == EL_PPROF_LOCATION_ID)
			*ret_id = field.value;
		else if (field.number == EL_PPROF_LOCATION_MAPPING)
			mapping = field.value;
		else if (field.number == EL_PPROF_LOCATION_ADDRESS)
			location->addr = field.value;
		else if (field.number == EL_PPROF_LOCATION_LINE)
			err = read_line(reader, &field);
		else if (field.number == EL_PPROF_LOCATION_MISS && field.value < reader->n_misses)
			location->miss = reader->misses[field.value];
		else if (field.number == EL_PPROF_LOCATION_FLAGS)
			location->flags = field.value;
		else if (field.number == EL_PPROF_LOCATION_FILLER)
			*ret_filler = true;
	}
	if (!err && cursor.failed)
		err = el_pprof_damaged(reader, "a location is malformed");
	if (!err && mapping && el_id_map_find(&reader->mappings, mapping, &location->mapping))
		err = el_pprof_damaged(reader, "a location names a mapping that is not there");
	return err;
}

static int read_location(struct el_pprof_reader *reader, const struct el_protobuf_field *message)
{
	struct el_profile_location location = {0};
	bool filler = false;
	uint64_t id = 0;
	uint32_t row = 0;
	int err = el_pprof_count_item(reader);

	reader->lines.n = 0;
	if (!err)
		err = read_location_fields(reader, message, &location, &id, &filler);
	if (!err && !reader->ours)
		location.miss = miss_of_lines(reader);
	if (!err && !filler)
		err = el_profile_build_location(reader->builder, &location, reader->lines.at,
						reader->lines.n, &row);
	if (err)
		return err;
	err = el_id_map_add(&reader->locations, id, row);
	return err == -EEXIST || err == -EINVAL
		       ? el_pprof_damaged(reader, "a location's id is 0 or not unique")
		       : err;
}

int el_pprof_visit_locations(struct el_pprof_reader *reader, const struct el_protobuf_field *field)
{
	return field->number == EL_PPROF_LOCATION ? read_location(reader, field) : 0;
}
