/* SPDX-License-Identifier: Apache-2.0 */
/* The profile file: nothing of ours is lost, other tools' files are read, hostile bytes are refused
 * with a sentence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/profile_example.h"
#include "user/profile/gzip.h"
#include "user/profile/pprof.h"
#include "user/profile/pprof_fields.h"
#include "user/profile/protobuf.h"
#include "user/profile/view.h"

static struct el_buffer encoded(const struct el_profile *profile)
{
	struct el_buffer file = {0};

	assert_int_equal(el_pprof_encode(profile, &file), 0);
	return file;
}

static struct el_profile *decoded(const struct el_buffer *file)
{
	struct el_profile *profile;
	struct el_error error;
	int err = el_pprof_decode(file->bytes.at, file->bytes.n, &profile, &error);

	if (err)
		fail_msg("%s", error.text);
	return profile;
}

static void assert_same_bytes(const struct el_buffer *a, const struct el_buffer *b)
{
	assert_int_equal(a->bytes.n, b->bytes.n);
	assert_memory_equal(a->bytes.at, b->bytes.at, a->bytes.n);
}

static void written_read_and_written_again_is_identical(void **state)
{
	struct el_profile *profile = example_profile();
	struct el_buffer first = encoded(profile);
	struct el_profile *again = decoded(&first);
	struct el_buffer second = encoded(again);

	(void)state;
	assert_same_bytes(&first, &second);
	el_buffer_deinit(&first);
	el_buffer_deinit(&second);
	el_profile_free(profile);
	el_profile_free(again);
}

#define ASSERT_SAME_TABLE(a, b, table)                                                             \
	do {                                                                                       \
		assert_int_equal((a)->table.n, (b)->table.n);                                      \
		assert_memory_equal((a)->table.at, (b)->table.at,                                  \
				    (a)->table.n * sizeof(*(a)->table.at));                        \
	} while (0)

static void private_facts_come_back(void **state)
{
	struct el_profile *profile = example_profile();
	struct el_buffer file = encoded(profile);
	struct el_profile *again = decoded(&file);

	(void)state;
	ASSERT_SAME_TABLE(profile, again, strings.bytes);
	ASSERT_SAME_TABLE(profile, again, objects);
	ASSERT_SAME_TABLE(profile, again, mappings);
	ASSERT_SAME_TABLE(profile, again, functions);
	ASSERT_SAME_TABLE(profile, again, processes);
	ASSERT_SAME_TABLE(profile, again, ticks);
	ASSERT_SAME_TABLE(profile, again, counters);
	ASSERT_SAME_TABLE(profile, again, comments);
	assert_int_equal(profile->start_wall_ns, again->start_wall_ns);
	assert_int_equal(profile->duration_ns, again->duration_ns);
	assert_int_equal(profile->period, again->period);
	assert_int_equal(profile->n_cpus, again->n_cpus);
	assert_int_equal(profile->command, again->command);
	assert_int_equal(profile->event, again->event);
	assert_memory_equal(profile->value_types, again->value_types, sizeof(again->value_types));
	el_buffer_deinit(&file);
	el_profile_free(profile);
	el_profile_free(again);
}

/* Locations change their numbers; what a view shows does not. */
static void views_before_and_after_are_equal(void **state)
{
	struct el_profile *profile = example_profile();
	struct el_buffer file = encoded(profile);
	struct el_profile *again = decoded(&file);
	struct el_view_options options = {.by = EL_VIEW_BY_LINE};
	struct el_view *a, *b;
	char name_a[200], name_b[200];

	(void)state;
	assert_int_equal(el_view_new(profile, &options, &a), 0);
	assert_int_equal(el_view_new(again, &options, &b), 0);
	assert_int_equal(a->rows.n, b->rows.n);
	for (size_t i = 0; i < a->rows.n; i++) {
		el_view_row_name(a, &a->rows.at[i], name_a, sizeof(name_a));
		el_view_row_name(b, &b->rows.at[i], name_b, sizeof(name_b));
		assert_string_equal(name_a, name_b);
		assert_int_equal(a->rows.at[i].flat, b->rows.at[i].flat);
		assert_int_equal(a->rows.at[i].cum, b->rows.at[i].cum);
	}
	assert_memory_equal(a->miss, b->miss, sizeof(a->miss));
	assert_memory_equal(a->code, b->code, sizeof(a->code));
	el_view_free(a);
	el_view_free(b);
	el_buffer_deinit(&file);
	el_profile_free(profile);
	el_profile_free(again);
}

