/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file's bytes to a profile, in passes over its fields, because other tools
 * write them in any order: strings, what refers to strings only, mappings,
 * locations, samples, ticks. Everything is bounded: the unpacked size, its
 * ratio to the file's, the number of items of all tables together.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/cleanup.h"
#include "bpf/wire.h"
#include "user/profile/build.h"
#include "user/profile/file.h"
#include "user/profile/gzip.h"
#include "user/profile/id_map.h"
#include "user/profile/pprof.h"
#include "user/profile/pprof_fields.h"
#include "user/profile/pprof_ticks.h"
#include "user/profile/protobuf.h"

#define FILE_LIMIT ((size_t)1 << 30)
#define UNPACKED_LIMIT ((size_t)1 << 30)
/* A profile unpacks to 5 to 30 times its size; a bomb to a thousand times. */
#define UNPACKED_RATIO 100
#define UNPACKED_ALWAYS ((size_t)16 << 20)
/* Rows, lines and stack entries together: the tables stay under about 4 GiB. */
#define ITEM_LIMIT ((size_t)1 << 26)
#define MAX_NAMES 64 /* of an enumeration */

struct text {
	const char *at;
	uint32_t size;
	uint32_t string; /* + 1; 0: not interned yet */
};

struct reader {
	const uint8_t *bytes;
	size_t size;
	struct el_profile_builder *builder;
	struct el_profile *profile; /* the builder's */
	struct el_error *error;
	size_t n_items;

	bool ours;
	uint64_t n_strings; /* of the model, when ours */
	EL_VEC(struct text) texts;
	EL_VEC(uint32_t) objects, processes, samples; /* the file's row -> the profile's */
	struct el_id_map mappings, functions, locations;
	uint8_t codes[MAX_NAMES], misses[MAX_NAMES],
		ends[MAX_NAMES]; /* the file's number -> ours */
	uint32_t n_codes, n_misses, n_ends;

	uint64_t default_type;            /* index of a text */
	uint32_t n_types;                 /* in the file */
	uint32_t value_of[EL_MAX_VALUES]; /* our value -> the file's */
	EL_VEC(uint32_t) stack;
	EL_VEC(struct el_profile_line) lines;
};

typedef int visit(struct reader *reader, const struct el_protobuf_field *field);

static int damaged(struct reader *reader, const char *what)
{
	return el_error_set(reader->error, -EINVAL, "the profile is damaged: %s", what);
}

static int count_item(struct reader *reader)
{
	if (++reader->n_items <= ITEM_LIMIT)
		return 0;
	return el_error_set(reader->error, -EFBIG, "the profile has more than %zu million rows",
			    ITEM_LIMIT >> 20);
}

/* Calls `visit` for each field of a message. */
static int each_field(struct reader *reader, const void *bytes, size_t size, visit *visit)
{
	struct el_cursor cursor = el_cursor_of(bytes, size);
	struct el_protobuf_field field;
	int err = 0;

	while (!err && el_protobuf_next(&cursor, &field))
		err = visit(reader, &field);
	if (!err && cursor.failed)
		err = damaged(reader, "a message ends too early or is malformed");
	return err;
}

/* --- strings --- */

static int intern_text(struct reader *reader, uint64_t index, uint32_t *ret)
{
	struct text *text;
	int err;

	if (index >= reader->texts.n)
		return damaged(reader, "it names a string that is not there");
	text = &reader->texts.at[index];
	if (!text->string) {
		err = el_strings_add_bytes(&reader->profile->strings, text->at, text->size, ret);
		if (err)
			return err;
		text->string = *ret + 1;
	}
	*ret = text->string - 1;
	return 0;
}

static bool text_is(const struct reader *reader, uint64_t index, const char *wanted)
{
	const struct text *text = index < reader->texts.n ? &reader->texts.at[index] : NULL;

	return text && text->size == strlen(wanted) && !memcmp(text->at, wanted, text->size);
}

