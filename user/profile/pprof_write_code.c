/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a profile file: objects, mappings, functions and locations. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "user/profile/pprof_fields.h"
#include "user/profile/pprof_writer.h"
#include "user/profile/protobuf.h"

void el_pprof_write_objects(struct el_pprof_writer *writer)
{
	for (size_t i = 1; i < writer->profile->objects.n; i++) {
		const struct el_profile_object *object = &writer->profile->objects.at[i];

		el_protobuf_number(&writer->message, EL_PPROF_OBJECT_PATH, object->path);
		el_protobuf_number(&writer->message, EL_PPROF_OBJECT_BUILD_ID, object->build_id);
		el_protobuf_number(&writer->message, EL_PPROF_OBJECT_BUILT_NS, object->built_ns);
		el_protobuf_number(&writer->message, EL_PPROF_OBJECT_CODE, object->code);
		el_protobuf_number(&writer->message, EL_PPROF_OBJECT_HAS_LINES, object->has_lines);
		el_pprof_emit_message(writer, EL_PPROF_OBJECT);
	}
}

enum mapping_has {
	HAS_FUNCTIONS = 1 << 0,
	HAS_FILENAMES = 1 << 1,
	HAS_LINE_NUMBERS = 1 << 2,
	HAS_INLINE_FRAMES = 1 << 3,
};

/* What the locations in each mapping show: pprof tries to add what a mapping says it lacks. */
static uint8_t *find_mapping_has(const struct el_profile *profile)
{
	uint8_t *has = calloc(profile->mappings.n, 1);

	for (size_t i = 1; has && i < profile->locations.n; i++) {
		const struct el_profile_location *location = &profile->locations.at[i];
		uint8_t *mapping = &has[location->mapping];

		if (location->n_lines > 1)
			*mapping |= HAS_INLINE_FRAMES;
		for (uint32_t l = 0; l < location->n_lines; l++) {
			const struct el_profile_line *line =
				&profile->lines.at[location->first_line + l];

			if (line->function)
				*mapping |= HAS_FUNCTIONS;
			if (profile->functions.at[line->function].file)
				*mapping |= HAS_FILENAMES;
			if (line->line)
				*mapping |= HAS_LINE_NUMBERS;
		}
	}
	return has;
}

int el_pprof_write_mappings(struct el_pprof_writer *writer)
{
	const struct el_profile *profile = writer->profile;
	el_auto_free uint8_t *has = find_mapping_has(profile);
	struct el_buffer *message = &writer->message;

	if (!has)
		return -ENOMEM;
	for (size_t i = 1; i < profile->mappings.n; i++) {
		const struct el_profile_mapping *mapping = &profile->mappings.at[i];
		const struct el_profile_object *object = &profile->objects.at[mapping->object];

		el_protobuf_number(message, EL_PPROF_MAPPING_ID, i);
		el_protobuf_number(message, EL_PPROF_MAPPING_START, mapping->start);
		el_protobuf_number(message, EL_PPROF_MAPPING_LIMIT, mapping->limit);
		el_protobuf_number(message, EL_PPROF_MAPPING_OFFSET, mapping->offset);
		el_protobuf_number(message, EL_PPROF_MAPPING_FILE, object->path);
		el_protobuf_number(message, EL_PPROF_MAPPING_BUILD_ID, object->build_id);
		el_protobuf_number(message, EL_PPROF_MAPPING_HAS_FUNCTIONS, has[i] & HAS_FUNCTIONS);
		el_protobuf_number(message, EL_PPROF_MAPPING_HAS_FILENAMES,
				   !!(has[i] & HAS_FILENAMES));
		el_protobuf_number(message, EL_PPROF_MAPPING_HAS_LINE_NUMBERS,
				   !!(has[i] & HAS_LINE_NUMBERS));
		el_protobuf_number(message, EL_PPROF_MAPPING_HAS_INLINE_FRAMES,
				   !!(has[i] & HAS_INLINE_FRAMES));
		el_protobuf_number(message, EL_PPROF_MAPPING_OBJECT, mapping->object);
		el_pprof_emit_message(writer, EL_PPROF_MAPPING);
	}
	return 0;
}

