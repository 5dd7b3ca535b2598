/* SPDX-License-Identifier: Apache-2.0 */
/* Shares, columns and laws of the views, on a profile whose truth is written beside it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/profile_example.h"
#include "user/profile/view.h"

static bool in_home(void *context, const struct el_profile *profile, uint32_t function)
{
	const char *file = el_strings_get(&profile->strings, profile->functions.at[function].file);

	(void)context;
	return !strncmp(file, "/home/u/", 8);
}

static struct el_view *view_of(const struct el_profile *profile, struct el_view_options options)
{
	struct el_view *view;

	assert_int_equal(el_view_new(profile, &options, &view), 0);
	return view;
}

static const struct el_view_row *row_of(const struct el_view *view, const char *wanted)
{
	char name[256];

	for (size_t i = 0; i < view->rows.n; i++) {
		el_view_row_name(view, &view->rows.at[i], name, sizeof(name));
		if (!strcmp(name, wanted))
			return &view->rows.at[i];
	}
	fail_msg("no row %s", wanted);
	return NULL;
}

static void assert_row(const struct el_view *view, const char *name, uint64_t flat, uint64_t cum)
{
	const struct el_view_row *row = row_of(view, name);

	assert_int_equal(row->flat, flat * 10 * EXAMPLE_MS);
	assert_int_equal(row->cum, cum * 10 * EXAMPLE_MS);
	assert_int_equal(row->n_flat, flat);
	assert_int_equal(row->n_cum, cum);
}

static void every_view_sum_of_flat_is_total(void **state)
{
	struct el_profile *profile = example_profile();

	(void)state;
	for (int by = 0; by < EL_N_VIEWS; by++) {
		struct el_view *view = view_of(profile, (struct el_view_options){.by = by});
		uint64_t flat = 0;

		assert_int_equal(view->total, EXAMPLE_TOTAL);
		assert_int_equal(view->n_samples, EXAMPLE_SAMPLES);
		for (size_t i = 0; i < view->rows.n; i++) {
			const struct el_view_row *row = &view->rows.at[i];

			flat += row->flat;
			assert_int_equal(row->sum, flat);
			assert_true(row->flat <= row->cum && row->cum <= view->total);
			assert_true(!i || row[-1].flat >= row->flat);
		}
		assert_int_equal(flat, view->total);
		el_view_free(view);
	}
	el_profile_free(profile);
}

static void inlined_frames_are_frames_of_their_own(void **state)
{
	struct el_profile *profile = example_profile();
	struct el_view *view = view_of(profile, (struct el_view_options){.by = EL_VIEW_BY_LINE});

	(void)state;
	assert_row(view, "np_round /usr/lib/numba/arraymath.py:3157", 8, 8);
	assert_row(view, "dither(uint8[:,:]) /home/u/dither.py:26", 0, 8);
	assert_row(view, "dither(uint8[:,:]) /home/u/dither.py:31", 4, 6);
	assert_row(view, "loop /home/u/loop.c:22", 0, 5);
	el_view_free(view);
	el_profile_free(profile);
}

static void recursion_counts_once_per_stack(void **state)
{
	struct el_profile *profile = example_profile();
	struct el_view *view =
		view_of(profile, (struct el_view_options){.by = EL_VIEW_BY_FUNCTION});

	(void)state;
	assert_row(view, "recurse", 3, 3);
	assert_row(view, "loop", 0, 5);
	el_view_free(view);
	el_profile_free(profile);
}

static void file_of_two_lines_counts_once(void **state)
{
	struct el_profile *profile = example_profile();
	struct el_view *view = view_of(profile, (struct el_view_options){.by = EL_VIEW_BY_FILE});

	(void)state;
	assert_row(view, "/home/u/loop.c", 3, 5);
	assert_row(view, "/home/u/dither.py", 4, 14);
	assert_row(view, "[kernel] no line", 2, 2);
	assert_row(view, "[unknown] JIT code gone", 2, 2);
	assert_row(view, "[unknown] no stack", 1, 1);
	el_view_free(view);
	el_profile_free(profile);
}

static void modules_threads_and_processes_are_told_apart(void **state)
{
	struct el_profile *profile = example_profile();
	struct el_view *view = view_of(profile, (struct el_view_options){.by = EL_VIEW_BY_MODULE});

	(void)state;
	assert_row(view, "[numba]", 12, 14);
	assert_row(view, "/usr/bin/loop", 3, 5);
	el_view_free(view);
	view = view_of(profile, (struct el_view_options){.by = EL_VIEW_BY_THREAD});
	assert_row(view, "main (42) of python3 (42)", 14, 14);
	assert_row(view, "worker (43) of python3 (42)", 6, 6);
	el_view_free(view);
	view = view_of(profile, (struct el_view_options){.by = EL_VIEW_BY_PROCESS});
	assert_row(view, "python3 (42)", 20, 20);
	el_view_free(view);
	el_profile_free(profile);
}

static void innermost_own_line_is_credited(void **state)
{
	struct el_profile *profile = example_profile();
	struct el_view *view =
		view_of(profile, (struct el_view_options){.by = EL_VIEW_BY_LINE, .mine = in_home});
	const struct el_view_row *library =
		row_of(view, "np_round /usr/lib/numba/arraymath.py:3157");
	const struct el_view_row *mine = row_of(view, "dither(uint8[:,:]) /home/u/dither.py:26");

	(void)state;
	assert_true(mine->mine && !library->mine);
	assert_int_equal(mine->own, 80 * EXAMPLE_MS);
	assert_int_equal(library->own, 0);
	assert_int_equal(library->into_mine, 80 * EXAMPLE_MS);
	/* the kernel below line 31 is credited to it, but was called, not inlined */
	assert_int_equal(row_of(view, "dither(uint8[:,:]) /home/u/dither.py:31")->own,
			 60 * EXAMPLE_MS);
	assert_int_equal(row_of(view, "clear_page")->into_mine, 0);
	assert_int_equal(row_of(view, "loop /home/u/loop.c:22")->own, 0);
	assert_int_equal(view->own_total, 170 * EXAMPLE_MS);
	el_view_free(view);
	el_profile_free(profile);
}