static int visit_strings(struct reader *reader, const struct el_protobuf_field *field)
{
	int err = 0;

	switch (field->number) {
	case EL_PPROF_STRING:
		if (field->wire != EL_PROTOBUF_BYTES || field->size > UINT32_MAX)
			return damaged(reader, "a string is none");
		err = count_item(reader);
		if (!err)
			err = el_vec_push(&reader->texts,
					  ((struct text){(const char *)field->bytes, field->size}));
		break;
	case EL_PPROF_VERSION:
		reader->ours = field->value == EL_PPROF_OUR_VERSION;
		break;
	case EL_PPROF_N_STRINGS:
		reader->n_strings = field->value;
		break;
	case EL_PPROF_DEFAULT_SAMPLE_TYPE:
		reader->default_type = field->value;
		break;
	case EL_PPROF_SAMPLE_TYPE:
		reader->n_types++;
		break;
	}
	return err;
}

static int read_strings(struct reader *reader)
{
	int err = each_field(reader, reader->bytes, reader->size, visit_strings);
	uint32_t string;

	if (err)
		return err;
	if (!reader->texts.n || reader->texts.at[0].size)
		return el_error_set(reader->error, -EINVAL,
				    "this is not a pprof profile: it has no string table");
	if (!reader->n_types)
		return el_error_set(reader->error, -EINVAL,
				    "this is not a pprof profile: it has no sample type");
	for (uint64_t i = 0; reader->ours && i < reader->n_strings && !err; i++)
		err = intern_text(reader, i, &string);
	return err;
}

/* --- what refers to strings only --- */

static int read_value_type(struct reader *reader, const struct el_protobuf_field *message,
			   struct el_value_type *ret)
{
	struct el_cursor cursor = el_cursor_of(message->bytes, message->size);
	struct el_protobuf_field field;
	int err = 0;

	*ret = (struct el_value_type){0};
	while (!err && el_protobuf_next(&cursor, &field)) {
		if (field.number == EL_PPROF_VALUE_TYPE_TYPE)
			err = intern_text(reader, field.value, &ret->type);
		else if (field.number == EL_PPROF_VALUE_TYPE_UNIT)
			err = intern_text(reader, field.value, &ret->unit);
	}
	if (!err && cursor.failed)
		err = damaged(reader, "a value type is malformed");
	return err;
}

/* Of more value types than there is room for the first ones are kept. */
static int read_sample_type(struct reader *reader, const struct el_protobuf_field *message)
{
	struct el_profile *profile = reader->profile;
	uint32_t n = profile->n_value_types;

	if (n == EL_MAX_VALUES)
		return 0;
	reader->value_of[n] = n;
	profile->n_value_types++;
	return read_value_type(reader, message, &profile->value_types[n]);
}

/* The last value is the one that reports show. */
static int put_default_last(struct reader *reader)
{
	struct el_profile *profile = reader->profile;
	uint32_t last = profile->n_value_types - 1;
	uint32_t wanted;
	int err;

	if (!reader->default_type)
		return 0;
	err = intern_text(reader, reader->default_type, &wanted);
	for (uint32_t i = 0; !err && i < last; i++) {
		struct el_value_type type = profile->value_types[i];

		if (type.type != wanted || profile->value_types[last].type == wanted)
			continue;
		profile->value_types[i] = profile->value_types[last];
		profile->value_types[last] = type;
		reader->value_of[i] = last;
		reader->value_of[last] = i;
	}
	return err;
}

static int read_object(struct reader *reader, const struct el_protobuf_field *message)
{
	struct el_cursor cursor = el_cursor_of(message->bytes, message->size);
	struct el_profile_object object = {0};
	struct el_protobuf_field field;
	uint32_t row;
	int err = count_item(reader);

	while (!err && el_protobuf_next(&cursor, &field)) {
		if (field.number == EL_PPROF_OBJECT_PATH)
			err = intern_text(reader, field.value, &object.path);
		else if (field.number == EL_PPROF_OBJECT_BUILD_ID)
			err = intern_text(reader, field.value, &object.build_id);
		else if (field.number == EL_PPROF_OBJECT_BUILT_NS)
			object.built_ns = field.value;
		else if (field.number == EL_PPROF_OBJECT_CODE && field.value < reader->n_codes)
			object.code = reader->codes[field.value];
		else if (field.number == EL_PPROF_OBJECT_HAS_LINES)
			object.has_lines = !!field.value;
	}
	if (!err && cursor.failed)
		return damaged(reader, "an object is malformed");
	if (!err)
		err = el_profile_build_object(reader->builder, &object, &row);
	if (!err)
		err = el_vec_push(&reader->objects, row);
	return err;
}

