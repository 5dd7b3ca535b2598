/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The renderers over whole profiles: against the files in tests/golden (named
 * INPUT.REPORT.FLAGS; EL_GOLDEN_WRITE=1 writes them), and what must hold for any input.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/unit/skip.h"
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/unit/report_profiles.h"
#include "user/report/escape.h"
#include "user/report/report.h"

static char *golden_folder;

static int enter(void **state)
{
	(void)state;
	sources_enter();
	return 0;
}

static int leave(void **state)
{
	(void)state;
	sources_leave();
	return 0;
}

/* The report as a string, which the caller frees. */
static char *text_of(const char *report, const struct el_profile *profile,
		     const struct el_report_options *options)
{
	struct el_buffer out = {0};
	struct el_error error = {0};
	int err = el_report_text(el_report_find(report), profile, options, &out, &error);

	if (err)
		fail_msg("%s: %s", report, error.text);
	el_buffer_add_u8(&out, 0);
	assert_int_equal(out.err, 0);
	return (char *)out.bytes.at;
}

/* The test's own folder has another name each time. */
static char *with_folder_named(char *text)
{
	el_auto_free char *folder = getcwd(NULL, 0);
	char *result = calloc(1, strlen(text) + 1), *at = result;
	char *from = text;

	for (char *found; (found = strstr(from, folder)); from = found + strlen(folder)) {
		at = mempcpy(at, from, found - from);
		at = stpcpy(at, "FOLDER");
	}
	strcpy(at, from);
	free(text);
	return result;
}

static void compare(const char *name, const char *text)
{
	char path[4096], have[65536] = "";
	el_auto_file FILE *file = NULL;

	if (!golden_folder)
		skip_because("the goldens are not where they were at the build");
	snprintf(path, sizeof(path), "%s/%s", golden_folder, name);
	if (getenv("EL_GOLDEN_WRITE")) {
		file = fopen(path, "we");
		assert_non_null(file);
		fputs(text, file);
		return;
	}
	file = fopen(path, "re");
	if (!file)
		fail_msg("%s is missing: EL_GOLDEN_WRITE=1 writes it", path);
	have[fread(have, 1, sizeof(have) - 1, file)] = '\0';
	if (strcmp(have, text))
		fail_msg("%s differs; now it is:\n%s", name, text);
}

static void check_golden(struct el_profile *profile, const char *report, const char *name,
			 const struct el_report_options *options)
{
	el_auto_free char *text = with_folder_named(text_of(report, profile, options));

	el_profile_free(profile);
	compare(name, text);
}

#define OPTIONS(...) (&(struct el_report_options){__VA_ARGS__})

static void goldens_of_annotated_source(void **state)
{
	(void)state;
	check_golden(dither_profile(), "lines", "dither.lines", OPTIONS(0));
	check_golden(dither_profile(), "lines", "dither.lines.all", OPTIONS(.all = true));
	check_golden(dither_profile(), "lines", "dither.lines.json", OPTIONS(.json = true));
	check_golden(dither_profile(), "lines", "dither.lines.kind-numba",
		     OPTIONS(.kind = "numba"));
	check_golden(dither_profile(), "lines", "dither.lines.colour-width80",
		     OPTIONS(.colour = true, .width = 80));
	check_golden(program_profile(), "lines", "program.lines", OPTIONS(0));
	check_golden(program_profile(), "lines", "program.lines.function-work-context0",
		     OPTIONS(.functions = (const char *[]){"work"}, .n_functions = 1,
			     .context_given = true));
	check_golden(faults_profile(), "lines", "faults.lines", OPTIONS(0));
	check_golden(service_profile(), "lines", "service.lines", OPTIONS(0));
}

static void goldens_of_tables(void **state)
{
	static const char *const views[] = {"line",    "function", "file",   "module",
					    "process", "thread",   "address"};
	char name[64];

	(void)state;
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		snprintf(name, sizeof(name), "dither.table.%s", views[i]);
		check_golden(dither_profile(), "table", name, OPTIONS(.by = views[i]));
	}
	check_golden(dither_profile(), "table", "dither.table.function-all-cum",
		     OPTIONS(.all = true, .sort_cum = true));
	check_golden(dither_profile(), "table", "dither.table.line-json",
		     OPTIONS(.by = "line", .json = true));
	check_golden(faults_profile(), "table", "faults.table.line", OPTIONS(.by = "line"));
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in:\n%s", part, text);
}

static void has_not(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("\"%s\" is in:\n%s", part, text);
}