void el_pprof_write_functions(struct el_pprof_writer *writer)
{
	struct el_buffer *message = &writer->message;

	for (size_t i = 1; i < writer->profile->functions.n; i++) {
		const struct el_profile_function *function = &writer->profile->functions.at[i];

		el_protobuf_number(message, EL_PPROF_FUNCTION_ID, i);
		el_protobuf_number(message, EL_PPROF_FUNCTION_NAME, function->name);
		el_protobuf_number(message, EL_PPROF_FUNCTION_SYSTEM_NAME, function->system_name);
		el_protobuf_number(message, EL_PPROF_FUNCTION_FILE, function->file);
		el_protobuf_number(message, EL_PPROF_FUNCTION_START_LINE, function->start_line);
		el_protobuf_number(message, EL_PPROF_FUNCTION_CODE, function->code);
		el_protobuf_number(message, EL_PPROF_FUNCTION_WRAPPER, function->wrapper);
		el_pprof_emit_message(writer, EL_PPROF_FUNCTION);
	}
}

static int compare_locations(const void *left, const void *right, void *context)
{
	const struct el_profile_location *locations = context;
	uint32_t row_a = *(const uint32_t *)left, row_b = *(const uint32_t *)right;
	const struct el_profile_location *a = &locations[row_a], *b = &locations[row_b];

	if (a->mapping != b->mapping)
		return (a->mapping > b->mapping) - (a->mapping < b->mapping);
	if (a->addr != b->addr)
		return (a->addr > b->addr) - (a->addr < b->addr);
	return (row_a > row_b) - (row_a < row_b);
}

int el_pprof_number_locations(struct el_pprof_writer *writer)
{
	const struct el_profile *profile = writer->profile;
	size_t n = profile->locations.n - 1;

	writer->location_ids = calloc(n + 1, sizeof(*writer->location_ids));
	writer->location_rows = calloc(n + 1, sizeof(*writer->location_rows));
	if (!writer->location_ids || !writer->location_rows)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		writer->location_rows[i] = i + 1;
	qsort_r(writer->location_rows, n, sizeof(*writer->location_rows), compare_locations,
		profile->locations.at);
	for (size_t i = 0; i < n; i++)
		writer->location_ids[writer->location_rows[i]] = i + 1;
	return 0;
}

static void write_location(struct el_pprof_writer *writer, uint32_t id)
{
	const struct el_profile *profile = writer->profile;
	const struct el_profile_location *location =
		&profile->locations.at[writer->location_rows[id - 1]];
	struct el_buffer *message = &writer->message;

	el_protobuf_number(message, EL_PPROF_LOCATION_ID, id);
	el_protobuf_number(message, EL_PPROF_LOCATION_MAPPING, location->mapping);
	el_protobuf_number(message, EL_PPROF_LOCATION_ADDRESS, location->addr);
	for (uint32_t i = 0; i < location->n_lines; i++) {
		const struct el_profile_line *line = &profile->lines.at[location->first_line + i];

		el_protobuf_number(&writer->inner, EL_PPROF_LINE_FUNCTION, line->function);
		el_protobuf_number(&writer->inner, EL_PPROF_LINE_LINE, line->line);
		el_protobuf_number(&writer->inner, EL_PPROF_LINE_COLUMN, line->column);
		el_pprof_add_inner(writer, EL_PPROF_LOCATION_LINE);
	}
	el_protobuf_number(message, EL_PPROF_LOCATION_MISS, location->miss);
	el_protobuf_number(message, EL_PPROF_LOCATION_FLAGS, location->flags);
	el_pprof_emit_message(writer, EL_PPROF_LOCATION);
}

/* The last one stands in stacks that have none: pprof drops samples without a location. */
void el_pprof_write_locations(struct el_pprof_writer *writer)
{
	size_t n = writer->profile->locations.n;

	for (size_t id = 1; id < n; id++)
		write_location(writer, id);
	el_protobuf_number(&writer->message, EL_PPROF_LOCATION_ID, n);
	el_protobuf_number(&writer->message, EL_PPROF_LOCATION_FILLER, 1);
	el_pprof_emit_message(writer, EL_PPROF_LOCATION);
}