static int read_process(struct reader *reader, const struct el_protobuf_field *message)
{
	struct el_cursor cursor = el_cursor_of(message->bytes, message->size);
	struct el_profile_process process = {0};
	struct el_protobuf_field field;
	uint32_t row;
	int err = count_item(reader);

	while (!err && el_protobuf_next(&cursor, &field)) {
		if (field.number == EL_PPROF_PROCESS_PID)
			process.pid = field.value;
		else if (field.number == EL_PPROF_PROCESS_EXEC_ID)
			process.exec_id = field.value;
		else if (field.number == EL_PPROF_PROCESS_START_NS)
			process.start_ns = field.value;
		else if (field.number == EL_PPROF_PROCESS_COMM)
			err = intern_text(reader, field.value, &process.comm);
		else if (field.number == EL_PPROF_PROCESS_CGROUP)
			err = intern_text(reader, field.value, &process.cgroup);
	}
	if (!err && cursor.failed)
		return damaged(reader, "a process is malformed");
	if (!err)
		err = el_profile_build_process(reader->builder, &process, &row);
	if (!err)
		err = el_vec_push(&reader->processes, row);
	return err;
}

static int read_counter(struct reader *reader, const struct el_protobuf_field *message)
{
	struct el_cursor cursor = el_cursor_of(message->bytes, message->size);
	struct el_profile_counter counter = {0};
	struct el_protobuf_field field;
	uint32_t row;
	int err = count_item(reader);

	while (!err && el_protobuf_next(&cursor, &field)) {
		if (field.number == EL_PPROF_COUNTER_NAME)
			err = intern_text(reader, field.value, &counter.name);
		else if (field.number == EL_PPROF_COUNTER_UNIT)
			err = intern_text(reader, field.value, &counter.unit);
		else if (field.number == EL_PPROF_COUNTER_SENTENCE)
			err = intern_text(reader, field.value, &counter.sentence);
		else if (field.number == EL_PPROF_COUNTER_VALUE)
			counter.value = field.value;
	}
	if (!err && cursor.failed)
		return damaged(reader, "a counter is malformed");
	return err ? err : el_profile_build_counter(reader->builder, &counter, &row);
}

static int read_function(struct reader *reader, const struct el_protobuf_field *message)
{
	struct el_cursor cursor = el_cursor_of(message->bytes, message->size);
	struct el_profile_function function = {0};
	struct el_protobuf_field field;
	uint64_t id = 0;
	uint32_t row;
	int err = count_item(reader);

	while (!err && el_protobuf_next(&cursor, &field)) {
		if (field.number == EL_PPROF_FUNCTION_ID)
			id = field.value;
		else if (field.number == EL_PPROF_FUNCTION_NAME)
			err = intern_text(reader, field.value, &function.name);
		else if (field.number == EL_PPROF_FUNCTION_SYSTEM_NAME)
			err = intern_text(reader, field.value, &function.system_name);
		else if (field.number == EL_PPROF_FUNCTION_FILE)
			err = intern_text(reader, field.value, &function.file);
		else if (field.number == EL_PPROF_FUNCTION_START_LINE)
			function.start_line = field.value;
		else if (field.number == EL_PPROF_FUNCTION_CODE && field.value < reader->n_codes)
			function.code = reader->codes[field.value];
		else if (field.number == EL_PPROF_FUNCTION_WRAPPER)
			function.wrapper = !!field.value;
	}
	if (!err && cursor.failed)
		return damaged(reader, "a function is malformed");
	if (!err)
		err = el_profile_build_function(reader->builder, &function, &row);
	if (err)
		return err;
	err = el_id_map_add(&reader->functions, id, row);
	return err == -EEXIST || err == -EINVAL
		       ? damaged(reader, "a function's id is 0 or not unique")
		       : err;
}

static int read_comment(struct reader *reader, uint64_t text)
{
	uint32_t string, row;
	int err = count_item(reader);

	if (!err)
		err = intern_text(reader, text, &string);
	if (!err)
		err = el_profile_build_comment(
			reader->builder, el_strings_get(&reader->profile->strings, string), &row);
	return err;
}

