/* SPDX-License-Identifier: Apache-2.0 */
/* Readable names of C++ and both Rust manglings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbolizer/demangle.h"

static void expect(const char *mangled, const char *readable)
{
	char *name = el_demangle(mangled);

	if (readable)
		assert_string_equal(name, readable);
	else
		assert_null(name);
	free(name);
}

static void cxx_keeps_argument_types(void **state)
{
	(void)state;
	expect("_ZN3foo3barEiPKc", "foo::bar(int, char const*)");
}

static void rust_legacy_drops_the_hash(void **state)
{
	(void)state;
	expect("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt");
}

static void rust_v0_is_readable(void **state)
{
	(void)state;
	expect("_RNvCs1234_7mycrate3foo", "mycrate::foo");
}

static void plain_name_is_not_mangled(void **state)
{
	(void)state;
	expect("main.main", NULL);
	expect("_start", NULL);
	expect("", NULL);
	expect("_", NULL);
}

static void endless_name_is_left_as_it_is(void **state)
{
	char name[10000];

	(void)state;
	memset(name, 'P', sizeof(name));
	memcpy(name, "_Z1f", 4);
	name[sizeof(name) - 1] = 0;
	expect(name, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cxx_keeps_argument_types),
		cmocka_unit_test(rust_legacy_drops_the_hash),
		cmocka_unit_test(rust_v0_is_readable),
		cmocka_unit_test(plain_name_is_not_mangled),
		cmocka_unit_test(endless_name_is_left_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