static void inlined_library_line_is_listed_under_its_caller(void **state)
{
	struct el_profile *profile = example_profile();
	struct el_view *view =
		view_of(profile, (struct el_view_options){.by = EL_VIEW_BY_LINE, .mine = in_home});

	(void)state;
	assert_int_equal(view->inlined.n, 1);
	assert_ptr_equal(&view->rows.at[view->inlined.at[0].row],
			 row_of(view, "dither(uint8[:,:]) /home/u/dither.py:26"));
	assert_ptr_equal(&view->rows.at[view->inlined.at[0].from],
			 row_of(view, "np_round /usr/lib/numba/arraymath.py:3157"));
	assert_int_equal(view->inlined.at[0].flat, 80 * EXAMPLE_MS);
	el_view_free(view);
	el_profile_free(profile);
}

static void kinds_and_causes_add_up_to_total(void **state)
{
	struct el_profile *profile = example_profile();
	struct el_view *view = view_of(profile, (struct el_view_options){.by = EL_VIEW_BY_LINE});
	uint64_t sum = view->no_stack;

	(void)state;
	assert_int_equal(view->code[EL_CODE_NUMBA], 120 * EXAMPLE_MS);
	assert_int_equal(view->code[EL_CODE_NATIVE], 30 * EXAMPLE_MS);
	assert_int_equal(view->code[EL_CODE_KERNEL], 20 * EXAMPLE_MS);
	assert_int_equal(view->miss[EL_MISS_JIT_GONE], 20 * EXAMPLE_MS);
	assert_int_equal(view->no_stack, 10 * EXAMPLE_MS);
	for (int i = 0; i < EL_N_CODES; i++)
		sum += view->code[i];
	for (int i = 0; i < EL_N_MISSES; i++)
		sum += view->miss[i];
	assert_int_equal(sum, view->total);
	el_view_free(view);
	el_profile_free(profile);
}

static void filters_keep_only_what_passes(void **state)
{
	struct el_profile *profile = example_profile();
	struct el_view *view =
		view_of(profile, (struct el_view_options){.codes = 1u << EL_CODE_NUMBA, .tid = 43});

	(void)state;
	assert_int_equal(view->total, 20 * EXAMPLE_MS);
	assert_int_equal(view->n_samples, 2);
	el_view_free(view);
	view = view_of(profile, (struct el_view_options){.pid = 41});
	assert_int_equal(view->total, 0);
	assert_int_equal(view->rows.n, 0);
	assert_true(el_view_percent(view, 0) == 0);
	el_view_free(view);
	el_profile_free(profile);
}

