/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers as bytes: counts, then each table. Decoding checks a whole message
 * against its own counts before anything of it can be reached through the
 * locations of the answer it is appended to.
 */
#include "user/symbolize/protocol.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

/* The tables of one message, in place; array elements may be unaligned, so they are copied out. */
struct tables {
	uint32_t string_bytes, n_strings, n_objects, n_functions, n_lines, n_locations, n_queries;
	const char *strings;
	const uint8_t *objects, *functions, *lines, *locations, *by_query;
};

/* Where the rows of the message begin in the answer: index 0 stays 0, i becomes base + i. */
struct bases {
	uint32_t *strings; /* the new index of each; freed by the caller */
	uint32_t objects, functions, lines, locations;
};

#define ROW(type, bytes, i)                                                                        \
	({                                                                                         \
		type el_row;                                                                       \
		memcpy(&el_row, (bytes) + (size_t)(i) * sizeof(type), sizeof(type));               \
		el_row;                                                                            \
	})

void el_protocol_put_answer(struct el_buffer *buffer, const struct el_answer *answer)
{
	el_buffer_add_u32(buffer, answer->strings.bytes.n);
	el_buffer_add_u32(buffer, answer->strings.start.n);
	el_buffer_add_u32(buffer, answer->objects.n);
	el_buffer_add_u32(buffer, answer->functions.n);
	el_buffer_add_u32(buffer, answer->lines.n);
	el_buffer_add_u32(buffer, answer->locations.n);
	el_buffer_add_u32(buffer, answer->by_query.n);
	el_buffer_add(buffer, answer->strings.bytes.at, answer->strings.bytes.n);
#define PUT(table)                                                                                 \
	el_buffer_add(buffer, answer->table.at, answer->table.n * sizeof(*answer->table.at))
	PUT(objects);
	PUT(functions);
	PUT(lines);
	PUT(locations);
	PUT(by_query);
#undef PUT
}

/* Index 0 of these tables is "none" and always there. */
static bool counts_plausible(const struct tables *tables)
{
	return tables->n_strings && tables->n_objects && tables->n_functions && tables->n_locations;
}

