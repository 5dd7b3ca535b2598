/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile to the bytes of its file. Ids are row numbers, except that
 * locations are numbered in the order of their addresses, which is how they
 * compress best. Strings that only other readers need (label keys, comments)
 * come after the model's own.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/strings.h"
#include "bpf/wire.h"
#include "user/profile/file.h"
#include "user/profile/gzip.h"
#include "user/profile/pprof.h"
#include "user/profile/pprof_fields.h"
#include "user/profile/pprof_ticks.h"
#include "user/profile/protobuf.h"

struct writer {
	const struct el_profile *profile;
	struct el_gzip *gzip;
	struct el_buffer message; /* the one being made */
	struct el_buffer inner;   /* and the one inside it */
	struct el_buffer packed;
	struct el_strings extra; /* after the model's strings; its "" is not written */
	uint32_t *location_ids;  /* by row */
	uint32_t *location_rows; /* by id - 1 */
	int err;
};

static int writer_init(struct writer *writer, const struct el_profile *profile,
		       struct el_buffer *out)
{
	int err;

	*writer = (struct writer){.profile = profile};
	err = el_gzip_new(out, &writer->gzip);
	if (!err)
		err = el_strings_init(&writer->extra);
	return err;
}

static void writer_deinit(struct writer *writer)
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
static void emit_bytes(struct writer *writer, uint32_t field, const void *bytes, size_t size)
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
static void emit_message(struct writer *writer, uint32_t field)
{
	if (writer->message.err)
		writer->err = writer->message.err;
	emit_bytes(writer, field, writer->message.bytes.at, writer->message.bytes.n);
	reset(&writer->message);
}

/* Numbers of the profile itself are gathered in the message and put out without a key. */
static void emit_numbers(struct writer *writer)
{
	if (writer->message.err)
		writer->err = writer->message.err;
	el_gzip_add(writer->gzip, writer->message.bytes.at, writer->message.bytes.n);
	reset(&writer->message);
}

static uint32_t extra_string(struct writer *writer, const char *text)
{
	uint32_t string = 0;
	int err = el_strings_add(&writer->extra, text, &string);

	if (err)
		writer->err = err;
	return string ? writer->profile->strings.start.n + string - 1 : 0;
}

static void add_inner(struct writer *writer, uint32_t field)
{
	el_protobuf_buffer(&writer->message, field, &writer->inner);
	reset(&writer->inner);
}

/* --- heads --- */

static void write_value_type(struct writer *writer, uint32_t field, struct el_value_type type)
{
	el_protobuf_number(&writer->message, EL_PPROF_VALUE_TYPE_TYPE, type.type);
	el_protobuf_number(&writer->message, EL_PPROF_VALUE_TYPE_UNIT, type.unit);
	emit_message(writer, field);
}

static void write_heads(struct writer *writer)
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

static void write_enumerations(struct writer *writer)
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
static void write_comments(struct writer *writer)
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

static void write_counters(struct writer *writer)
{
	for (size_t i = 0; i < writer->profile->counters.n; i++) {
		const struct el_profile_counter *counter = &writer->profile->counters.at[i];

		el_protobuf_number(&writer->message, EL_PPROF_COUNTER_NAME, counter->name);
		el_protobuf_number(&writer->message, EL_PPROF_COUNTER_UNIT, counter->unit);
		el_protobuf_number(&writer->message, EL_PPROF_COUNTER_SENTENCE, counter->sentence);
		el_protobuf_number(&writer->message, EL_PPROF_COUNTER_VALUE, counter->value);
		emit_message(writer, EL_PPROF_COUNTER);
	}
}

/* --- code --- */

