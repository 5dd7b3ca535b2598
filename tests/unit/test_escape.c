/* SPDX-License-Identifier: Apache-2.0 */
/* What reaches a terminal or a JSON reader of names that mean harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <jansson.h>

#include "user/report/escape.h"

static void check(const char *text, size_t size, const struct el_escape_options *options,
		  const char *expected, size_t columns)
{
	struct el_buffer out = {0};
	size_t taken = el_escape_text(&out, text, size, options);

	el_buffer_add_u8(&out, 0);
	assert_int_equal(out.err, 0);
	assert_string_equal((char *)out.bytes.at, expected);
	assert_int_equal(taken, columns);
	assert_int_equal(el_escape_width(text, size, options), columns);
	el_buffer_deinit(&out);
}

static void check_name(const char *text, const char *expected, size_t columns)
{
	check(text, strlen(text), NULL, expected, columns);
}

static void printable_text_passes(void **state)
{
	(void)state;
	check_name("dither(uint8[:,:])", "dither(uint8[:,:])", 18);
	check_name("größe π 名前", "größe π 名前", 12);
	check_name("a\\b", "a\\b", 3);
	check_name("e\xcc\x81", "e\xcc\x81", 1); /* combining */
}

static void control_characters_are_shown(void **state)
{
	(void)state;
	check_name("\033[2J", "\\x1b[2J", 7);
	check_name("a\tb\nc\r\x7f", "a\\x09b\\x0ac\\x0d\\x7f", 19);
	check_name("\xc2\x9b"
		   "31m",
		   "\\u{9b}31m", 9); /* C1 CSI */
	check("a\0b", 3, NULL, "a\\x00b", 6);
}

static void reordering_and_invisible_characters_are_shown(void **state)
{
	(void)state;
	check_name("a\xe2\x80\xae"
		   "b",
		   "a\\u{202e}b", 10);
	check_name("\xe2\x81\xa6", "\\u{2066}", 8);
	check_name("\xe2\x80\x8b", "\\u{200b}", 8);
	check_name("\xef\xbb\xbf", "\\u{feff}", 8);
	check_name("\xf3\xa0\x80\xa1", "\\u{e0021}", 9);
}

static void broken_utf8_is_shown_byte_by_byte(void **state)
{
	(void)state;
	check_name("\xff", "\\xff", 4);
	check_name("\xc3", "\\xc3", 4);
	check_name("\xc0\xaf", "\\xc0\\xaf", 8);                    /* overlong */
	check_name("\xed\xa0\x80", "\\xed\\xa0\\x80", 12);          /* surrogate */
	check_name("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", 16); /* past the last */
	check_name("\xe2\x80", "\\xe2\\x80", 8);                    /* cut */
}

static void long_text_is_cut_with_a_mark(void **state)
{
	struct el_escape_options options = {.columns = 5};

	(void)state;
	check("12345", 5, &options, "12345", 5);
	check("123456", 6, &options, "1234…", 5);
	check("123\033", 4, &options, "123…", 4); /* an escape is never cut in two */
	check("名前名前", 12, &options, "名前…", 5);
}

static void tabs_reach_the_next_stop(void **state)
{
	struct el_escape_options options = {.expand_tabs = true};

	(void)state;
	check("\ta\tb", 4, &options, "        a       b", 17);
}

static bool is_harmless(const struct el_buffer *out)
{
	uint32_t code;
	size_t used;

	for (size_t at = 0; at < out->bytes.n; at += used) {
		used = el_utf8_decode((char *)out->bytes.at + at, out->bytes.n - at, &code);
		if (!used || code < 0x20 || (code >= 0x7f && code < 0xa0))
			return false;
	}
	return true;
}

static void every_byte_and_pair_of_bytes_is_harmless(void **state)
{
	(void)state;
	for (int a = 0; a < 256; a++) {
		for (int b = 0; b < 256; b++) {
			const char text[3] = {(char)a, (char)b, 'x'};
			struct el_buffer out = {0};

			el_escape_text(&out, text, 3, NULL);
			assert_true(is_harmless(&out));
			el_buffer_deinit(&out);
		}
	}
}

/* JSON keeps what is text, also what must not be shown: a reader gets it back. */
static void json_of_every_byte_is_read_back(void **state)
{
	(void)state;
	for (int a = 1; a < 256; a++) {
		const char text[4] = {'<', (char)a, '>', 0};
		struct el_buffer out = {0};
		json_error_t error;
		json_t *json;

		el_buffer_add(&out, "[\"", 2);
		el_escape_json(&out, text, 3);
		el_buffer_add(&out, "\"]", 2);
		assert_true(is_harmless(&out));
		json = json_loadb((char *)out.bytes.at, out.bytes.n, 0, &error);
		assert_non_null(json);
		if (a < 128)
			assert_string_equal(json_string_value(json_array_get(json, 0)), text);
		json_decref(json);
		el_buffer_deinit(&out);
	}
}

static void json_of_a_code_point_past_16_bits_is_read_back(void **state)
{
	static const char text[] = "\xf3\xa0\x80\xa1"; /* a tag character: a surrogate pair */
	struct el_buffer out = {0};
	json_error_t error;
	json_t *json;

	(void)state;
	el_buffer_add(&out, "[\"", 2);
	el_escape_json(&out, text, 4);
	el_buffer_add(&out, "\"]", 2);
	json = json_loadb((char *)out.bytes.at, out.bytes.n, 0, &error);
	assert_string_equal(json_string_value(json_array_get(json, 0)), text);
	json_decref(json);
	el_buffer_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(printable_text_passes),
		cmocka_unit_test(control_characters_are_shown),
		cmocka_unit_test(reordering_and_invisible_characters_are_shown),
		cmocka_unit_test(broken_utf8_is_shown_byte_by_byte),
		cmocka_unit_test(long_text_is_cut_with_a_mark),
		cmocka_unit_test(tabs_reach_the_next_stop),
		cmocka_unit_test(every_byte_and_pair_of_bytes_is_harmless),
		cmocka_unit_test(json_of_every_byte_is_read_back),
		cmocka_unit_test(json_of_a_code_point_past_16_bits_is_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
