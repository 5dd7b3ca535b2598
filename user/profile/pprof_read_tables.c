/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a profile file: its heads, and the tables that refer to strings only. */
#include <string.h>

#include "bpf/wire.h"
#include "user/profile/pprof_fields.h"
#include "user/profile/pprof_reader.h"

static int read_value_type(struct el_pprof_reader *reader, const struct el_protobuf_field *message,
			   struct el_value_type *ret)
{
	struct el_cursor cursor = el_cursor_of(message->bytes, message->size);
	struct el_protobuf_field field;
	int err = 0;

	*ret = (struct el_value_type){0};
	while (!err && el_protobuf_next(&cursor, &field)) {
		if (field.number == EL_PPROF_VALUE_TYPE_TYPE)
			err = el_pprof_intern_text(reader, field.value, &ret->type);
		else if (field.number == EL_PPROF_VALUE_TYPE_UNIT)
			err = el_pprof_intern_text(reader, field.value, &ret->unit);
	}
	if (!err && cursor.failed)
		err = el_pprof_damaged(reader, "a value type is malformed");
	return err;
}

/* Of more value types than there is room for the first ones are kept. */
static int read_sample_type(struct el_pprof_reader *reader, const struct el_protobuf_field *message)
{
	struct el_profile *profile = reader->profile;
	uint32_t n = profile->n_value_types;

	if (n == EL_MAX_VALUES)
		return 0;
	reader->value_of[n] = n;
	profile->n_value_types++;
	return read_value_type(reader, message, &profile->value_types[n]);
}

int el_pprof_put_default_last(struct el_pprof_reader *reader)
{
	struct el_profile *profile = reader->profile;
	uint32_t last = profile->n_value_types - 1;
	uint32_t wanted;
	int err;

	if (!reader->default_type)
		return 0;
	err = el_pprof_intern_text(reader, reader->default_type, &wanted);
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

static int read_object(struct el_pprof_reader *reader, const struct el_protobuf_field *message)
{
	struct el_cursor cursor = el_cursor_of(message->bytes, message->size);
	struct el_profile_object object = {0};
	struct el_protobuf_field field;
	uint32_t row;
	int err = el_pprof_count_item(reader);

	while (!err && el_protobuf_next(&cursor, &field)) {
		if (field.number == EL_PPROF_OBJECT_PATH)
			err = el_pprof_intern_text(reader, field.value, &object.path);
		else if (field.number == EL_PPROF_OBJECT_BUILD_ID)
			err = el_pprof_intern_text(reader, field.value, &object.build_id);
		else if (field.number == EL_PPROF_OBJECT_BUILT_NS)
			object.built_ns = field.value;
		else if (field.number == EL_PPROF_OBJECT_CODE && field.value < reader->n_codes)
			object.code = reader->codes[field.value];
		else if (field.number == EL_PPROF_OBJECT_HAS_LINES)
			object.has_lines = !!field.value;
	}
	if (!err && cursor.failed)
		return el_pprof_damaged(reader, "an object is malformed");
	if (!err)
		err = el_profile_build_object(reader->builder, &object, &row);
	if (!err)
		err = el_vec_push(&reader->objects, row);
	return err;
}

static int read_process(struct el_pprof_reader *reader, const struct el_protobuf_field *message)
{
	struct el_cursor cursor = el_cursor_of(message->bytes, message->size);
	struct el_profile_process process = {0};
	struct el_protobuf_field field;
	uint32_t row;
	int err = el_pprof_count_item(reader);

	while (!err && el_protobuf_next(&cursor, &field)) {
		if (field.number == EL_PPROF_PROCESS_PID)
			process.pid = field.value;
		else if (field.number == EL_PPROF_PROCESS_EXEC_ID)
			process.exec_id = field.value;
		else if (field.number == EL_PPROF_PROCESS_START_NS)
			process.start_ns = field.value;
		else if (field.number == EL_PPROF_PROCESS_COMM)
			err = el_pprof_intern_text(reader, field.value, &process.comm);
		else if (field.number == EL_PPROF_PROCESS_CGROUP)
			err = el_pprof_intern_text(reader, field.value, &process.cgroup);
	}
	if (!err && cursor.failed)
		return el_pprof_damaged(reader, "a process is malformed");
	if (!err)
		err = el_profile_build_process(reader->builder, &process, &row);
	if (!err)
		err = el_vec_push(&reader->processes, row);
	return err;
}

static int read_counter(struct el_pprof_reader *reader, const struct el_protobuf_field *message)
{
	struct el_cursor cursor = el_cursor_of(message->bytes, message->size);
	struct el_profile_counter counter = {0};
	struct el_protobuf_field field;
	uint32_t row;
	int err = el_pprof_count_item(reader);

	while (!err && el_protobuf_next(&cursor, &field)) {
		if (field.number == EL_PPROF_COUNTER_NAME)
			err = el_pprof_intern_text(reader, field.value, &counter.name);
		else if (field.number == EL_PPROF_COUNTER_UNIT)
			err = el_pprof_intern_text(reader, field.value, &counter.unit);
		else if (field.number == EL_PPROF_COUNTER_SENTENCE)
			err = el_pprof_intern_text(reader, field.value, &counter.sentence);
		else if (field.number == EL_PPROF_COUNTER_VALUE)
			counter.value = field.value;
	}
	if (!err && cursor.failed)
		return el_pprof_damaged(reader, "a counter is malformed");
	return err ? err : el_profile_build_counter(reader->builder, &counter, &row);
}

static int read_function(struct el_pprof_reader *reader, const struct el_protobuf_field *message)
{
	struct el_cursor cursor = el_cursor_of(message->bytes, message->size);
	struct el_profile_function function = {0};
	struct el_protobuf_field field;
	uint64_t id = 0;
	uint32_t row;
	int err = el_pprof_count_item(reader);

	while (!err && el_protobuf_next(&cursor, &field)) {
		if (field.number == EL_PPROF_FUNCTION_ID)
			id = field.value;
		else if (field.number == EL_PPROF_FUNCTION_NAME)
			err = el_pprof_intern_text(reader, field.value, &function.name);
		else if (field.number == EL_PPROF_FUNCTION_SYSTEM_NAME)
			err = el_pprof_intern_text(reader, field.value, &function.system_name);
		else if (field.number == EL_PPROF_FUNCTION_FILE)
			err = el_pprof_intern_text(reader, field.value, &function.file);
		else if (field.number == EL_PPROF_FUNCTION_START_LINE)
			function.start_line = field.value;
		else if (field.number == EL_PPROF_FUNCTION_CODE && field.value < reader->n_codes)
			function.code = reader->codes[field.value];
		else if (field.number == EL_PPROF_FUNCTION_WRAPPER)
			function.wrapper = !!field.value;
	}
	if (!err && cursor.failed)
		return el_pprof_damaged(reader, "a function is malformed");
	if (!err)
		err = el_profile_build_function(reader->builder, &function, &row);
	if (err)
		return err;
	err = el_id_map_add(&reader->functions, id, row);
	return err == -EEXIST || err == -EINVAL
		       ? el_pprof_damaged(reader, "a function's id is 0 or not unique")
		       : err;
}

static int read_comment(struct el_pprof_reader *reader, uint64_t text)
{
	uint32_t string, row;
	int err = el_pprof_count_item(reader);

	if (!err)
		err = el_pprof_intern_text(reader, text, &string);
	if (!err)
		err = el_profile_build_comment(
			reader->builder, el_strings_get(&reader->profile->strings, string), &row);
	return err;
}

/* Repeated numbers come one by one or packed. */
static int read_comments(struct el_pprof_reader *reader, const struct el_protobuf_field *field)
{
	struct el_cursor packed = el_cursor_of(field->bytes, field->size);
	int err = 0;

	if (field->wire == EL_PROTOBUF_VARINT)
		return read_comment(reader, field->value);
	while (!err && el_cursor_left(&packed))
		err = read_comment(reader, el_cursor_uleb(&packed));
	return err;
}

int el_pprof_visit_heads(struct el_pprof_reader *reader, const struct el_protobuf_field *field)
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
		return el_pprof_intern_text(reader, field->value, &profile->command);
	case EL_PPROF_EVENT:
		return el_pprof_intern_text(reader, field->value, &profile->event);
	case EL_PPROF_COUNTER:
		return read_counter(reader, field);
	default:
		return 0;
	}
}