static void refuses(const void *bytes, size_t size)
{
	struct el_error error = {0};
	struct el_profile *profile = NULL;

	assert_true(el_pprof_decode(bytes, size, &profile, &error) < 0);
	assert_null(profile);
	assert_true(strlen(error.text) > 10);
}

static void file_cut_anywhere_is_refused_with_a_sentence(void **state)
{
	struct el_profile *profile = example_profile();
	struct el_buffer file = encoded(profile);

	(void)state;
	for (size_t size = 0; size < file.bytes.n; size++) {
		/* a copy of just that size, so that a sanitizer sees any read beyond */
		uint8_t *prefix = malloc(size + !size);

		memcpy(prefix, file.bytes.at, size);
		refuses(prefix, size);
		free(prefix);
	}
	el_buffer_deinit(&file);
	el_profile_free(profile);
}

/* Without gzip a cut is visible only inside a field; the rest must still be a profile or be
 * refused. */
static void message_cut_anywhere_is_refused_or_checked(void **state)
{
	struct el_profile *profile = example_profile();
	struct el_buffer file = encoded(profile), message = {0};
	size_t refused = 0;

	(void)state;
	assert_int_equal(el_gzip_unpack(file.bytes.at, file.bytes.n, 1 << 20, &message), 0);
	for (size_t size = 0; size < message.bytes.n; size++) {
		struct el_error error = {0};
		struct el_profile *part = NULL;
		uint8_t *prefix = malloc(size + !size);

		memcpy(prefix, message.bytes.at, size);
		if (el_pprof_decode(prefix, size, &part, &error))
			refused++;
		else
			assert_int_equal(el_profile_check(part, &error), 0);
		el_profile_free(part);
		free(prefix);
	}
	assert_true(refused > message.bytes.n / 2);
	el_buffer_deinit(&message);
	el_buffer_deinit(&file);
	el_profile_free(profile);
}

static void byte_changed_anywhere_is_refused_or_checked(void **state)
{
	struct el_profile *profile = example_profile();
	struct el_buffer file = encoded(profile), message = {0};

	(void)state;
	assert_int_equal(el_gzip_unpack(file.bytes.at, file.bytes.n, 1 << 20, &message), 0);
	for (size_t at = 0; at < message.bytes.n; at++) {
		static const uint8_t masks[] = {0xff, 0x01, 0x80};

		for (size_t i = 0; i < sizeof(masks); i++) {
			struct el_error error = {0};
			struct el_profile *other = NULL;

			message.bytes.at[at] ^= masks[i];
			if (!el_pprof_decode(message.bytes.at, message.bytes.n, &other, &error))
				assert_int_equal(el_profile_check(other, &error), 0);
			else
				assert_true(*error.text);
			el_profile_free(other);
			message.bytes.at[at] ^= masks[i];
		}
	}
	el_buffer_deinit(&message);
	el_buffer_deinit(&file);
	el_profile_free(profile);
}

static void text_and_nothing_are_no_profile(void **state)
{
	static const char text[] = "#!/bin/sh\necho no profile\n";
	static const uint8_t gzip_magic[] = {0x1f, 0x8b};

	(void)state;
	refuses(text, sizeof(text) - 1);
	refuses("", 0);
	refuses("\0\0\0\0", 4);
	refuses(gzip_magic, sizeof(gzip_magic));
}

