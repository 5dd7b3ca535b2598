/* SPDX-License-Identifier: Apache-2.0 */
/* Long function names in reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "user/report/shorten.h"

static void check(const char *name, const char *expected)
{
	char room[512];

	assert_string_equal(el_shorten(name, room, sizeof(room)), expected);
}

static void short_name_stays(void **state)
{
	(void)state;
	check("std::vector<int>::push_back(int const&)", "std::vector<int>::push_back(int const&)");
}

static void long_templates_lose_their_arguments(void **state)
{
	(void)state;
	check("std::map<std::string, std::vector<std::pair<int, long> >, std::less<std::string> "
	      ">::find(int)",
	      "std::map<..>::find(int)");
}

static void long_parameters_go_after_templates(void **state)
{
	(void)state;
	check("a_long_function_name_with_words(the_first_parameter_type, "
	      "the_second_parameter_type, "
	      "the_third_parameter_type) const",
	      "a_long_function_name_with_words(..) const");
}

static void operators_keep_their_signs(void **state)
{
	(void)state;
	check("bool std::operator< <char, std::char_traits<char>, std::allocator<char> "
	      ">(std::string const&, "
	      "std::string const&)",
	      "bool std::operator< <char, std::char_traits<..>, std::allocator<..> >(..)");
	check("std::ostream& operator<<(std::basic_string<char, std::char_traits<char>, "
	      "std::allocator<char> >)",
	      "std::ostream& operator<<(std::basic_string<..>)");
}

static void rust_types_at_the_start_stay(void **state)
{
	(void)state;
	check("<hashbrown::raw::RawTable<(u64, u64), alloc::alloc::Global> as "
	      "core::ops::drop::Drop>::drop",
	      "<hashbrown::raw::RawTable<..> as core::ops::drop::Drop>::drop");
}

static void unbalanced_brackets_end_within_the_room(void **state)
{
	char name[4096], room[64];

	(void)state;
	memset(name, '<', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_true(strlen(el_shorten(name, room, sizeof(room))) < sizeof(room));
	memset(name, '>', sizeof(name) - 1);
	assert_true(strlen(el_shorten(name, room, sizeof(room))) < sizeof(room));
	memset(name, '(', sizeof(name) - 1);
	assert_true(strlen(el_shorten(name, room, sizeof(room))) < sizeof(room));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_name_stays),
		cmocka_unit_test(long_templates_lose_their_arguments),
		cmocka_unit_test(long_parameters_go_after_templates),
		cmocka_unit_test(operators_keep_their_signs),
		cmocka_unit_test(rust_types_at_the_start_stay),
		cmocka_unit_test(unbalanced_brackets_end_within_the_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