/* Repeated numbers come one by one or packed. */
static int read_comments(struct reader *reader, const struct el_protobuf_field *field)
{
	struct el_cursor packed = el_cursor_of(field->bytes, field->size);
	int err = 0;

	if (field->wire == EL_PROTOBUF_VARINT)
		return read_comment(reader, field->value);
	while (!err && el_cursor_left(&packed))
		err = read_comment(reader, el_cursor_uleb(&packed));
	return err;
}

static int visit_heads(struct reader *reader, const struct el_protobuf_field *field)
{
	struct el_profile *profile = reader->profile;

	switch (field->number) {
	case EL_PPROF_SAMPLE_TYPE:
		return read_sample_type(reader, field);
	case EL_PPROF_PERIOD_TYPE:
		return read_value_type(reader, field, &profile->period_type);
	case EL_PPROF_PERIOD:
		profile->period = field->value;
		return 0;
	case EL_PPROF_TIME_NANOS:
		profile->start_wall_ns = field->value;
		return 0;
	case EL_PPROF_DURATION_NANOS:
		profile->duration_ns = field->value;
		return 0;
	case EL_PPROF_COMMENT:
		return reader->ours ? 0 : read_comments(reader, field);
	case EL_PPROF_SENTENCE:
		return reader->ours ? read_comments(reader, field) : 0;
	case EL_PPROF_N_CPUS:
		profile->n_cpus = field->value;
		return 0;
	case EL_PPROF_COMMAND:
		return intern_text(reader, field->value, &profile->command);
	case EL_PPROF_EVENT:
		return intern_text(reader, field->value, &profile->event);
	case EL_PPROF_COUNTER:
		return read_counter(reader, field);
	default:
		return 0;
	}
}

static uint8_t find_name(const struct reader *reader, uint64_t text, const char *const *names,
			 size_t n, uint8_t unknown)
{
	for (size_t i = 0; i < n; i++) {
		if (text_is(reader, text, names[i]))
			return i;
	}
	return unknown;
}

static int visit_enumerations(struct reader *reader, const struct el_protobuf_field *field)
{
#define X(name, ...) #name,
	static const char *const codes[] = {EL_CODES(X)};
	static const char *const misses[] = {EL_MISSES(X)};
	static const char *const ends[] = {EL_STACK_ENDS(X)};
#undef X

	if (field->number == EL_PPROF_CODE_NAME && reader->n_codes < MAX_NAMES)
		reader->codes[reader->n_codes++] =
			find_name(reader, field->value, codes, EL_N_CODES, EL_CODE_UNKNOWN);
	else if (field->number == EL_PPROF_MISS_NAME && reader->n_misses < MAX_NAMES)
		reader->misses[reader->n_misses++] =
			find_name(reader, field->value, misses, EL_N_MISSES, EL_MISS_NO_FUNCTION);
	else if (field->number == EL_PPROF_STACK_END_NAME && reader->n_ends < MAX_NAMES)
		reader->ends[reader->n_ends++] =
			find_name(reader, field->value, ends, EL_N_STACK_ENDS, EL_STACK_END_READ);
	return 0;
}

static int visit_tables(struct reader *reader, const struct el_protobuf_field *field)
{
	switch (field->number) {
	case EL_PPROF_FUNCTION:
		return read_function(reader, field);
	case EL_PPROF_OBJECT:
		return read_object(reader, field);
	case EL_PPROF_PROCESS:
		return read_process(reader, field);
	default:
		return 0;
	}
}

/* --- mappings and locations --- */

struct mapping_text {
	uint64_t object, file, build_id;
	bool has_lines;
};

/* Another tool's mapping says what its object is. */
static int object_of_mapping(struct reader *reader, const struct mapping_text *text, uint32_t *ret)
{
	struct el_profile_object object = {.has_lines = text->has_lines};
	const char *path;
	int err = 0;

	if (text->object) {
		if (text->object > reader->objects.n)
			return damaged(reader, "a mapping names an object that is not there");
		*ret = reader->objects.at[text->object - 1];
		return 0;
	}
	if (reader->ours || (!text->file && !text->build_id))
		return 0;
	err = intern_text(reader, text->file, &object.path);
	if (!err)
		err = intern_text(reader, text->build_id, &object.build_id);
	if (err)
		return err;
	path = el_strings_get(&reader->profile->strings, object.path);
	object.code = strncmp(path, "[kernel", 7) ? EL_CODE_NATIVE : EL_CODE_KERNEL;
	return el_profile_build_object(reader->builder, &object, ret);
}