static uint8_t find_name(const struct el_pprof_reader *reader, uint64_t text,
			 const char *const *names, size_t n, uint8_t unknown)
{
	for (size_t i = 0; i < n; i++) {
		if (el_pprof_text_is(reader, text, names[i]))
			return i;
	}
	return unknown;
}

int el_pprof_visit_enumerations(struct el_pprof_reader *reader,
				const struct el_protobuf_field *field)
{
#define X(name, ...) #name,
	static const char *const codes[] = {EL_CODES(X)};
	static const char *const misses[] = {EL_MISSES(X)};
	static const char *const ends[] = {EL_STACK_ENDS(X)};
#undef X

	if (field->number == EL_PPROF_CODE_NAME && reader->n_codes < EL_PPROF_MAX_NAMES)
		reader->codes[reader->n_codes++] =
			find_name(reader, field->value, codes, EL_N_CODES, EL_CODE_UNKNOWN);
	else if (field->number == EL_PPROF_MISS_NAME && reader->n_misses < EL_PPROF_MAX_NAMES)
		reader->misses[reader->n_misses++] =
			find_name(reader, field->value, misses, EL_N_MISSES, EL_MISS_NO_FUNCTION);
	else if (field->number == EL_PPROF_STACK_END_NAME && reader->n_ends < EL_PPROF_MAX_NAMES)
		reader->ends[reader->n_ends++] =
			find_name(reader, field->value, ends, EL_N_STACK_ENDS, EL_STACK_END_READ);
	return 0;
}

int el_pprof_visit_tables(struct el_pprof_reader *reader, const struct el_protobuf_field *field)
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