static void write_objects(struct writer *writer)
{
	for (size_t i = 1; i < writer->profile->objects.n; i++) {
		const struct el_profile_object *object = &writer->profile->objects.at[i];

		el_protobuf_number(&writer->message, EL_PPROF_OBJECT_PATH, object->path);
		el_protobuf_number(&writer->message, EL_PPROF_OBJECT_BUILD_ID, object->build_id);
		el_protobuf_number(&writer->message, EL_PPROF_OBJECT_BUILT_NS, object->built_ns);
		el_protobuf_number(&writer->message, EL_PPROF_OBJECT_CODE, object->code);
		el_protobuf_number(&writer->message, EL_PPROF_OBJECT_HAS_LINES, object->has_lines);
		emit_message(writer, EL_PPROF_OBJECT);
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

static int write_mappings(struct writer *writer)
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
		emit_message(writer, EL_PPROF_MAPPING);
	}
	return 0;
}

static void write_functions(struct writer *writer)
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
		emit_message(writer, EL_PPROF_FUNCTION);
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

static int number_locations(struct writer *writer)
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

static void write_location(struct writer *writer, uint32_t id)
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
		add_inner(writer, EL_PPROF_LOCATION_LINE);
	}
	el_protobuf_number(message, EL_PPROF_LOCATION_MISS, location->miss);
	el_protobuf_number(message, EL_PPROF_LOCATION_FLAGS, location->flags);
	emit_message(writer, EL_PPROF_LOCATION);
}

/* The last one stands in stacks that have none: pprof drops samples without a location. */
static void write_locations(struct writer *writer)
{
	size_t n = writer->profile->locations.n;

	for (size_t id = 1; id < n; id++)
		write_location(writer, id);
	el_protobuf_number(&writer->message, EL_PPROF_LOCATION_ID, n);
	el_protobuf_number(&writer->message, EL_PPROF_LOCATION_FILLER, 1);
	emit_message(writer, EL_PPROF_LOCATION);
}

/* --- samples --- */

static void write_processes(struct writer *writer)
{
	for (size_t i = 1; i < writer->profile->processes.n; i++) {
		const struct el_profile_process *process = &writer->profile->processes.at[i];

		el_protobuf_number(&writer->message, EL_PPROF_PROCESS_PID, process->pid);
		el_protobuf_number(&writer->message, EL_PPROF_PROCESS_EXEC_ID, process->exec_id);
		el_protobuf_number(&writer->message, EL_PPROF_PROCESS_START_NS, process->start_ns);
		el_protobuf_number(&writer->message, EL_PPROF_PROCESS_COMM, process->comm);
		el_protobuf_number(&writer->message, EL_PPROF_PROCESS_CGROUP, process->cgroup);
		emit_message(writer, EL_PPROF_PROCESS);
	}
}

/* The label keys as strings. */
struct label_keys {
	uint32_t pid, tid, comm, thread, cgroup;
};

static void add_label(struct writer *writer, uint32_t key, uint32_t field, uint64_t value)
{
	if (!value)
		return;
	el_protobuf_number(&writer->inner, EL_PPROF_LABEL_KEY, key);
	el_protobuf_number(&writer->inner, field, value);
	add_inner(writer, EL_PPROF_SAMPLE_LABEL);
}

static void add_packed(struct writer *writer, uint32_t field)
{
	el_protobuf_buffer(&writer->message, field, &writer->packed);
	reset(&writer->packed);
}

static void write_sample(struct writer *writer, const struct el_profile_sample *sample,
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
	emit_message(writer, EL_PPROF_SAMPLE);
}

static void write_samples(struct writer *writer)
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

static int write_ticks(struct writer *writer)
{
	int err;

	if (!writer->profile->ticks.n)
		return 0;
	err = el_pprof_ticks_encode(writer->profile, &writer->message);
	if (!err)
		emit_message(writer, EL_PPROF_TICKS);
	return err;
}

static void write_strings(struct writer *writer)
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

static int write_profile(struct writer *writer)
{
	int err = number_locations(writer);

	if (err)
		return err;
	write_heads(writer);
	write_enumerations(writer);
	write_comments(writer);
	write_counters(writer);
	write_objects(writer);
	write_processes(writer);
	err = write_mappings(writer);
	write_functions(writer);
	write_locations(writer);
	write_samples(writer);
	if (!err)
		err = write_ticks(writer);
	write_strings(writer);
	return err ? err : writer->err;
}

int el_pprof_encode(const struct el_profile *profile, struct el_buffer *ret)
{
	struct writer writer;
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