static int read_mapping(struct reader *reader, const struct el_protobuf_field *message)
{
	struct el_cursor cursor = el_cursor_of(message->bytes, message->size);
	struct el_profile_mapping mapping = {0};
	struct mapping_text text = {0};
	struct el_protobuf_field field;
	uint64_t id = 0;
	uint32_t row;
	int err = count_item(reader);

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
		return damaged(reader, "a mapping is malformed");
	if (mapping.limit < mapping.start)
		mapping.limit = mapping.start;
	err = object_of_mapping(reader, &text, &mapping.object);
	if (!err)
		err = el_profile_build_mapping(reader->builder, &mapping, &row);
	if (err)
		return err;
	err = el_id_map_add(&reader->mappings, id, row);
	return err == -EEXIST || err == -EINVAL
		       ? damaged(reader, "a mapping's id is 0 or not unique")
		       : err;
}

static int visit_mappings(struct reader *reader, const struct el_protobuf_field *field)
{
	return field->number == EL_PPROF_MAPPING ? read_mapping(reader, field) : 0;
}

static int read_line(struct reader *reader, const struct el_protobuf_field *message)
{
	struct el_cursor cursor = el_cursor_of(message->bytes, message->size);
	struct el_profile_line line = {0};
	struct el_protobuf_field field;
	uint64_t function = 0;
	int err = count_item(reader);

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
		return damaged(reader, "a line is malformed");
	if (function && el_id_map_find(&reader->functions, function, &line.function))
		return damaged(reader, "a line names a function that is not there");
	return el_vec_push(&reader->lines, line);
}

/* What another tool's location lacks, it does not say why. */
static uint16_t miss_of_lines(const struct reader *reader)
{
	if (!reader->lines.n || !reader->lines.at[0].function)
		return EL_MISS_NO_FUNCTION;
	return reader->lines.at[0].line ? EL_MISS_NONE : EL_MISS_NO_LINE;
}

static int read_location_fields(struct reader *reader, const struct el_protobuf_field *message,
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
		err = damaged(reader, "a location is malformed");
	if (!err && mapping && el_id_map_find(&reader->mappings, mapping, &location->mapping))
		err = damaged(reader, "a location names a mapping that is not there");
	return err;
}

static int read_location(struct reader *reader, const struct el_protobuf_field *message)
{
	struct el_profile_location location = {0};
	bool filler = false;
	uint64_t id = 0;
	uint32_t row = 0;
	int err = count_item(reader);

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
		       ? damaged(reader, "a location's id is 0 or not unique")
		       : err;
}

static int visit_locations(struct reader *reader, const struct el_protobuf_field *field)
{
	return field->number == EL_PPROF_LOCATION ? read_location(reader, field) : 0;
}

/* --- samples --- */

/* One sample while its fields come in. */
struct sample_fields {
	struct el_profile_sample sample;
	struct el_profile_process process; /* from labels */
	uint64_t process_row, end;
	uint32_t n_values;
	uint64_t values[EL_MAX_VALUES];
};

static int add_location(struct reader *reader, uint64_t id)
{
	uint32_t row = 0;
	int err = count_item(reader);

	if (err)
		return err;
	if (el_id_map_find(&reader->locations, id, &row))
		return damaged(reader, "a sample names a location that is not there");
	return row ? el_vec_push(&reader->stack, row) : 0;
}

static int add_value(struct reader *reader, struct sample_fields *fields, uint64_t value)
{
	if (value > INT64_MAX)
		return el_error_set(reader->error, -EINVAL,
				    "the profile holds negative values: it is a difference of two");
	if (fields->n_values < EL_MAX_VALUES)
		fields->values[fields->n_values] = value;
	fields->n_values++;
	return 0;
}