static int read_tables(struct el_cursor *cursor, struct tables *ret)
{
	struct tables tables;

	tables.string_bytes = el_cursor_u32(cursor);
	tables.n_strings = el_cursor_u32(cursor);
	tables.n_objects = el_cursor_u32(cursor);
	tables.n_functions = el_cursor_u32(cursor);
	tables.n_lines = el_cursor_u32(cursor);
	tables.n_locations = el_cursor_u32(cursor);
	tables.n_queries = el_cursor_u32(cursor);
	tables.strings = el_cursor_bytes(cursor, tables.string_bytes);
#define GET(table, type)                                                                           \
	(tables.table = el_cursor_bytes(cursor, tables.n_##table * sizeof(struct type)))
	GET(objects, el_answer_object);
	GET(functions, el_answer_function);
	GET(lines, el_answer_line);
	GET(locations, el_answer_location);
#undef GET
	tables.by_query = el_cursor_bytes(cursor, tables.n_queries * sizeof(uint32_t));
	if (cursor->failed || !counts_plausible(&tables))
		return -EBADMSG;
	*ret = tables;
	return 0;
}

static int append_strings(const struct tables *tables, struct el_answer *answer,
			  uint32_t *new_index)
{
	struct el_cursor cursor = el_cursor_of(tables->strings, tables->string_bytes);

	for (uint32_t i = 0; i < tables->n_strings; i++) {
		const char *text = el_cursor_string(&cursor);
		int err;

		if (!text || (!i && *text))
			return -EBADMSG;
		err = el_strings_add(&answer->strings, text, &new_index[i]);
		if (err)
			return err;
	}
	return el_cursor_left(&cursor) ? -EBADMSG : 0;
}

static int append_objects(const struct tables *tables, const struct bases *bases,
			  struct el_answer *answer)
{
	int err = el_vec_reserve(&answer->objects, answer->objects.n + tables->n_objects);

	for (uint32_t i = 1; !err && i < tables->n_objects; i++) {
		struct el_answer_object object = ROW(struct el_answer_object, tables->objects, i);

		if (object.path >= tables->n_strings || object.code >= EL_N_CODES ||
		    object.build_id_size > EL_BUILD_ID_MAX)
			return -EBADMSG;
		object.path = bases->strings[object.path];
		err = el_vec_push(&answer->objects, object);
	}
	return err;
}

static int append_functions(const struct tables *tables, const struct bases *bases,
			    struct el_answer *answer)
{
	int err = el_vec_reserve(&answer->functions, answer->functions.n + tables->n_functions);

	for (uint32_t i = 1; !err && i < tables->n_functions; i++) {
		struct el_answer_function function =
			ROW(struct el_answer_function, tables->functions, i);

		if (function.name >= tables->n_strings ||
		    function.system_name >= tables->n_strings ||
		    function.file >= tables->n_strings || function.code >= EL_N_CODES)
			return -EBADMSG;
		function.name = bases->strings[function.name];
		function.system_name = bases->strings[function.system_name];
		function.file = bases->strings[function.file];
		err = el_vec_push(&answer->functions, function);
	}
	return err;
}

static int append_lines(const struct tables *tables, const struct bases *bases,
			struct el_answer *answer)
{
	int err = el_vec_reserve(&answer->lines, answer->lines.n + tables->n_lines);

	for (uint32_t i = 0; !err && i < tables->n_lines; i++) {
		struct el_answer_line line = ROW(struct el_answer_line, tables->lines, i);

		if (line.function >= tables->n_functions)
			return -EBADMSG;
		line.function = line.function ? bases->functions + line.function : 0;
		err = el_vec_push(&answer->lines, line);
	}
	return err;
}

static bool location_good(const struct tables *tables, const struct el_answer_location *location)
{
	return location->object < tables->n_objects && location->miss < EL_N_MISSES &&
	       location->n_lines <= EL_INLINES_MAX && location->first_line <= tables->n_lines &&
	       location->n_lines <= tables->n_lines - location->first_line;
}

static int append_locations(const struct tables *tables, const struct bases *bases,
			    struct el_answer *answer)
{
	int err = el_vec_reserve(&answer->locations, answer->locations.n + tables->n_locations);

	for (uint32_t i = 1; !err && i < tables->n_locations; i++) {
		struct el_answer_location location =
			ROW(struct el_answer_location, tables->locations, i);

		if (!location_good(tables, &location))
			return -EBADMSG;
		location.object = location.object ? bases->objects + location.object : 0;
		location.first_line += bases->lines;
		err = el_vec_push(&answer->locations, location);
	}
	return err;
}

static int append_by_query(const struct tables *tables, const struct bases *bases,
			   struct el_answer *answer)
{
	int err = el_vec_reserve(&answer->by_query, answer->by_query.n + tables->n_queries);

	for (uint32_t i = 0; !err && i < tables->n_queries; i++) {
		uint32_t location = ROW(uint32_t, tables->by_query, i);

		if (location >= tables->n_locations)
			return -EBADMSG;
		location = location ? bases->locations + location : 0;
		err = el_vec_push(&answer->by_query, location);
	}
	return err;
}

int el_protocol_get_answer(struct el_cursor *cursor, size_t n_queries, struct el_answer *answer)
{
	/* Row 0 of the message is not copied, hence the - 1. */
	struct bases bases = {
		.objects = answer->objects.n - 1,
		.functions = answer->functions.n - 1,
		.lines = answer->lines.n,
		.locations = answer->locations.n - 1,
	};
	size_t old_locations = answer->locations.n, old_queries = answer->by_query.n;
	el_auto_free uint32_t *strings = NULL;
	struct tables tables;
	int err;

	err = read_tables(cursor, &tables);
	if (err)
		return err;
	/* Each string takes at least its NUL, which bounds the allocation by the message. */
	if (tables.n_queries != n_queries || tables.n_strings > tables.string_bytes)
		return -EBADMSG;
	strings = calloc(tables.n_strings, sizeof(*strings));
	if (!strings)
		return -ENOMEM;
	bases.strings = strings;
	err = append_strings(&tables, answer, strings);
	if (!err)
		err = append_objects(&tables, &bases, answer);
	if (!err)
		err = append_functions(&tables, &bases, answer);
	if (!err)
		err = append_lines(&tables, &bases, answer);
	if (!err)
		err = append_locations(&tables, &bases, answer);
	if (!err)
		err = append_by_query(&tables, &bases, answer);
	if (err) {
		answer->locations.n = old_locations;
		answer->by_query.n = old_queries;
	}
	return err;
}
