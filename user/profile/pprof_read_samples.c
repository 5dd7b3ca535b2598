/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a profile file: samples with their labels, and the ticks behind them. */
#include <string.h>

#include "bpf/wire.h"
#include "user/profile/pprof_fields.h"
#include "user/profile/pprof_reader.h"
#include "user/profile/pprof_ticks.h"

/* One sample while its fields come in. */
struct sample_fields {
	struct el_profile_sample sample;
	struct el_profile_process process; /* from labels */
	uint64_t process_row, end;
	uint32_t n_values;
	uint64_t values[EL_MAX_VALUES];
};

static int add_location(struct el_pprof_reader *reader, uint64_t id)
{
	uint32_t row = 0;
	int err = el_pprof_count_item(reader);

	if (err)
		return err;
	if (el_id_map_find(&reader->locations, id, &row))
		return el_pprof_damaged(reader, "a sample names a location that is not there");
	return row ? el_vec_push(&reader->stack, row) : 0;
}

static int add_value(struct el_pprof_reader *reader, struct sample_fields *fields, uint64_t value)
{
	if (value > INT64_MAX)
		return el_error_set(reader->error, -EINVAL,
				    "the profile holds negative values: it is a difference of two");
	if (fields->n_values < EL_MAX_VALUES)
		fields->values[fields->n_values] = value;
	fields->n_values++;
	return 0;
}

static int read_label(struct el_pprof_reader *reader, const struct el_protobuf_field *message,
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
		return el_pprof_damaged(reader, "a label is malformed");
	if (el_pprof_text_is(reader, key, "thread"))
		return el_pprof_intern_text(reader, text, &fields->sample.thread);
	if (el_pprof_text_is(reader, key, "tid"))
		fields->sample.tid = number;
	else if (reader->ours)
		return 0; /* the process says the rest */
	else if (el_pprof_text_is(reader, key, "pid"))
		fields->process.pid = number;
	else if (el_pprof_text_is(reader, key, "comm"))
		return el_pprof_intern_text(reader, text, &fields->process.comm);
	else if (el_pprof_text_is(reader, key, "cgroup"))
		return el_pprof_intern_text(reader, text, &fields->process.cgroup);
	return 0;
}

static int read_sample_field(struct el_pprof_reader *reader, const struct el_protobuf_field *field,
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
		err = el_pprof_damaged(reader, "a sample is malformed");
	return err;
}

static int find_process(struct el_pprof_reader *reader, const struct sample_fields *fields,
			uint32_t *ret)
{
	static const struct el_profile_process none;

	if (fields->process_row > reader->processes.n)
		return el_pprof_damaged(reader, "a sample names a process that is not there");
	if (fields->process_row)
		*ret = reader->processes.at[fields->process_row - 1];
	else if (memcmp(&fields->process, &none, sizeof(none)))
		return el_profile_build_process(reader->builder, &fields->process, ret);
	return 0;
}

static int read_sample(struct el_pprof_reader *reader, const struct el_protobuf_field *message)
{
	struct el_cursor cursor = el_cursor_of(message->bytes, message->size);
	struct sample_fields fields = {0};
	struct el_protobuf_field field;
	uint32_t row;
	int err = el_pprof_count_item(reader);

	reader->stack.n = 0;
	while (!err && el_protobuf_next(&cursor, &field))
		err = read_sample_field(reader, &field, &fields);
	if (!err && cursor.failed)
		err = el_pprof_damaged(reader, "a sample is malformed");
	if (!err && fields.n_values != reader->n_types)
		err = el_pprof_damaged(reader,
				       "a sample has not as many values as there are types");
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

int el_pprof_visit_samples(struct el_pprof_reader *reader, const struct el_protobuf_field *field)
{
	return field->number == EL_PPROF_SAMPLE ? read_sample(reader, field) : 0;
}

int el_pprof_visit_ticks(struct el_pprof_reader *reader, const struct el_protobuf_field *field)
{
	int err;

	if (field->number != EL_PPROF_TICKS || !reader->ours)
		return 0;
	reader->n_items += field->size / EL_PPROF_TICK_MIN_SIZE;
	err = el_pprof_count_item(reader);
	if (err)
		return err;
	err = el_pprof_ticks_decode(field->bytes, field->size, reader->samples.at,
				    reader->samples.n, reader->builder);
	return err == -EINVAL ? el_pprof_damaged(reader, "the times of samples are malformed")
			      : err;
}
