/* SPDX-License-Identifier: Apache-2.0 */
/* Perf maps: lines, overlaps against an oracle, growth, and the names of V8 and CPython. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbolizer/perfmap.h"
#include "symbolizer/perfmap_name.h"

static struct el_perfmap map;

static int setup(void **state)
{
	(void)state;
	return el_perfmap_init(&map);
}

static int teardown(void **state)
{
	(void)state;
	el_perfmap_deinit(&map);
	return 0;
}

static void parse(const char *text)
{
	el_perfmap_parse(&map, text, strlen(text));
}

/* "" when there is none. */
static const char *name_at(uint64_t addr)
{
	const char *name;
	uint64_t start;

	return el_perfmap_find(&map, addr, &start, &name) ? name : "";
}

static int file_of(const char *text)
{
	int fd = memfd_create("map", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	return fd;
}

static void add_text(int fd, const char *text)
{
	lseek(fd, 0, SEEK_END);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void plain_line_covers_its_bytes_only(void **state)
{
	(void)state;
	parse("1000 20 fib\n");
	assert_string_equal(name_at(0xfff), "");
	assert_string_equal(name_at(0x1000), "fib");
	assert_string_equal(name_at(0x101f), "fib");
	assert_string_equal(name_at(0x1020), "");
}

static void names_with_blanks_and_0x_are_kept_whole(void **state)
{
	(void)state;
	parse("0x00001000 0x20 int Fib.fib(int)\n2000 10 JS:*get value /a b.js:1:2\n");
	assert_string_equal(name_at(0x1001), "int Fib.fib(int)");
	assert_string_equal(name_at(0x2001), "JS:*get value /a b.js:1:2");
}

static void line_without_its_end_waits(void **state)
{
	const char *text = "1000 10 one\n2000 10 tw";

	(void)state;
	assert_int_equal(el_perfmap_parse(&map, text, strlen(text)), 12);
	assert_string_equal(name_at(0x2000), "");
	assert_int_equal(map.n_bad_lines, 0);
}

static void bad_lines_are_counted_and_harmless(void **state)
{
	(void)state;
	parse("nonsense\n1000 zz x\n1000 10\n1000 10 \nfffffffffffffffff 10 wide\n"
	      "ffffffffffffffff 2 overflow\n0 ffffffffffffffff everything\n\n3000 0 empty\n"
	      "1000 10 good\n");
	assert_int_equal(map.n_bad_lines, 7);
	assert_int_equal(map.n_entries, 1);
	assert_string_equal(name_at(0x1000), "good");
	assert_string_equal(name_at(0x3000), "");
}

static void overlapping_entries_newest_wins(void **state)
{
	(void)state;
	parse("1000 100 old\n1040 20 middle\n1050 8 inner\n");
	assert_string_equal(name_at(0x103f), "old");
	assert_string_equal(name_at(0x1040), "middle");
	assert_string_equal(name_at(0x1050), "inner");
	assert_string_equal(name_at(0x1058), "middle");
	assert_string_equal(name_at(0x1060), "old");
	parse("1030 18 later\n");
	assert_string_equal(name_at(0x102f), "old");
	assert_string_equal(name_at(0x1047), "later");
	assert_string_equal(name_at(0x1048), "middle");
}

/* The oracle paints every byte of a small memory in file order. */
static void random_overlaps_equal_painting(void **state)
{
	enum { SIZE = 512, ROUNDS = 60, LOTS = 6 };
	static int painted[SIZE];
	char line[64], expected[16];

	(void)state;
	srand(1);
	for (int round = 0; round < ROUNDS; round++) {
		int n = 0;

		el_perfmap_deinit(&map);
		assert_int_equal(el_perfmap_init(&map), 0);
		memset(painted, 0, sizeof(painted));
		for (int lot = 0; lot < LOTS; lot++) {
			for (int i = rand() % 12; i >= 0; i--) {
				int start = rand() % SIZE, size = 1 + rand() % 60;

				snprintf(line, sizeof(line), "%x %x f%d\n", start, size, ++n);
				parse(line);
				for (int at = start; at < start + size && at < SIZE; at++)
					painted[at] = n;
			}
			for (int at = 0; at < SIZE; at++) {
				snprintf(expected, sizeof(expected), "f%d", painted[at]);
				if (!painted[at])
					expected[0] = 0;
				assert_string_equal(name_at(at), expected);
			}
		}
	}
}

static void growing_file_is_read_from_where_it_ended(void **state)
{
	int fd = file_of("1000 10 one\n2000 10 tw");

	(void)state;
	assert_int_equal(el_perfmap_read(&map, fd), 0);
	assert_string_equal(name_at(0x2000), "");
	add_text(fd, "o\n3000 10 three\n");
	assert_int_equal(el_perfmap_read(&map, fd), 0);
	assert_string_equal(name_at(0x1000), "one");
	assert_string_equal(name_at(0x2000), "two");
	assert_string_equal(name_at(0x3000), "three");
	assert_int_equal(map.n_entries, 3);
	assert_int_equal(el_perfmap_read(&map, fd), 0);
	assert_int_equal(map.n_entries, 3);
	close(fd);
}

static void file_written_anew_replaces_what_was_read(void **state)
{
	int fd = file_of("1000 10 one\n2000 10 two\n");

	(void)state;
	assert_int_equal(el_perfmap_read(&map, fd), 0);
	assert_int_equal(ftruncate(fd, 0), 0); /* shorter */
	add_text(fd, "1000 10 new\n");
	assert_int_equal(el_perfmap_read(&map, fd), 0);
	assert_string_equal(name_at(0x1000), "new");
	assert_string_equal(name_at(0x2000), "");
	assert_int_equal(ftruncate(fd, 0), 0); /* longer, other text */
	add_text(fd, "4000 10 other\n5000 10 another\n");
	assert_int_equal(el_perfmap_read(&map, fd), 0);
	assert_string_equal(name_at(0x1000), "");
	assert_string_equal(name_at(0x5000), "another");
	assert_int_equal(map.n_rewrites, 2);
	close(fd);
}

static void endless_line_is_one_bad_line(void **state)
{
	enum { LONG = 1 << 20 };
	char *text = malloc(LONG + 1);
	int fd;

	(void)state;
	memset(text, 'x', LONG);
	memcpy(text, "1000 10 ", 8);
	text[LONG] = 0;
	fd = file_of(text);
	add_text(fd, "\n2000 10 after\n");
	assert_int_equal(el_perfmap_read(&map, fd), 0);
	assert_int_equal(map.n_bad_lines, 1);
	assert_string_equal(name_at(0x1000), "");
	assert_string_equal(name_at(0x2000), "after");
	free(text);
	close(fd);
}

static void what_is_no_regular_file_is_refused(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(el_perfmap_read(&map, ends[0]), -EINVAL);
	close(ends[0]);
	close(ends[1]);
}

static void random_bytes_do_no_harm(void **state)
{
	char noise[5000];

	(void)state;
	srand(2);
	for (int round = 0; round < 50; round++) {
		for (size_t i = 0; i < sizeof(noise); i++)
			noise[i] = rand() % 3 ? "0123456789abcdefx \n"[rand() % 19] : rand();
		el_perfmap_parse(&map, noise, sizeof(noise));
		for (uint64_t addr = 0; addr < 64; addr++)
			name_at(addr * 0x1111);
	}
	assert_true(map.n_bad_lines > 0);
}

static struct el_perfmap_name name;

static void v8_names_give_function_file_and_first_line(void **state)
{
	(void)state;
	assert_true(el_perfmap_name_parse("JS:*fib /path/fib.js:1:13", &name));
	assert_string_equal(name.name, "fib");
	assert_string_equal(name.file, "/path/fib.js");
	assert_int_equal(name.line, 1);
	assert_true(el_perfmap_name_parse("LazyCompile:~get value /a b/c.js:20:3", &name));
	assert_string_equal(name.name, "get value");
	assert_string_equal(name.file, "/a b/c.js");
	assert_int_equal(name.line, 20);
	assert_true(el_perfmap_name_parse("JS:^run file:///a/m.mjs:7:1", &name));
	assert_string_equal(name.file, "/a/m.mjs");
	assert_true(el_perfmap_name_parse("JS:* /a/c.js:2:1", &name));
	assert_string_equal(name.name, "(anonymous)");
	assert_true(el_perfmap_name_parse("JS:~emit node:events:465:44", &name));
	assert_string_equal(name.file, "node:events");
}

static void names_of_other_forms_stay_as_they_are(void **state)
{
	(void)state;
	assert_false(el_perfmap_name_parse("Builtin:ArrayMap", &name));
	assert_false(el_perfmap_name_parse("JS:*fib", &name));
	assert_false(el_perfmap_name_parse("JS:*fib /a.js:1", &name));
	assert_false(el_perfmap_name_parse("JS:*fib /a.js:99999999999:1", &name));
	assert_false(el_perfmap_name_parse("JS::1:1", &name));
	assert_false(el_perfmap_name_parse("int Fib.fib(int)", &name));
	assert_false(el_perfmap_name_parse("py::", &name));
	assert_false(el_perfmap_name_parse("", &name));
}

static void python_trampolines_give_function_and_file(void **state)
{
	(void)state;
	assert_true(el_perfmap_name_parse("py::Shape.area:/a/b:c.py", &name));
	assert_string_equal(name.name, "Shape.area");
	assert_string_equal(name.file, "/a/b:c.py");
	assert_int_equal(name.line, 0);
	assert_true(name.is_python);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(plain_line_covers_its_bytes_only),
		TEST(names_with_blanks_and_0x_are_kept_whole),
		TEST(line_without_its_end_waits),
		TEST(bad_lines_are_counted_and_harmless),
		TEST(overlapping_entries_newest_wins),
		TEST(random_overlaps_equal_painting),
		TEST(growing_file_is_read_from_where_it_ended),
		TEST(file_written_anew_replaces_what_was_read),
		TEST(endless_line_is_one_bad_line),
		TEST(what_is_no_regular_file_is_refused),
		TEST(random_bytes_do_no_harm),
		cmocka_unit_test(v8_names_give_function_file_and_first_line),
		cmocka_unit_test(names_of_other_forms_stay_as_they_are),
		cmocka_unit_test(python_trampolines_give_function_and_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
