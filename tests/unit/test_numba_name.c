/* SPDX-License-Identifier: Apache-2.0 */
/* Numba's symbols, as 0.56 and 0.68 make them, and what is not one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbolizer/numba_name.h"

#define TAGS "B2v3B38c8tJTIeFIjxB2IKSgI4CrvQClQZ6FczSBAA_3d"
#define OLD_TAGS "B3v29B54c8tJTC_2fWwKbcFpQAdBTgEQrlo6UyVFGMNAWVBgYHmKUJAA_3d_3d"

static struct el_numba_name name;

static void assert_name(const char *symbol, const char *expected, bool wrapper)
{
	assert_true(el_numba_name_parse(symbol, &name));
	assert_string_equal(name.text, expected);
	assert_int_equal(name.wrapper, wrapper);
	assert_true(el_numba_name_is(symbol) || wrapper);
}

static void tags_go_and_argument_types_stay(void **state)
{
	(void)state;
	assert_name("_ZN8__main__6dither" TAGS "E5ArrayIhLi2E1C7mutable7alignedE",
		    "dither(uint8[:,::1])", false);
	assert_name("_ZN8__main__6dither" OLD_TAGS "E5ArrayIfLi2E1F7mutable7alignedE",
		    "dither(float32[::1,:])", false);
	assert_name("_ZN8__main__6dither" TAGS "E5ArrayIhLi3E1A7mutable7alignedE",
		    "dither(uint8[:,:,:])", false);
	assert_name("_ZN8__main__6dither" TAGS "E5ArrayIhLi2E1C8readonly7alignedE",
		    "dither(readonly uint8[:,::1])", false);
}

static void scalars_tuples_and_named_types_are_written_as_numba_does(void **state)
{
	(void)state;
	assert_name("_ZN8__main__4many" TAGS "Ex"
		    "d5ArrayI10complex128Li1E1C7mutable7alignedE12unicode_type",
		    "many(int64, float64, complex128[::1], unicode_type)", false);
	assert_name("_ZN8__main__3tup" TAGS "E8UniTupleIxLi2EE5TupleIxdEv",
		    "tup(UniTuple(int64 x 2), Tuple(int64, float64), none)", false);
	assert_name("_ZN8__main__3opt" TAGS "E21ListType_5bfloat64_5dd",
		    "opt(ListType[float64], float64)", false);
	assert_name("_ZN8__main__5outer12_3clocals_3e5inner" TAGS
		    "ExN21omitted_28default_3d25_0_29E",
		    "outer.<locals>.inner(int64, omitted(default=2.0))", false);
	assert_name("_ZN8__main__4none" TAGS "Ev", "none(none)", false);
}

static void modules_other_than_main_are_kept(void **state)
{
	(void)state;
	assert_name("_ZN5numba2np9arraymath13round_ndigits" TAGS "Edx",
		    "numba.np.arraymath.round_ndigits(float64, int64)", false);
}

static void wrappers_are_told(void **state)
{
	(void)state;
	assert_name("_ZN7cpython8__main__6dither" TAGS "E5ArrayIhLi2E1C7mutable7alignedE",
		    "dither(uint8[:,::1]) [wrapper]", true);
	assert_name("cfunc._ZN8__main__2cf" TAGS "Ed", "cf(float64) [wrapper]", true);
	assert_name("__gufunc__._ZN13_3cdynamic_3e30__numba_parfor_gufunc_0x7f92e1" TAGS
		    "E5ArrayIyLi1E1C7mutable7alignedE",
		    "__numba_parfor_gufunc_0x7f92e1(uint64[::1]) [wrapper]", true);
	assert_name(".kernel.1402___gufunc__._ZN8__main__1f" TAGS "Ex", "f(int64) [wrapper]", true);
}

static void generators_lose_what_changes_each_run(void **state)
{
	(void)state;
	assert_name("_ZN8__main__3gen4nextE62int64_20generator_28func_3d_3cfunction_20gen_20at_"
		    "200x7f_3e_29",
		    "gen.next(int64 generator(...))", false);
}

static void unknown_types_leave_the_name(void **state)
{
	(void)state;
	assert_name("_ZN8__main__1f" TAGS "E@@@", "f(...)", false);
}

static void names_that_look_escaped_are_left_alone(void **state)
{
	(void)state;
	assert_name("_ZN8__main__6get_20" TAGS "Ex", "get_20(int64)", false);
}

static void other_compilers_names_are_not_taken(void **state)
{
	(void)state;
	assert_false(el_numba_name_parse("_ZN4base5Shape4areaEv", &name));
	assert_false(el_numba_name_parse("_ZNSt6vectorIiB5cxx11E4sizeEv", &name));
	assert_false(el_numba_name_parse("main", &name));
	assert_false(el_numba_name_parse("", &name));
	assert_false(el_numba_name_is("evalexpr_0_0"));
	assert_false(el_numba_name_is("_ZN4base5Shape4areaEv"));
	assert_true(el_numba_name_is("NRT_incref"));
}

static void cut_and_changed_names_do_no_harm(void **state)
{
	static const char whole[] =
		"_ZN8__main__4many" TAGS "E5ArrayIdLi2E1C8readonly7alignedE8UniTupleIxLi2EE"
		"N21omitted_28default_3d25_0_29E21ListType_5bfloat64_5d";
	char changed[sizeof(whole)];
	int n = 0;

	(void)state;
	srand(3);
	for (size_t i = 0; i < sizeof(whole); i++) {
		memcpy(changed, whole, sizeof(whole));
		changed[i] = 0;
		n += el_numba_name_parse(changed, &name);
	}
	for (int round = 0; round < 200000; round++) {
		memcpy(changed, whole, sizeof(whole));
		for (int i = 0; i < 3; i++)
			changed[rand() % (sizeof(whole) - 1)] = "0189IELNBhd_.P\xff"[rand() % 15];
		if (el_numba_name_parse(changed, &name)) {
			assert_true(strlen(name.text) < EL_NUMBA_NAME_MAX);
			n++;
		}
	}
	assert_true(n > 0);
}

static void endless_arguments_are_cut_with_dots(void **state)
{
	char symbol[4000] = "_ZN8__main__1f" TAGS "E";

	(void)state;
	memset(symbol + strlen(symbol), 'x', 900);
	assert_true(el_numba_name_parse(symbol, &name));
	assert_int_equal(strlen(name.text), EL_NUMBA_NAME_MAX - 1);
	assert_string_equal(name.text + strlen(name.text) - 3, "...");
	memset(symbol, 'P', sizeof(symbol) - 1);
	memcpy(symbol, "_ZN1fB2v1E", 10);
	assert_true(el_numba_name_parse(symbol, &name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tags_go_and_argument_types_stay),
		cmocka_unit_test(scalars_tuples_and_named_types_are_written_as_numba_does),
		cmocka_unit_test(modules_other_than_main_are_kept),
		cmocka_unit_test(wrappers_are_told),
		cmocka_unit_test(generators_lose_what_changes_each_run),
		cmocka_unit_test(unknown_types_leave_the_name),
		cmocka_unit_test(names_that_look_escaped_are_left_alone),
		cmocka_unit_test(other_compilers_names_are_not_taken),
		cmocka_unit_test(cut_and_changed_names_do_no_harm),
		cmocka_unit_test(endless_arguments_are_cut_with_dots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