static int read_label(struct reader *reader, const struct el_protobuf_field *message,
		      struct sample_fields *fields)
{
	struct el_cursor cursor = el_cursor_of(message->bytes, message->size);
	struct el_protobuf_field field;
	uint64_t key = 0, text = 0, number = 0;

	while (el_protobuf_next(&cursor, &field)) {
		if (field.number == EL_PPROF_LABEL_KEY)
			key = field.value;
		else if (field.number == EL_PPROF_LABEL_STR)
			text = field.value;
		else if (field.number == EL_PPROF_LABEL_NUM)
			number = field.value;
	}
	if (cursor.failed)
		return damaged(reader, "a label is malformed");
	if (text_is(reader, key, "thread"))
		return intern_text(reader, text, &fields->sample.thread);
	if (text_is(reader, key, "tid"))
		fields->sample.tid = number;
	else if (reader->ours)
		return 0; /* the process says the rest */
	else if (text_is(reader, key, "pid"))
		fields->process.pid = number;
	else if (text_is(reader, key, "comm"))
		return intern_text(reader, text, &fields->process.comm);
	else if (text_is(reader, key, "cgroup"))
		return intern_text(reader, text, &fields->process.cgroup);
	return 0;
}

static int read_sample_field(struct reader *reader, const struct el_protobuf_field *field,
			     struct sample_fields *fields)
{
	struct el_cursor packed = el_cursor_of(field->bytes, field->size);
	bool one = field->wire == EL_PROTOBUF_VARINT;
	int err = 0;

	switch (field->number) {
	case EL_PPROF_SAMPLE_LOCATION:
		if (one)
			return add_location(reader, field->value);
		while (!err && el_cursor_left(&packed))
			err = add_location(reader, el_cursor_uleb(&packed));
		break;
	case EL_PPROF_SAMPLE_VALUE:
		if (one)
			return add_value(reader, fields, field->value);
		while (!err && el_cursor_left(&packed))
			err = add_value(reader, fields, el_cursor_uleb(&packed));
		break;
	case EL_PPROF_SAMPLE_LABEL:
		return read_label(reader, field, fields);
	case EL_PPROF_SAMPLE_PROCESS:
		fields->process_row = field->value;
		break;
	case EL_PPROF_SAMPLE_STACK_END:
		fields->end = field->value;
		break;
	}
	if (!err && packed.failed)
		err = damaged(reader, "a sample is malformed");
	return err;
}

static int find_process(struct reader *reader, const struct sample_fields *fields, uint32_t *ret)
{
	static const struct el_profile_process none;

	if (fields->process_row > reader->processes.n)
		return damaged(reader, "a sample names a process that is not there");
	if (fields->process_row)
		*ret = reader->processes.at[fields->process_row - 1];
	else if (memcmp(&fields->process, &none, sizeof(none)))
		return el_profile_build_process(reader->builder, &fields->process, ret);
	return 0;
}

static int read_sample(struct reader *reader, const struct el_protobuf_field *message)
{
	struct el_cursor cursor = el_cursor_of(message->bytes, message->size);
	struct sample_fields fields = {0};
	struct el_protobuf_field field;
	uint32_t row;
	int err = count_item(reader);

	reader->stack.n = 0;
	while (!err && el_protobuf_next(&cursor, &field))
		err = read_sample_field(reader, &field, &fields);
	if (!err && cursor.failed)
		err = damaged(reader, "a sample is malformed");
	if (!err && fields.n_values != reader->n_types)
		err = damaged(reader, "a sample has not as many values as there are types");
	if (!err)
		err = find_process(reader, &fields, &fields.sample.process);
	if (!err)
		err = el_profile_build_stack(reader->builder, reader->stack.at, reader->stack.n,
					     fields.end < reader->n_ends ? reader->ends[fields.end]
									 : EL_STACK_END_ROOT,
					     &fields.sample.stack);
	if (err)
		return err;
	for (uint32_t i = 0; i < reader->profile->n_value_types; i++)
		fields.sample.values[i] = fields.values[reader->value_of[i]];
	err = el_profile_build_sample(reader->builder, &fields.sample, &row);
	return err ? err : el_vec_push(&reader->samples, row);
}

static int visit_samples(struct reader *reader, const struct el_protobuf_field *field)
{
	return field->number == EL_PPROF_SAMPLE ? read_sample(reader, field) : 0;
}