static char *lines_of(struct el_profile *profile, const struct el_report_options *options)
{
	char *text = text_of("lines", profile, options);

	el_profile_free(profile);
	return text;
}

static void changed_source_is_said(void **state)
{
	struct el_profile *profile = dither_profile();
	el_auto_free char *text = NULL;

	(void)state;
	source_write("dither.py", "newer\n", time(NULL));
	text = lines_of(profile, OPTIONS(0));
	has(text, "changed since the recording began");
	has(text, "fewer lines than were sampled");
	has(text, "| 19 #\n"); /* the share stays, with no text beside it */
}

static void source_changed_after_a_build_is_said(void **state)
{
	struct el_profile *profile = program_profile();
	el_auto_free char *text = NULL;

	(void)state;
	source_write("program.c", "newer\n", time(NULL));
	text = lines_of(profile, OPTIONS(0));
	has(text, "changed since the program was built");
}

static void absent_source_is_said_and_lines_keep_their_shares(void **state)
{
	struct el_profile *profile = program_profile();
	el_auto_free char *text = NULL;

	(void)state;
	assert_int_equal(unlink("program.c"), 0);
	text = lines_of(profile, OPTIONS(0));
	has(text, "source not found: ");
	has(text, "  30.0   30.0 | 10 ###\n");
}

static void long_cold_gaps_are_folded(void **state)
{
	el_auto_free char *text = NULL;

	(void)state;
	text = lines_of(program_profile(), OPTIONS(.all = true));
	has(text, "…  5 lines\n");
	has_not(text, "| 15 ");
}

static void library_rule_moves_a_file_behind_the_others(void **state)
{
	static const struct el_ownership_rule rule = {"*/program.c", false};
	el_auto_free char *text = NULL;

	(void)state;
	text = lines_of(program_profile(), OPTIONS(.rules = &rule, .n_rules = 1));
	has(text, "your code 0.0 %");
	has(text, ", library\n");
}

static void filter_that_matches_nothing_says_so(void **state)
{
	el_auto_free char *text = NULL;

	(void)state;
	text = lines_of(program_profile(),
			OPTIONS(.files = (const char *[]){"no-such.c"}, .n_files = 1));
	has(text, "nothing that was sampled matches");
}

static void exact_counts_are_on_their_lines(void **state)
{
	el_auto_free char *text = NULL;

	(void)state;
	text = lines_of(faults_profile(), OPTIONS(0));
	has(text, " 4,096   97.7   97.7 | 4 ###");
	has(text, "     1   <0.1   <0.1 | 3 ");
	has(text, "every one counted");
}

static void empty_profile_says_so(void **state)
{
	struct el_profile *profile = program_profile();
	el_auto_free char *text = NULL;

	(void)state;
	profile->samples.n = 0;
	text = lines_of(profile, OPTIONS(0));
	has(text, "no samples: ");
}

static void losses_are_named_in_the_heading(void **state)
{
	struct el_profile *profile = program_profile();
	el_auto_free char *text = NULL;

	(void)state;
	for (size_t i = 0; i < profile->counters.n; i++)
		if (!strcmp(el_strings_get(&profile->strings, profile->counters.at[i].name),
			    "lost ring"))
			profile->counters.at[i].value = 30000000;
	text = lines_of(profile, OPTIONS(0));
	has(text, "lost 30.0ms (3.00 %) ring buffer full");
	has(text, "counters: elapsed ");
	has(text, "lost ring 30000000 ns");
}

static void verbose_explains_every_counter(void **state)
{
	struct el_profile *profile = program_profile();
	el_auto_free char *text = NULL;

	(void)state;
	text = text_of("lines", profile, OPTIONS(.verbose = true));
	for (size_t i = 0; i < profile->counters.n; i++)
		has(text, el_strings_get(&profile->strings, profile->counters.at[i].name));
	has(text, " ns  elapsed: as counted\n");
	has(text, " 0 ns  lost ring: as counted\n");
	assert_null(strstr(text, "others 0"));
	el_profile_free(profile);
}

static void unknown_view_and_kind_are_refused(void **state)
{
	struct el_profile *profile = dither_profile();
	struct el_buffer out = {0};
	struct el_error error;

	(void)state;
	assert_int_equal(el_report_text(el_report_find("table"), profile, OPTIONS(.by = "colour"),
					&out, &error),
			 -EINVAL);
	has(error.text, "--by colour");
	assert_int_equal(el_report_text(el_report_find("lines"), profile, OPTIONS(.kind = "cobol"),
					&out, &error),
			 -EINVAL);
	has(error.text, "--kind cobol");
	assert_null(el_report_find("no-such"));
	el_buffer_deinit(&out);
	el_profile_free(profile);
}