static void bomb_is_refused_before_it_fills_memory(void **state)
{
	enum { MIB = 1 << 20, N_MIB = 200 };
	uint8_t *zeros = calloc(1, MIB);
	struct el_buffer file = {0};
	struct el_gzip *gzip;
	struct el_error error = {0};
	struct el_profile *profile = NULL;

	(void)state;
	assert_int_equal(el_gzip_new(&file, &gzip), 0);
	for (int i = 0; i < N_MIB; i++)
		el_gzip_add(gzip, zeros, MIB);
	assert_int_equal(el_gzip_finish(gzip), 0);
	el_gzip_free(gzip);
	assert_true(file.bytes.n < MIB);
	assert_int_equal(el_pprof_decode(file.bytes.at, file.bytes.n, &profile, &error), -EFBIG);
	assert_non_null(strstr(error.text, "unpacks"));
	el_buffer_deinit(&file);
	free(zeros);
}

/* --- files of other tools --- */

static void add_strings(struct el_buffer *file, const char *const *strings)
{
	for (; *strings; strings++)
		el_protobuf_bytes(file, EL_PPROF_STRING, *strings, strlen(*strings));
}

static void add_message(struct el_buffer *file, uint32_t field, struct el_buffer *message)
{
	el_protobuf_buffer(file, field, message);
	el_buffer_deinit(message);
}

static void add_type(struct el_buffer *file, uint32_t field, uint64_t type, uint64_t unit)
{
	struct el_buffer message = {0};

	el_protobuf_number(&message, EL_PPROF_VALUE_TYPE_TYPE, type);
	el_protobuf_number(&message, EL_PPROF_VALUE_TYPE_UNIT, unit);
	add_message(file, field, &message);
}

/* As Go's runtime writes a heap profile: strings first or last, numbers one by one, wide ids,
 * default not last. */
static struct el_buffer foreign_file(uint64_t value)
{
	static const char *const strings[] = {"",       "objects", "count",  "space", "bytes",
					      "main.f", "f.go",    "/bin/f", "bytes", "a comment",
					      "thread", "worker",  "tid",    NULL};
	struct el_buffer file = {0}, message = {0}, inner = {0};

	add_type(&file, EL_PPROF_SAMPLE_TYPE, 3, 4);
	add_type(&file, EL_PPROF_SAMPLE_TYPE, 1, 2);
	el_protobuf_number(&message, EL_PPROF_SAMPLE_LOCATION, 0x7000000000000001);
	el_protobuf_number(&message, EL_PPROF_SAMPLE_LOCATION, 9);
	el_protobuf_number(&message, EL_PPROF_SAMPLE_VALUE, value);
	el_protobuf_number(&message, EL_PPROF_SAMPLE_VALUE, 3);
	el_protobuf_number(&inner, EL_PPROF_LABEL_KEY, 10);
	el_protobuf_number(&inner, EL_PPROF_LABEL_STR, 11);
	add_message(&message, EL_PPROF_SAMPLE_LABEL, &inner);
	el_protobuf_number(&inner, EL_PPROF_LABEL_KEY, 12);
	el_protobuf_number(&inner, EL_PPROF_LABEL_NUM, 77);
	add_message(&message, EL_PPROF_SAMPLE_LABEL, &inner);
	add_message(&file, EL_PPROF_SAMPLE, &message);
	el_protobuf_number(&message, EL_PPROF_MAPPING_ID, 5);
	el_protobuf_number(&message, EL_PPROF_MAPPING_START, 0x1000);
	el_protobuf_number(&message, EL_PPROF_MAPPING_LIMIT, 0x2000);
	el_protobuf_number(&message, EL_PPROF_MAPPING_FILE, 7);
	add_message(&file, EL_PPROF_MAPPING, &message);
	el_protobuf_number(&message, EL_PPROF_LOCATION_ID, 0x7000000000000001);
	el_protobuf_number(&message, EL_PPROF_LOCATION_MAPPING, 5);
	el_protobuf_number(&message, EL_PPROF_LOCATION_ADDRESS, 0x1234);
	el_protobuf_number(&inner, EL_PPROF_LINE_FUNCTION, 8);
	el_protobuf_number(&inner, EL_PPROF_LINE_LINE, 17);
	add_message(&message, EL_PPROF_LOCATION_LINE, &inner);
	add_message(&file, EL_PPROF_LOCATION, &message);
	el_protobuf_number(&message, EL_PPROF_LOCATION_ID, 9);
	el_protobuf_number(&message, EL_PPROF_LOCATION_ADDRESS, 0x9999);
	add_message(&file, EL_PPROF_LOCATION, &message);
	el_protobuf_number(&message, EL_PPROF_FUNCTION_ID, 8);
	el_protobuf_number(&message, EL_PPROF_FUNCTION_NAME, 5);
	el_protobuf_number(&message, EL_PPROF_FUNCTION_FILE, 6);
	add_message(&file, EL_PPROF_FUNCTION, &message);
	el_protobuf_number(&file, EL_PPROF_DEFAULT_SAMPLE_TYPE, 3);
	el_protobuf_number(&file, EL_PPROF_COMMENT, 9);
	add_strings(&file, strings);
	assert_int_equal(file.err, 0);
	return file;
}