static void sorted_by_cum_largest_cum_is_first(void **state)
{
	struct el_profile *profile = example_profile();
	struct el_view *view = view_of(
		profile, (struct el_view_options){.by = EL_VIEW_BY_FUNCTION, .sort_cum = true});

	(void)state;
	assert_ptr_equal(&view->rows.at[0], row_of(view, "dither(uint8[:,:])"));
	assert_int_equal(view->rows.at[view->rows.n - 1].sum, view->total);
	el_view_free(view);
	el_profile_free(profile);
}

static void value_type_that_is_not_there_is_refused(void **state)
{
	struct el_profile *profile = example_profile();
	struct el_view_options options = {.value = 3};
	struct el_view *view = NULL;

	(void)state;
	assert_int_equal(el_view_new(profile, &options, &view), -EINVAL);
	assert_null(view);
	options.value = 1;
	assert_int_equal(el_view_new(profile, &options, &view), 0);
	assert_int_equal(view->total, EXAMPLE_SAMPLES);
	el_view_free(view);
	el_profile_free(profile);
}

/* By hand, z = 1.959964: half of 100 is 1/2 +- z / (2 sqrt(100 + z^2)); none of 10 is at most z^2 /
 * (10 + z^2). */
static void interval_is_wilsons(void **state)
{
	double low, high;

	(void)state;
	el_share_interval(0.5, 100, &low, &high);
	assert_float_equal(low, 0.4038315, 1e-6);
	assert_float_equal(high, 0.5961685, 1e-6);
	el_share_interval(0, 10, &low, &high);
	assert_float_equal(low, 0, 1e-12);
	assert_float_equal(high, 0.2775328, 1e-6);
	for (int n = 1; n < 5000; n++) { /* rounding never puts the share outside */
		el_share_interval(0, n, &low, &high);
		assert_true(low == 0);
		el_share_interval(1, n, &low, &high);
		assert_true(high == 1);
	}
	el_share_interval(0.3, 0, &low, &high);
	assert_true(low == 0 && high == 1);
}

static void unequal_weights_make_fewer_effective_samples(void **state)
{
	struct example example = example_begin();
	struct el_profile_sample sample = {
		.process = example.process, .tid = 50, .values = {1, EXAMPLE_TOTAL}};
	struct el_profile_tick tick = {.weight = EXAMPLE_TOTAL};
	struct el_profile *profile;
	struct el_view *view;
	uint32_t row;

	(void)state;
	assert_int_equal(el_profile_build_sample(example.builder, &sample, &tick.sample), 0);
	assert_int_equal(el_profile_build_tick(example.builder, &tick, &row), 0);
	profile = example_end(&example);
	view = view_of(profile, (struct el_view_options){.by = EL_VIEW_BY_LINE});
	/* (2 T)^2 / (T^2 + 20 (T / 20)^2) */
	assert_float_equal(view->n_effective, 4 / 1.05, 1e-6);
	el_view_free(view);
	el_profile_free(profile);
}

static void view_names_are_found_by_name(void **state)
{
	enum el_view_by by;

	(void)state;
	for (int i = 0; i < EL_N_VIEWS; i++) {
		assert_int_equal(el_view_by_find(el_view_by_name(i), &by), 0);
		assert_int_equal(by, i);
	}
	assert_int_equal(el_view_by_find("colour", &by), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_view_sum_of_flat_is_total),
		cmocka_unit_test(inlined_frames_are_frames_of_their_own),
		cmocka_unit_test(recursion_counts_once_per_stack),
		cmocka_unit_test(file_of_two_lines_counts_once),
		cmocka_unit_test(modules_threads_and_processes_are_told_apart),
		cmocka_unit_test(innermost_own_line_is_credited),
		cmocka_unit_test(inlined_library_line_is_listed_under_its_caller),
		cmocka_unit_test(kinds_and_causes_add_up_to_total),
		cmocka_unit_test(filters_keep_only_what_passes),
		cmocka_unit_test(sorted_by_cum_largest_cum_is_first),
		cmocka_unit_test(value_type_that_is_not_there_is_refused),
		cmocka_unit_test(interval_is_wilsons),
		cmocka_unit_test(unequal_weights_make_fewer_effective_samples),
		cmocka_unit_test(view_names_are_found_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
