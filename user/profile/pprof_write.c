/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile to the bytes of its file. Ids are row numbers, except that
 * locations are numbered in the order of their addresses, which is how they
 * compress best. Strings that only other readers need (label keys, comments)
 * come after the model's own.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "bpf/wire.h"
#include "user/profile/file.h"
#include "user/profile/pprof.h"
#include "user/profile/pprof_fields.h"
#include "user/profile/pprof_ticks.h"
#include "user/profile/pprof_writer.h"
#include "user/profile/protobuf.h"

static int writer_init(struct el_pprof_writer *writer, const struct el_profile *profile,
		       struct el_buffer *out)
{
	int err;

	*writer = (struct el_pprof_writer){.profile = profile};
	err = el_gzip_new(out, &writer->gzip);
	if (!err)
		err = el_strings_init(&writer->extra);
	return err;
}

static void writer_deinit(struct el_pprof_writer *writer)
{
	el_gzip_free(writer->gzip);
	el_buffer_deinit(&writer->message);
	el_buffer_deinit(&writer->inner);
	el_buffer_deinit(&writer->packed);
	el_strings_deinit(&writer->extra);
	free(writer->location_ids);
	free(writer->location_rows);
}

static void reset(struct el_buffer *buffer)
{
	buffer->bytes.n = 0;
}

/* Puts one field of the profile out. */
static void emit_bytes(struct el_pprof_writer *writer, uint32_t field, const void *bytes,
		       size_t size)
{
	struct el_buffer key = {0};

	el_protobuf_key(&key, field, EL_PROTOBUF_BYTES);
	el_buffer_add_uleb(&key, size);
	el_gzip_add(writer->gzip, key.bytes.at, key.bytes.n);
	el_gzip_add(writer->gzip, bytes, size);
	if (key.err)
		writer->err = key.err;
	el_buffer_deinit(&key);
}

/* The message made so far, as one field; the next starts empty. */
void el_pprof_emit_message(struct el_pprof_writer *writer, uint32_t field)
{
	if (writer->message.err)
		writer->err = writer->message.err;
	emit_bytes(writer, field, writer->message.bytes.at, writer->message.bytes.n);
	reset(&writer->message);
}

/* Numbers of the profile itself are gathered in the message and put out without a key. */
static void emit_numbers(struct el_pprof_writer *writer)
{
	if (writer->message.err)
		writer->err = writer->message.err;
	el_gzip_add(writer->gzip, writer->message.bytes.at, writer->message.bytes.n);
	reset(&writer->message);
}

static uint32_t extra_string(struct el_pprof_writer *writer, const char *text)
{
	uint32_t string = 0;
	int err = el_strings_add(&writer->extra, text, &string);

	if (err)
		writer->err = err;
	return string ? writer->profile->strings.start.n + string - 1 : 0;
}

void el_pprof_add_inner(struct el_pprof_writer *writer, uint32_t field)
{
	el_protobuf_buffer(&writer->message, field, &writer->inner);
	reset(&writer->inner);
}

/* --- heads --- */

static void write_value_type(struct el_pprof_writer *writer, uint32_t field,
			     struct el_value_type type)
{
	el_protobuf_number(&writer->message, EL_PPROF_VALUE_TYPE_TYPE, type.type);
	el_protobuf_number(&writer->message, EL_PPROF_VALUE_TYPE_UNIT, type.unit);
	el_pprof_emit_message(writer, field);
}

static void write_heads(struct el_pprof_writer *writer)
{
	const struct el_profile *profile = writer->profile;
	struct el_buffer *message = &writer->message;

	el_protobuf_number(message, EL_PPROF_VERSION, EL_PPROF_OUR_VERSION);
	el_protobuf_number(message, EL_PPROF_N_STRINGS, profile->strings.start.n);
	el_protobuf_number(message, EL_PPROF_N_CPUS, profile->n_cpus);
	el_protobuf_number(message, EL_PPROF_COMMAND, profile->command);
	el_protobuf_number(message, EL_PPROF_EVENT, profile->event);
	el_protobuf_number(message, EL_PPROF_TIME_NANOS, profile->start_wall_ns);
	el_protobuf_number(message, EL_PPROF_DURATION_NANOS, profile->duration_ns);
	el_protobuf_number(message, EL_PPROF_PERIOD, profile->period);
	el_protobuf_number(message, EL_PPROF_DEFAULT_SAMPLE_TYPE,
			   profile->value_types[profile->n_value_types - 1].type);
	emit_numbers(writer);
	for (uint32_t i = 0; i < profile->n_value_types; i++)
		write_value_type(writer, EL_PPROF_SAMPLE_TYPE, profile->value_types[i]);
	if (profile->period_type.type || profile->period_type.unit)
		write_value_type(writer, EL_PPROF_PERIOD_TYPE, profile->period_type);
}