static void foreign_file_is_read_as_far_as_it_goes(void **state)
{
	struct el_buffer file = foreign_file(4096);
	struct el_profile *profile = decoded(&file);
	struct el_view_options options = {.by = EL_VIEW_BY_LINE};
	const struct el_profile_sample *sample = profile->samples.at;
	struct el_view *view;
	char name[100];

	(void)state;
	assert_int_equal(profile->n_value_types, 2);
	assert_string_equal(el_strings_get(&profile->strings, profile->value_types[1].type),
			    "space");
	assert_int_equal(profile->samples.n, 1);
	assert_int_equal(sample->tid, 77);
	assert_string_equal(el_strings_get(&profile->strings, sample->thread), "worker");
	assert_int_equal(sample->values[0], 3);
	assert_int_equal(sample->values[1], 4096);
	assert_int_equal(profile->comments.n, 1);
	assert_int_equal(el_view_new(profile, &options, &view), 0);
	assert_int_equal(view->rows.n, 2);
	el_view_row_name(view, &view->rows.at[0], name, sizeof(name));
	assert_string_equal(name, "main.f f.go:17");
	assert_int_equal(view->code[EL_CODE_NATIVE], 4096);
	el_view_free(view);
	el_profile_free(profile);
	el_buffer_deinit(&file);
}

static void foreign_file_written_by_us_keeps_its_content(void **state)
{
	struct el_buffer file = foreign_file(4096);
	struct el_profile *profile = decoded(&file);
	struct el_buffer first = encoded(profile);
	struct el_profile *again = decoded(&first);
	struct el_buffer second = encoded(again);

	(void)state;
	assert_same_bytes(&first, &second);
	assert_int_equal(again->samples.at[0].values[1], 4096);
	el_buffer_deinit(&file);
	el_buffer_deinit(&first);
	el_buffer_deinit(&second);
	el_profile_free(profile);
	el_profile_free(again);
}

static void negative_value_is_refused(void **state)
{
	struct el_buffer file = foreign_file((uint64_t)-5);
	struct el_error error = {0};
	struct el_profile *profile;

	(void)state;
	assert_int_equal(el_pprof_decode(file.bytes.at, file.bytes.n, &profile, &error), -EINVAL);
	assert_non_null(strstr(error.text, "negative"));
	el_buffer_deinit(&file);
}

static void second_location_of_an_id_is_refused(void **state)
{
	struct el_buffer file = foreign_file(1), message = {0};

	(void)state;
	el_protobuf_number(&message, EL_PPROF_LOCATION_ID, 9);
	add_message(&file, EL_PPROF_LOCATION, &message);
	refuses(file.bytes.at, file.bytes.n);
	el_buffer_deinit(&file);
}

/* --- ticks --- */

