/* SPDX-License-Identifier: Apache-2.0 */
/* Source files that are there, are not, or are something else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/report_profiles.h"
#include "user/report/sources.h"

static int enter(void **state)
{
	sources_enter();
	return el_sources_new((struct el_sources **)state);
}

static int leave(void **state)
{
	el_sources_free(*state);
	sources_leave();
	return 0;
}

static const struct el_source_file *get(void **state, const char *path)
{
	const struct el_source_file *file = NULL;

	assert_int_equal(el_sources_get(*state, path, &file), 0);
	return file;
}

static void check_line(const struct el_source_file *file, uint32_t number, const char *expected)
{
	size_t size;
	const char *line = el_source_line(file, number, &size);

	assert_non_null(line);
	assert_int_equal(size, strlen(expected));
	assert_memory_equal(line, expected, size);
}

static void lines_are_found_by_number(void **state)
{
	const struct el_source_file *file;
	size_t size;

	source_write("a.c", "one\r\n\nthree\nlast", 1000);
	file = get(state, "a.c");
	assert_int_equal(el_source_state(file), EL_SOURCE_READ);
	assert_int_equal(el_source_n_lines(file), 4);
	assert_int_equal(el_source_changed_ns(file), 1000 * 1000000000ull);
	check_line(file, 1, "one");
	check_line(file, 2, "");
	check_line(file, 3, "three");
	check_line(file, 4, "last");
	assert_null(el_source_line(file, 0, &size));
	assert_null(el_source_line(file, 5, &size));
	assert_null(el_source_line(file, UINT32_MAX, &size));
}

static void empty_file_has_no_lines(void **state)
{
	source_write("empty.c", "", 1000);
	assert_int_equal(el_source_n_lines(get(state, "empty.c")), 0);
}

static void absent_file_is_said(void **state)
{
	assert_int_equal(el_source_state(get(state, "no-such.c")), EL_SOURCE_ABSENT);
	assert_int_equal(el_source_state(get(state, "")), EL_SOURCE_ABSENT);
	assert_int_equal(el_source_state(get(state, "<string>")), EL_SOURCE_ABSENT);
	assert_int_equal(el_source_n_lines(get(state, "no-such.c")), 0);
}

/* Would block for ever if it were opened for reading. */
static void fifo_is_not_opened(void **state)
{
	assert_int_equal(mkfifo("fifo.c", 0600), 0);
	assert_int_equal(el_source_state(get(state, "fifo.c")), EL_SOURCE_NOT_FILE);
}

static void devices_folders_and_proc_are_refused(void **state)
{
	assert_int_equal(el_source_state(get(state, "/dev/zero")), EL_SOURCE_NOT_FILE);
	assert_int_equal(el_source_state(get(state, "/tmp")), EL_SOURCE_NOT_FILE);
	assert_int_equal(el_source_state(get(state, "/proc/self/environ")), EL_SOURCE_NOT_FILE);
	assert_int_equal(symlink("/dev/zero", "link.c"), 0);
	assert_int_equal(el_source_state(get(state, "link.c")), EL_SOURCE_NOT_FILE);
}

static void sparse_giant_is_refused(void **state)
{
	int fd = open("giant.c", O_WRONLY | O_CREAT, 0600);

	assert_int_equal(ftruncate(fd, 1ll << 40), 0);
	close(fd);
	assert_int_equal(el_source_state(get(state, "giant.c")), EL_SOURCE_TOO_LARGE);
}

static void more_files_than_are_kept_are_read_again(void **state)
{
	char name[32], text[32];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 20; i++) {
			snprintf(name, sizeof(name), "f%d.c", i);
			snprintf(text, sizeof(text), "text %d", i);
			source_write(name, text, 1000);
			check_line(get(state, name), 1, text);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_found_by_number),
		cmocka_unit_test(empty_file_has_no_lines),
		cmocka_unit_test(absent_file_is_said),
		cmocka_unit_test(fifo_is_not_opened),
		cmocka_unit_test(devices_folders_and_proc_are_refused),
		cmocka_unit_test(sparse_giant_is_refused),
		cmocka_unit_test(more_files_than_are_kept_are_read_again),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
