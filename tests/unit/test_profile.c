/* SPDX-License-Identifier: Apache-2.0 */
/* Building, checking and merging profiles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buffer.h"
#include "tests/unit/profile_example.h"
#include "user/profile/pprof.h"
#include "user/profile/view.h"

static void equal_rows_have_one_index(void **state)
{
	struct example example = example_begin();
	const struct el_profile *profile = el_profile_builder_profile(example.builder);
	size_t functions = profile->functions.n, locations = profile->locations.n;
	uint32_t dither = example.dither, inlined = example.inlined;

	(void)state;
	example_code(&example);
	assert_int_equal(example.dither, dither);
	assert_int_equal(example.inlined, inlined);
	assert_int_equal(profile->functions.n, functions);
	assert_int_equal(profile->locations.n, locations);
	el_profile_builder_free(example.builder);
}

static void location_with_other_lines_is_another(void **state)
{
	struct example example = example_begin();
	struct el_profile_line line = {example.dither, 27, 0};
	uint32_t other = example_location(&example, 0, 0x7f0000000100, EL_MISS_NONE, &line, 1);
	uint32_t less = example_location(&example, 0, 0x7f0000000100, EL_MISS_NONE, NULL, 0);

	(void)state;
	assert_int_not_equal(other, example.inlined);
	assert_int_not_equal(other, less);
	el_profile_builder_free(example.builder);
}

static void stack_without_locations_is_stack_none(void **state)
{
	struct example example = example_begin();
	uint32_t stack;

	(void)state;
	assert_int_equal(el_profile_build_stack(example.builder, NULL, 0, 0, &stack), 0);
	assert_int_equal(stack, 0);
	assert_int_equal(el_profile_build_stack(example.builder, NULL, 0, 1, &stack), 0);
	assert_int_not_equal(stack, 0);
	el_profile_builder_free(example.builder);
}

static void row_that_refers_to_nothing_is_refused(void **state)
{
	struct example example = example_begin();
	struct el_profile_builder *builder = example.builder;
	struct el_profile_line line = {.function = 1000};
	uint32_t row = 7, location = 1000;

	(void)state;
#define REFUSED(call) assert_int_equal((call), -EINVAL)
	REFUSED(el_profile_build_object(builder, &(struct el_profile_object){.path = 9999}, &row));
	REFUSED(el_profile_build_mapping(builder, &(struct el_profile_mapping){.object = 99},
					 &row));
	REFUSED(el_profile_build_function(builder, &(struct el_profile_function){.name = 9999},
					  &row));
	REFUSED(el_profile_build_location(builder, &(struct el_profile_location){0}, &line, 1,
					  &row));
	REFUSED(el_profile_build_stack(builder, &location, 1, 0, &row));
	REFUSED(el_profile_build_process(builder, &(struct el_profile_process){.comm = 9999},
					 &row));
	REFUSED(el_profile_build_sample(builder, &(struct el_profile_sample){.stack = 9999}, &row));
	REFUSED(el_profile_build_tick(builder, &(struct el_profile_tick){.sample = 9999}, &row));
	REFUSED(el_profile_build_counter(builder, &(struct el_profile_counter){.name = 9999},
					 &row));
#undef REFUSED
	assert_int_equal(row, 7);
	el_profile_builder_free(builder);
}

static void samples_of_one_stack_and_thread_are_summed(void **state)
{
	struct el_profile *profile = example_profile();

	(void)state;
	assert_int_equal(profile->samples.n, 7);
	assert_int_equal(profile->samples.at[0].values[0], 6);
	assert_int_equal(profile->samples.at[0].values[1], 60 * EXAMPLE_MS);
	assert_int_equal(profile->ticks.n, EXAMPLE_SAMPLES);
	el_profile_free(profile);
}

static void finished_ticks_are_in_time_order(void **state)
{
	struct el_profile *profile = example_profile();

	(void)state;
	for (size_t i = 1; i < profile->ticks.n; i++)
		assert_true(profile->ticks.at[i - 1].time_ns <= profile->ticks.at[i].time_ns);
	el_profile_free(profile);
}

/* --- check --- */

static void assert_fault(const struct el_profile *profile, const char *word)
{
	struct el_error error = {0};

	assert_int_equal(el_profile_check(profile, &error), -EINVAL);
	if (!strstr(error.text, word))
		fail_msg("\"%s\" does not say \"%s\"", error.text, word);
}