static void write_enumerations(struct el_pprof_writer *writer)
{
	struct el_buffer *message = &writer->message;

#define X(name, ...) el_protobuf_number(message, EL_PPROF_CODE_NAME, extra_string(writer, #name));
	EL_CODES(X)
#undef X
#define X(name, ...) el_protobuf_number(message, EL_PPROF_MISS_NAME, extra_string(writer, #name));
	EL_MISSES(X)
#undef X
#define X(name, ...)                                                                               \
	el_protobuf_number(message, EL_PPROF_STACK_END_NAME, extra_string(writer, #name));
	EL_STACK_ENDS(X)
#undef X
	emit_numbers(writer);
}

/* What the counters say, for people with another tool; read back from the fields of ours. */
static void write_comments(struct el_pprof_writer *writer)
{
	const struct el_profile *profile = writer->profile;
	const struct el_strings *strings = &profile->strings;
	struct el_buffer *message = &writer->message;
	char text[512];

	if (profile->command) {
		snprintf(text, sizeof(text), "everline: command: %s",
			 el_strings_get(strings, profile->command));
		el_protobuf_number(message, EL_PPROF_COMMENT, extra_string(writer, text));
	}
	for (size_t i = 0; i < profile->counters.n; i++) {
		const struct el_profile_counter *counter = &profile->counters.at[i];

		snprintf(text, sizeof(text), "everline: %s %" PRIu64 " %s",
			 el_strings_get(strings, counter->name), counter->value,
			 el_strings_get(strings, counter->unit));
		el_protobuf_number(message, EL_PPROF_COMMENT, extra_string(writer, text));
	}
	for (size_t i = 0; i < profile->comments.n; i++) {
		el_protobuf_number(message, EL_PPROF_COMMENT, profile->comments.at[i]);
		el_protobuf_number(message, EL_PPROF_SENTENCE, profile->comments.at[i]);
	}
	emit_numbers(writer);
}

static void write_counters(struct el_pprof_writer *writer)
{
	for (size_t i = 0; i < writer->profile->counters.n; i++) {
		const struct el_profile_counter *counter = &writer->profile->counters.at[i];

		el_protobuf_number(&writer->message, EL_PPROF_COUNTER_NAME, counter->name);
		el_protobuf_number(&writer->message, EL_PPROF_COUNTER_UNIT, counter->unit);
		el_protobuf_number(&writer->message, EL_PPROF_COUNTER_SENTENCE, counter->sentence);
		el_protobuf_number(&writer->message, EL_PPROF_COUNTER_VALUE, counter->value);
		el_pprof_emit_message(writer, EL_PPROF_COUNTER);
	}
}

/* --- samples --- */

static void write_processes(struct el_pprof_writer *writer)
{
	for (size_t i = 1; i < writer->profile->processes.n; i++) {
		const struct el_profile_process *process = &writer->profile->processes.at[i];

		el_protobuf_number(&writer->message, EL_PPROF_PROCESS_PID, process->pid);
		el_protobuf_number(&writer->message, EL_PPROF_PROCESS_EXEC_ID, process->exec_id);
		el_protobuf_number(&writer->message, EL_PPROF_PROCESS_START_NS, process->start_ns);
		el_protobuf_number(&writer->message, EL_PPROF_PROCESS_COMM, process->comm);
		el_protobuf_number(&writer->message, EL_PPROF_PROCESS_CGROUP, process->cgroup);
		el_pprof_emit_message(writer, EL_PPROF_PROCESS);
	}
}

/* The label keys as strings. */
struct label_keys {
	uint32_t pid, tid, comm, thread, cgroup;
};

static void add_label(struct el_pprof_writer *writer, uint32_t key, uint32_t field, uint64_t value)
{
	if (!value)
		return;
	el_protobuf_number(&writer->inner, EL_PPROF_LABEL_KEY, key);
	el_protobuf_number(&writer->inner, field, value);
	el_pprof_add_inner(writer, EL_PPROF_SAMPLE_LABEL);
}

static void add_packed(struct el_pprof_writer *writer, uint32_t field)
{
	el_protobuf_buffer(&writer->message, field, &writer->packed);
	reset(&writer->packed);
}

static void write_sample(struct el_pprof_writer *writer, const struct el_profile_sample *sample,
			 const struct label_keys *keys)
{
	const struct el_profile *profile = writer->profile;
	const struct el_profile_stack *stack = &profile->stacks.at[sample->stack];
	const struct el_profile_process *process = &profile->processes.at[sample->process];

	for (uint32_t i = 0; i < stack->n_locations; i++) {
		uint32_t row = profile->stack_locations.at[stack->first_location + i];

		el_buffer_add_uleb(&writer->packed, writer->location_ids[row]);
	}
	if (!stack->n_locations)
		el_buffer_add_uleb(&writer->packed, profile->locations.n);
	add_packed(writer, EL_PPROF_SAMPLE_LOCATION);
	for (uint32_t i = 0; i < profile->n_value_types; i++)
		el_buffer_add_uleb(&writer->packed, sample->values[i]);
	add_packed(writer, EL_PPROF_SAMPLE_VALUE);
	add_label(writer, keys->pid, EL_PPROF_LABEL_NUM, process->pid);
	add_label(writer, keys->tid, EL_PPROF_LABEL_NUM, sample->tid);
	add_label(writer, keys->comm, EL_PPROF_LABEL_STR, process->comm);
	add_label(writer, keys->thread, EL_PPROF_LABEL_STR, sample->thread);
	add_label(writer, keys->cgroup, EL_PPROF_LABEL_STR, process->cgroup);
	el_protobuf_number(&writer->message, EL_PPROF_SAMPLE_PROCESS, sample->process);
	el_protobuf_number(&writer->message, EL_PPROF_SAMPLE_STACK_END, stack->end);
	el_pprof_emit_message(writer, EL_PPROF_SAMPLE);
}

static void write_samples(struct el_pprof_writer *writer)
{
	struct label_keys keys = {
		.pid = extra_string(writer, "pid"),
		.tid = extra_string(writer, "tid"),
		.comm = extra_string(writer, "comm"),
		.thread = extra_string(writer, "thread"),
		.cgroup = extra_string(writer, "cgroup"),
	};

	for (size_t i = 0; i < writer->profile->samples.n; i++)
		write_sample(writer, &writer->profile->samples.at[i], &keys);
}

static int write_ticks(struct el_pprof_writer *writer)
{
	int err;

	if (!writer->profile->ticks.n)
		return 0;
	err = el_pprof_ticks_encode(writer->profile, &writer->message);
	if (!err)
		el_pprof_emit_message(writer, EL_PPROF_TICKS);
	return err;
}

static void write_strings(struct el_pprof_writer *writer)
{
	const struct el_strings *strings = &writer->profile->strings;

	for (size_t i = 0; i < strings->start.n; i++) {
		const char *text = el_strings_get(strings, i);

		emit_bytes(writer, EL_PPROF_STRING, text, strlen(text));
	}
	for (size_t i = 1; i < writer->extra.start.n; i++) {
		const char *text = el_strings_get(&writer->extra, i);

		emit_bytes(writer, EL_PPROF_STRING, text, strlen(text));
	}
}

static int write_profile(struct el_pprof_writer *writer)
{
	int err = el_pprof_number_locations(writer);

	if (err)
		return err;
	write_heads(writer);
	write_enumerations(writer);
	write_comments(writer);
	write_counters(writer);
	el_pprof_write_objects(writer);
	write_processes(writer);
	err = el_pprof_write_mappings(writer);
	el_pprof_write_functions(writer);
	el_pprof_write_locations(writer);
	write_samples(writer);
	if (!err)
		err = write_ticks(writer);
	write_strings(writer);
	return err ? err : writer->err;
}

int el_pprof_encode(const struct el_profile *profile, struct el_buffer *ret)
{
	struct el_pprof_writer writer;
	int err = writer_init(&writer, profile, ret);

	if (!err)
		err = write_profile(&writer);
	if (!err)
		err = el_gzip_finish(writer.gzip);
	writer_deinit(&writer);
	return err;
}

int el_pprof_save(const struct el_profile *profile, const char *path, struct el_error *error)
{
	struct el_buffer file = {0};
	int err = el_pprof_encode(profile, &file);

	if (err)
		el_error_set(error, err, "not enough memory to write the profile to %s", path);
	else if (!strcmp(path, "-"))
		err = el_file_write_stdout(file.bytes.at, file.bytes.n, error);
	else
		err = el_file_replace(path, file.bytes.at, file.bytes.n, error);
	el_buffer_deinit(&file);
	return err;
}