static void full_disk_is_an_error(void **state)
{
	struct el_profile *profile = dither_profile();
	FILE *full = fopen("/dev/full", "we");
	struct el_error error;

	(void)state;
	if (!full)
		skip_because("no /dev/full");
	assert_int_equal(
		el_report_render(el_report_find("lines"), profile, OPTIONS(0), full, &error),
		-ENOSPC);
	has(error.text, "cannot write");
	fclose(full);
	el_profile_free(profile);
}

/* Only text, and colour codes of our own. */
static void check_harmless(const char *text)
{
	size_t size = strlen(text), used;
	uint32_t code;

	for (size_t at = 0; at < size; at += used) {
		used = el_utf8_decode(text + at, size - at, &code);
		assert_int_not_equal(used, 0);
		if (code == '\n')
			continue;
		if (code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x202e)
			fail_msg("byte %zu is %" PRIx32 " in:\n%s", at, code, text);
	}
}

static void check_all_reports(const char *bytes, bool json)
{
	struct el_profile *profile = hostile_profile(bytes);

	for (const struct el_report *report = el_reports; report->name; report++) {
		el_auto_free char *text = NULL;
		json_error_t error;
		json_t *read;

		text = text_of(report->name, profile,
			       OPTIONS(.json = json, .all = true, .by = "line", .width = 90));
		check_harmless(text);
		if (!json)
			continue;
		read = json_loads(text, 0, &error);
		if (!read)
			fail_msg("%s at %d: %s", error.text, error.position, text);
		json_decref(read);
	}
	el_profile_free(profile);
}

static void any_byte_in_names_and_sources_is_shown_harmlessly(void **state)
{
	char bytes[8];

	(void)state;
	for (int byte = 1; byte < 256; byte++) {
		snprintf(bytes, sizeof(bytes), "a%cb", byte);
		check_all_reports(bytes, false);
		check_all_reports(bytes, true);
	}
	check_all_reports("\xe2\x80\xae reversed", false);
	check_all_reports("", false);
	check_all_reports("", true);
}

static void a_hundred_thousand_samples_take_no_time(void **state)
{
	struct el_profile *profile = large_profile(100000);
	el_auto_free char *text = NULL;
	clock_t start = clock();
	double seconds;

	(void)state;
	text = text_of("lines", profile, OPTIONS(0));
	seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
	assert_true(strlen(text) < 20000);
	/* 0.2 s without sanitizers: the bound catches what grows with the square. */
	if (seconds > 5)
		fail_msg("%.2f s", seconds);
	el_profile_free(profile);
}

static void first_screen_is_at_most_60_source_lines(void **state)
{
	el_auto_free char *text = NULL;
	int n = 0;

	(void)state;
	source_write("large0.c", "x\n", 1);
	text = lines_of(large_profile(20000), OPTIONS(0));
	for (const char *at = text; (at = strstr(at, " | ")); at++)
		n += at[3] >= '0' && at[3] <= '9';
	assert_in_range(n, 1, 62);
}

static void find_goldens(void)
{
	char folder[4096] = __FILE__;
	char *slash = strrchr(folder, '/');

	strcpy(slash ? slash + 1 : folder, "../golden");
	golden_folder = realpath(folder, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(goldens_of_annotated_source),
		cmocka_unit_test(goldens_of_tables),
		cmocka_unit_test(changed_source_is_said),
		cmocka_unit_test(source_changed_after_a_build_is_said),
		cmocka_unit_test(absent_source_is_said_and_lines_keep_their_shares),
		cmocka_unit_test(long_cold_gaps_are_folded),
		cmocka_unit_test(library_rule_moves_a_file_behind_the_others),
		cmocka_unit_test(filter_that_matches_nothing_says_so),
		cmocka_unit_test(exact_counts_are_on_their_lines),
		cmocka_unit_test(empty_profile_says_so),
		cmocka_unit_test(losses_are_named_in_the_heading),
		cmocka_unit_test(verbose_explains_every_counter),
		cmocka_unit_test(unknown_view_and_kind_are_refused),
		cmocka_unit_test(full_disk_is_an_error),
		cmocka_unit_test(any_byte_in_names_and_sources_is_shown_harmlessly),
		cmocka_unit_test(a_hundred_thousand_samples_take_no_time),
		cmocka_unit_test(first_screen_is_at_most_60_source_lines),
	};
	int failed;

	find_goldens();
	failed = cmocka_run_group_tests(tests, enter, leave);
	free(golden_folder);
	return failed;
}