/* Breaks one member, expects the fault to be named, mends it. */
#define BROKEN(profile, member, value, word)                                                       \
	do {                                                                                       \
		__typeof__((profile)->member) whole = (profile)->member;                           \
		struct el_error none;                                                              \
                                                                                                   \
		(profile)->member = (value);                                                       \
		assert_fault((profile), (word));                                                   \
		(profile)->member = whole;                                                         \
		assert_int_equal(el_profile_check((profile), &none), 0);                           \
	} while (0)

static void every_broken_reference_is_found(void **state)
{
	struct el_profile *profile = example_profile();

	(void)state;
	BROKEN(profile, n_value_types, 0, "value type");
	BROKEN(profile, n_value_types, EL_MAX_VALUES + 1, "value type");
	BROKEN(profile, value_types[1].unit, 9999, "value type 1");
	BROKEN(profile, command, 9999, "command");
	BROKEN(profile, comments.at[0], 9999, "comment 0");
	BROKEN(profile, counters.at[0].sentence, 9999, "counter 0");
	BROKEN(profile, objects.at[1].path, 9999, "object 1");
	BROKEN(profile, objects.at[1].code, EL_N_CODES, "object 1");
	BROKEN(profile, objects.at[0].code, 1, "objects 0");
	BROKEN(profile, mappings.at[2].object, 99, "mapping 2");
	BROKEN(profile, mappings.at[2].limit, 0, "mapping 2");
	BROKEN(profile, functions.at[1].name, 9999, "function 1");
	BROKEN(profile, lines.at[0].function, 9999, "line 0");
	BROKEN(profile, locations.at[1].mapping, 99, "location 1");
	BROKEN(profile, locations.at[1].n_lines, 9999, "location 1");
	BROKEN(profile, locations.at[1].first_line, UINT32_MAX, "location 1");
	BROKEN(profile, locations.at[1].miss, EL_N_MISSES, "location 1");
	BROKEN(profile, stack_locations.at[0], 0, "stack location 0");
	BROKEN(profile, stack_locations.at[0], 9999, "stack location 0");
	BROKEN(profile, stacks.at[1].n_locations, 9999, "stack 1");
	BROKEN(profile, stacks.at[1].end, 200, "stack 1");
	BROKEN(profile, processes.at[1].comm, 9999, "process 1");
	BROKEN(profile, samples.at[0].stack, 9999, "sample 0");
	BROKEN(profile, samples.at[0].process, 9999, "sample 0");
	BROKEN(profile, samples.at[0].thread, 9999, "sample 0");
	BROKEN(profile, samples.at[0].values[3], 1, "sample 0");
	BROKEN(profile, samples.at[0].values[1], UINT64_MAX, "total");
	el_profile_free(profile);
}

static void ticks_beyond_their_sample_are_found(void **state)
{
	struct el_profile *profile = example_profile();

	(void)state;
	BROKEN(profile, ticks.at[0].sample, 9999, "tick 0");
	BROKEN(profile, ticks.at[0].time_ns, UINT64_MAX, "out of order");
	BROKEN(profile, ticks.at[0].weight, 11 * EXAMPLE_MS, "weighs less");
	BROKEN(profile, samples.at[0].values[0], 5, "counts fewer");
	el_profile_free(profile);
}

/* --- merge --- */

static uint64_t total_of(const struct el_profile *profile, uint32_t value)
{
	uint64_t total = 0;

	for (size_t i = 0; i < profile->samples.n; i++)
		total += profile->samples.at[i].values[value];
	return total;
}

static void merged_with_itself_doubles_values_and_adds_no_row(void **state)
{
	struct el_profile *into = example_profile(), *from = example_profile();
	size_t stacks = into->stacks.n, locations = into->locations.n;
	struct el_error error = {0};

	(void)state;
	assert_int_equal(el_profile_merge(into, from, &error), 0);
	assert_int_equal(into->stacks.n, stacks);
	assert_int_equal(into->locations.n, locations);
	assert_int_equal(into->samples.n, from->samples.n);
	assert_int_equal(total_of(into, 0), 2 * EXAMPLE_SAMPLES);
	assert_int_equal(total_of(into, 1), 2 * EXAMPLE_TOTAL);
	assert_int_equal(into->ticks.n, 2 * EXAMPLE_SAMPLES);
	assert_int_equal(el_profile_counter_value(into, "kept"), 2 * EXAMPLE_TOTAL);
	assert_int_equal(el_profile_counter_value(into, "lost"), 0);
	assert_int_equal(into->comments.n, 1);
	el_profile_free(into);
	el_profile_free(from);
}