static int visit_ticks(struct reader *reader, const struct el_protobuf_field *field)
{
	int err;

	if (field->number != EL_PPROF_TICKS || !reader->ours)
		return 0;
	err = el_pprof_ticks_decode(field->bytes, field->size, reader->samples.at,
				    reader->samples.n, reader->builder);
	return err == -EINVAL ? damaged(reader, "the times of samples are malformed") : err;
}

/* --- the whole --- */

static int read_profile(struct reader *reader)
{
	static visit *const passes[] = {visit_heads,    visit_enumerations, visit_tables,
					visit_mappings, visit_locations,    visit_samples,
					visit_ticks};
	int err = read_strings(reader);

	for (size_t i = 0; !err && i < sizeof(passes) / sizeof(passes[0]); i++) {
		err = each_field(reader, reader->bytes, reader->size, passes[i]);
		if (!err && passes[i] == visit_heads)
			err = put_default_last(reader);
	}
	return err;
}

static void reader_deinit(struct reader *reader)
{
	el_profile_builder_free(reader->builder);
	el_vec_deinit(&reader->texts);
	el_vec_deinit(&reader->objects);
	el_vec_deinit(&reader->processes);
	el_vec_deinit(&reader->samples);
	el_vec_deinit(&reader->stack);
	el_vec_deinit(&reader->lines);
	el_id_map_deinit(&reader->mappings);
	el_id_map_deinit(&reader->functions);
	el_id_map_deinit(&reader->locations);
}

static int decode_message(const void *bytes, size_t size, struct el_profile **ret,
			  struct el_error *error)
{
	struct reader reader = {.bytes = bytes, .size = size, .error = error};
	uint64_t seed = 0;
	int err = el_profile_builder_new(&reader.builder);

	if (!err) {
		reader.profile = el_profile_builder_profile(reader.builder);
		if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
			seed = 0;
		reader.mappings.seed = reader.functions.seed = reader.locations.seed = seed;
		*error->text = '\0';
		err = read_profile(&reader);
	}
	if (!err)
		err = el_profile_builder_finish(reader.builder, ret, error);
	if (err && !*error->text)
		el_error_set(error, err, "the profile cannot be read: %s", strerror(-err));
	reader_deinit(&reader);
	return err;
}

static int unpack(const void *bytes, size_t size, struct el_buffer *ret, struct el_error *error)
{
	size_t limit =
		size > UNPACKED_LIMIT / UNPACKED_RATIO ? UNPACKED_LIMIT : size * UNPACKED_RATIO;
	int err =
		el_gzip_unpack(bytes, size, limit > UNPACKED_ALWAYS ? limit : UNPACKED_ALWAYS, ret);

	switch (err) {
	case 0:
		return 0;
	case -ENODATA:
		return el_error_set(error, -EINVAL,
				    "the profile is cut off: its compressed data ends too early");
	case -EINVAL:
		return el_error_set(error, err,
				    "the profile is damaged: its compressed data is invalid");
	case -EFBIG:
		return el_error_set(error, err, "the profile unpacks to more than is plausible");
	default:
		return el_error_set(error, err, "not enough memory to unpack the profile");
	}
}

int el_pprof_decode(const void *bytes, size_t size, struct el_profile **ret, struct el_error *error)
{
	struct el_buffer unpacked = {0};
	int err;

	if (!size)
		return el_error_set(error, -EINVAL, "the file is empty");
	if (!el_gzip_is(bytes, size))
		return decode_message(bytes, size, ret, error);
	err = unpack(bytes, size, &unpacked, error);
	if (!err)
		err = decode_message(unpacked.bytes.at, unpacked.bytes.n, ret, error);
	el_buffer_deinit(&unpacked);
	return err;
}

int el_pprof_load(const char *path, struct el_profile **ret, struct el_error *error)
{
	struct el_buffer file = {0};
	struct el_error why;
	int err = el_file_read(path, FILE_LIMIT, &file, error);

	if (!err) {
		err = el_pprof_decode(file.bytes.at, file.bytes.n, ret, &why);
		if (err)
			el_error_set(error, err, "%s: %.500s", path, why.text);
	}
	el_buffer_deinit(&file);
	return err;
}
