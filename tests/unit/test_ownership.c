/* SPDX-License-Identifier: Apache-2.0 */
/* Whose code a path is, and how the user's rules change that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <string.h>

#include "tests/unit/report_profiles.h"
#include "user/report/ownership.h"

static void paths_of_libraries_are_not_mine(void **state)
{
	static const char *const paths[] = {
		"/usr/include/c++/12/bits/stl_algo.h",
		"/lib/x86_64-linux-gnu/libc.so.6",
		"/opt/vendor/thing.c",
		"/home/u/venv/lib/python3.11/site-packages/numba/np/arraymath.py",
		"/home/u/.local/lib/python3.9/dist-packages/x.py",
		"/home/u/.pyenv/versions/3.11.7/lib/python3.11/json/decoder.py",
		"/home/u/.cargo/registry/src/index/serde-1.0/src/lib.rs",
		"/rustc/0123456789abcdef/library/core/src/iter/range.rs",
		"/home/u/go/pkg/mod/golang.org/x/net@v0.1/http2/frame.go",
		"/usr/local/go/src/runtime/proc.go",
		"/srv/app/node_modules/express/index.js",
		"<frozen importlib._bootstrap>",
		"/build/glibc-6iIyft/glibc-2.36/string/memmove.c",
		"../sysdeps/x86_64/multiarch/memmove-vec-unaligned-erms.S",
		"[kernel]",
		"[vdso]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (el_ownership_path_is_mine(NULL, 0, paths[i]))
			fail_msg("%s is a library's", paths[i]);
}

static void other_paths_are_mine(void **state)
{
	static const char *const paths[] = {
		"/home/u/dither.py",        "src/main.c",
		"/srv/app/server.js",       "/root/go/src/app/main.go",
		"<ipython-input-3-0123>",   "<string>",
		"/tmp/ipykernel_77/123.py", "/build/app/main.c",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (!el_ownership_path_is_mine(NULL, 0, paths[i]))
			fail_msg("%s is the user's own", paths[i]);
}

static void last_rule_that_matches_wins(void **state)
{
	static const struct el_ownership_rule rules[] = {
		{"/usr/src/mine/*", true},
		{"*/vendored/*", false},
		{"*/vendored/patched.c", true},
	};

	(void)state;
	assert_true(el_ownership_path_is_mine(rules, 3, "/usr/src/mine/a.c"));
	assert_false(el_ownership_path_is_mine(rules, 3, "/usr/src/mine/vendored/a.c"));
	assert_true(el_ownership_path_is_mine(rules, 3, "/usr/src/mine/vendored/patched.c"));
	assert_false(el_ownership_path_is_mine(rules, 3, "/usr/src/other.c"));
}

static bool is_mine(const struct el_profile *profile, const struct el_ownership *ownership,
		    const char *name)
{
	for (size_t i = 1; i < profile->functions.n; i++)
		if (!strcmp(el_strings_get(&profile->strings, profile->functions.at[i].name), name))
			return el_ownership_is_mine(ownership, i);
	fail_msg("no function %s", name);
	return false;
}

static void functions_go_by_file_then_object_then_name(void **state)
{
	struct el_ownership *ownership;
	struct el_profile *profile;

	(void)state;
	sources_enter();
	profile = dither_profile();
	assert_int_equal(el_ownership_new(profile, NULL, 0, &ownership), 0);
	assert_true(is_mine(profile, ownership, "dither(uint8[:,:])"));
	assert_false(is_mine(profile, ownership, "np.round"));
	assert_false(
		is_mine(profile, ownership, "_PyEval_EvalFrameDefault")); /* /usr/bin/python3.11 */
	assert_false(is_mine(profile, ownership, "clear_page_erms"));
	assert_false(el_ownership_is_mine(ownership, 0));
	assert_false(el_ownership_is_mine(ownership, UINT32_MAX));
	el_ownership_free(ownership);
	el_profile_free(profile);

	profile = service_profile();
	assert_int_equal(el_ownership_new(profile, NULL, 0, &ownership), 0);
	assert_true(is_mine(profile, ownership, "JS:*handle /srv/app/server.js:12:3"));
	assert_false(is_mine(profile, ownership, "Builtin:ArrayPrototypePush"));
	el_ownership_free(ownership);
	el_profile_free(profile);
	sources_leave();
}

/* "./deflate.c" of /lib/.../libz.so is not the user's deflate.c. */
static void relative_file_in_a_library_is_the_librarys(void **state)
{
	static const struct el_ownership_rule rule = {"*/deflate.c", true};
	struct el_ownership *ownership;
	struct el_profile *profile;

	(void)state;
	sources_enter();
	profile = program_profile();
	assert_int_equal(el_ownership_new(profile, NULL, 0, &ownership), 0);
	assert_false(is_mine(profile, ownership, "deflate"));
	assert_true(is_mine(profile, ownership, "work"));
	el_ownership_free(ownership);
	assert_int_equal(el_ownership_new(profile, &rule, 1, &ownership), 0);
	assert_true(is_mine(profile, ownership, "deflate"));
	el_ownership_free(ownership);
	el_profile_free(profile);
	sources_leave();
}

static void rules_do_not_claim_the_kernel(void **state)
{
	static const struct el_ownership_rule everything = {"*", true};
	struct el_ownership *ownership;
	struct el_profile *profile;

	(void)state;
	sources_enter();
	profile = dither_profile();
	assert_int_equal(el_ownership_new(profile, &everything, 1, &ownership), 0);
	assert_true(is_mine(profile, ownership, "_PyEval_EvalFrameDefault"));
	assert_true(is_mine(profile, ownership, "np.round"));
	assert_false(is_mine(profile, ownership, "clear_page_erms"));
	el_ownership_free(ownership);
	el_profile_free(profile);
	sources_leave();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_of_libraries_are_not_mine),
		cmocka_unit_test(other_paths_are_mine),
		cmocka_unit_test(last_rule_that_matches_wins),
		cmocka_unit_test(functions_go_by_file_then_object_then_name),
		cmocka_unit_test(relative_file_in_a_library_is_the_librarys),
		cmocka_unit_test(rules_do_not_claim_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