static void merged_into_an_empty_one_is_the_same_profile(void **state)
{
	struct el_profile *from = example_profile(), *into = example_profile();
	struct el_buffer a = {0}, b = {0};
	struct el_profile *empty;
	struct el_error error = {0};
	struct el_view *view_a, *view_b;

	(void)state;
	assert_int_equal(el_profile_new(&empty), 0);
	assert_int_equal(el_profile_merge(empty, from, &error), -EINVAL); /* no value types */
	el_profile_free(empty);
	into->samples.n = into->ticks.n = into->counters.n = 0;
	assert_int_equal(el_profile_merge(into, from, &error), 0);
	assert_int_equal(el_pprof_encode(into, &a), 0);
	assert_int_equal(el_pprof_encode(from, &b), 0);
	assert_int_equal(a.bytes.n, b.bytes.n);
	assert_memory_equal(a.bytes.at, b.bytes.at, a.bytes.n);
	assert_int_equal(el_view_new(into, &(struct el_view_options){0}, &view_a), 0);
	assert_int_equal(el_view_new(from, &(struct el_view_options){0}, &view_b), 0);
	assert_int_equal(view_a->rows.n, view_b->rows.n);
	el_view_free(view_a);
	el_view_free(view_b);
	el_buffer_deinit(&a);
	el_buffer_deinit(&b);
	el_profile_free(into);
	el_profile_free(from);
}

static void earlier_profile_moves_the_start_and_the_ticks(void **state)
{
	struct el_profile *into = example_profile(), *from = example_profile();
	struct el_error error = {0};

	(void)state;
	from->start_wall_ns -= 5000 * EXAMPLE_MS;
	assert_int_equal(el_profile_merge(into, from, &error), 0);
	assert_int_equal(into->start_wall_ns, from->start_wall_ns);
	assert_int_equal(into->duration_ns, 6000 * EXAMPLE_MS);
	assert_int_equal(into->ticks.at[0].time_ns, 0);
	assert_int_equal(into->ticks.at[EXAMPLE_SAMPLES].time_ns, 5000 * EXAMPLE_MS);
	el_profile_free(into);
	el_profile_free(from);
}

static void unknown_start_adds_durations(void **state)
{
	struct el_profile *into = example_profile(), *from = example_profile();
	int64_t start = from->start_wall_ns;
	struct el_error error = {0};

	(void)state;
	into->start_wall_ns = 0;
	assert_int_equal(el_profile_merge(into, from, &error), 0);
	assert_int_equal(into->start_wall_ns, start);
	assert_int_equal(into->duration_ns, 2000 * EXAMPLE_MS);
	el_profile_free(into);
	el_profile_free(from);
}

static void merge_of_other_value_types_is_refused_and_changes_nothing(void **state)
{
	struct el_profile *into = example_profile(), *from = example_profile();
	struct el_error error = {0};

	(void)state;
	from->value_types[1].type = from->command;
	assert_int_equal(el_profile_merge(into, from, &error), -EINVAL);
	assert_non_null(strstr(error.text, "cannot be merged"));
	assert_int_equal(total_of(into, 1), EXAMPLE_TOTAL);
	el_profile_free(into);
	el_profile_free(from);
}

static void merge_beyond_the_largest_total_is_refused(void **state)
{
	struct el_profile *into = example_profile(), *from = example_profile();
	struct el_error error = {0};

	(void)state;
	into->samples.at[0].values[1] = 1ull << 62;
	from->samples.at[0].values[1] = 1ull << 62;
	assert_int_equal(el_profile_merge(into, from, &error), -EINVAL);
	assert_int_equal(into->samples.at[0].values[1], 1ull << 62);
	el_profile_free(into);
	el_profile_free(from);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_rows_have_one_index),
		cmocka_unit_test(location_with_other_lines_is_another),
		cmocka_unit_test(stack_without_locations_is_stack_none),
		cmocka_unit_test(row_that_refers_to_nothing_is_refused),
		cmocka_unit_test(samples_of_one_stack_and_thread_are_summed),
		cmocka_unit_test(finished_ticks_are_in_time_order),
		cmocka_unit_test(every_broken_reference_is_found),
		cmocka_unit_test(ticks_beyond_their_sample_are_found),
		cmocka_unit_test(merged_with_itself_doubles_values_and_adds_no_row),
		cmocka_unit_test(merged_into_an_empty_one_is_the_same_profile),
		cmocka_unit_test(earlier_profile_moves_the_start_and_the_ticks),
		cmocka_unit_test(unknown_start_adds_durations),
		cmocka_unit_test(merge_of_other_value_types_is_refused_and_changes_nothing),
		cmocka_unit_test(merge_beyond_the_largest_total_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