static void ticks_of_any_value_come_back(void **state)
{
	static const struct el_profile_tick wild[] = {
		{0, 0, 0, 0},          {0, 0, UINT32_MAX, 5},          {7, 1, 3, 1},
		{UINT64_MAX, 0, 3, 2}, {UINT64_MAX, 1, UINT32_MAX, 1},
	};
	struct example example = example_begin();
	struct el_profile *profile, *again;
	struct el_buffer file;
	uint32_t row;

	(void)state;
	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
		struct el_profile_sample sample = {
			.process = example.process, .tid = 42 + 0, .values = {1, 100}};

		sample.tid = 1000 + wild[i].sample;
		assert_int_equal(el_profile_build_sample(example.builder, &sample, &row), 0);
	}
	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
		struct el_profile_tick tick = wild[i];

		tick.sample = row - 1 + wild[i].sample; /* the two rows just made */
		assert_int_equal(el_profile_build_tick(example.builder, &tick, &row), 0);
		row = el_profile_builder_profile(example.builder)->samples.n - 1;
	}
	profile = example_end(&example);
	file = encoded(profile);
	again = decoded(&file);
	ASSERT_SAME_TABLE(profile, again, ticks);
	el_buffer_deinit(&file);
	el_profile_free(profile);
	el_profile_free(again);
}

/* xorshift64: the same series in every run. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* A 99 Hz clock on four CPUs as measured: +-20 % jitter a second, some microseconds of timer noise,
 * 300 stacks of which few are hot, CPUs idle for a tenth of the time. */
static void ticks_take_about_three_bytes_a_sample(void **state)
{
	enum { N_CPUS = 4, N_TICKS = 25000, N_ROWS = 300 };
	struct example example = example_begin();
	uint64_t random = 88172645463325252ull;
	struct el_profile *profile;
	struct el_buffer with, without;
	uint32_t rows[N_ROWS], row;
	double bytes;

	(void)state;
	for (uint32_t i = 0; i < N_ROWS; i++) {
		struct el_profile_sample sample = {.process = example.process,
						   .tid = 1000 + i,
						   .values = {1 << 20, 1ull << 50}};

		assert_int_equal(el_profile_build_sample(example.builder, &sample, &rows[i]), 0);
	}
	for (uint32_t cpu = 0; cpu < N_CPUS; cpu++) {
		uint64_t time = cpu * 1000, period = 10101010, error = 0;

		for (uint32_t i = 0; i < N_TICKS; i++) {
			uint64_t noise = next_random(&random) % 8192, hot;
			struct el_profile_tick tick = {.cpu = cpu};

			if (i % 99 == 0)
				period = 8080808 + next_random(&random) % 4040404;
			tick.weight = period + noise - error;
			error = noise;
			time += tick.weight;
			tick.time_ns = time;
			hot = next_random(&random) % 1000;
			tick.sample = rows[hot * hot * hot * N_ROWS / 1000000000];
			if (next_random(&random) % 10)
				assert_int_equal(
					el_profile_build_tick(example.builder, &tick, &row), 0);
		}
	}
	profile = example_end(&example);
	with = encoded(profile);
	row = profile->ticks.n;
	profile->ticks.n = 0;
	without = encoded(profile);
	profile->ticks.n = row;
	bytes = (double)(with.bytes.n - without.bytes.n) / profile->ticks.n;
	print_message("%.2f bytes a sample\n", bytes);
	assert_true(bytes < 3.5);
	el_buffer_deinit(&with);
	el_buffer_deinit(&without);
	el_profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_read_and_written_again_is_identical),
		cmocka_unit_test(private_facts_come_back),
		cmocka_unit_test(views_before_and_after_are_equal),
		cmocka_unit_test(file_cut_anywhere_is_refused_with_a_sentence),
		cmocka_unit_test(message_cut_anywhere_is_refused_or_checked),
		cmocka_unit_test(byte_changed_anywhere_is_refused_or_checked),
		cmocka_unit_test(text_and_nothing_are_no_profile),
		cmocka_unit_test(bomb_is_refused_before_it_fills_memory),
		cmocka_unit_test(foreign_file_is_read_as_far_as_it_goes),
		cmocka_unit_test(foreign_file_written_by_us_keeps_its_content),
		cmocka_unit_test(negative_value_is_refused),
		cmocka_unit_test(second_location_of_an_id_is_refused),
		cmocka_unit_test(ticks_of_any_value_come_back),
		cmocka_unit_test(ticks_take_about_three_bytes_a_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
