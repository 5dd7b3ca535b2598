/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to and from the parser: what goes in comes out, and what is cut or forged is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "user/symbolize/protocol.h"

static struct el_cursor cursor_of(const struct el_buffer *buffer)
{
	assert_int_equal(buffer->err, 0);
	return el_cursor_of(buffer->bytes.at, buffer->bytes.n);
}

static uint32_t string(struct el_answer *answer, const char *text)
{
	uint32_t index;

	assert_int_equal(el_strings_add(&answer->strings, text, &index), 0);
	return index;
}

/* Two objects, two functions, an inline chain, three queries of which two share a location. */
static void make_answer(struct el_answer *answer, const char *path)
{
	struct el_answer_object object = {.path = 0, .code = EL_CODE_NATIVE};
	struct el_answer_function function = {.start_line = 7, .code = EL_CODE_NATIVE};
	struct el_answer_line line = {.function = 1, .line = 10};
	struct el_answer_location location = {.object = 2, .first_line = 0, .n_lines = 2};

	assert_int_equal(el_answer_init(answer), 0);
	object.path = string(answer, "/first");
	el_vec_push(&answer->objects, object);
	object.path = string(answer, path);
	object.build_id_size = 3;
	memcpy(object.build_id, "abc", 3);
	el_vec_push(&answer->objects, object);
	function.name = string(answer, "inner");
	function.system_name = function.name;
	function.file = string(answer, "/src/a.c");
	el_vec_push(&answer->functions, function);
	function.name = string(answer, "outer");
	el_vec_push(&answer->functions, function);
	el_vec_push(&answer->lines, line);
	line = (struct el_answer_line){.function = 2, .line = 20, .column = 3};
	el_vec_push(&answer->lines, line);
	location.addr = 0x1234;
	el_vec_push(&answer->locations, location);
	location = (struct el_answer_location){.miss = EL_MISS_NO_FILE, .first_line = 2};
	el_vec_push(&answer->locations, location);
	el_vec_push(&answer->by_query, 1u);
	el_vec_push(&answer->by_query, 2u);
	el_vec_push(&answer->by_query, 1u);
}

static void encode(struct el_buffer *buffer, const char *path)
{
	struct el_answer answer;

	make_answer(&answer, path);
	el_protocol_put_answer(buffer, &answer);
	el_answer_deinit(&answer);
}

static void mapping_comes_back_whole(void **state)
{
	const struct el_mapping mapping = {
		.id = 7,
		.flags = EL_MAPPING_FILE,
		.start = 0x400000,
		.end = 0x500000,
		.offset = 0x1000,
		.dev_major = 8,
		.dev_minor = 1,
		.inode = 99,
		.build_id = "12345678901234567890",
		.build_id_size = 20,
		.path = "/usr/bin/with space",
	};
	struct el_buffer buffer = {0};
	struct el_mapping got;
	struct el_cursor cursor;

	(void)state;
	el_protocol_put_mapping(&buffer, &mapping);
	cursor = cursor_of(&buffer);
	assert_int_equal(el_protocol_get_mapping(&cursor, &got), 0);
	assert_int_equal(el_cursor_left(&cursor), 0);
	assert_string_equal(got.path, mapping.path);
	got.path = mapping.path;
	assert_memory_equal(got.build_id, mapping.build_id, sizeof(got.build_id));
	assert_int_equal(got.start, mapping.start);
	assert_int_equal(got.end, mapping.end);
	assert_int_equal(got.offset, mapping.offset);
	assert_int_equal(got.inode, mapping.inode);
	assert_int_equal(got.build_id_size, 20);
	for (size_t size = 0; size < buffer.bytes.n; size++) {
		cursor = el_cursor_of(buffer.bytes.at, size);
		assert_int_equal(el_protocol_get_mapping(&cursor, &got), -EBADMSG);
	}
	el_buffer_deinit(&buffer);
}

static void mapping_with_oversized_build_id_is_refused(void **state)
{
	const struct el_mapping mapping = {.build_id_size = 21, .path = ""};
	struct el_buffer buffer = {0};
	struct el_mapping got;
	struct el_cursor cursor;

	(void)state;
	el_protocol_put_mapping(&buffer, &mapping);
	cursor = cursor_of(&buffer);
	assert_int_equal(el_protocol_get_mapping(&cursor, &got), -EBADMSG);
	el_buffer_deinit(&buffer);
}

static void queries_come_back_and_cut_ones_do_not(void **state)
{
	const struct el_query queries[] = {{0x10, 5, 1, EL_PC_LATE}, {0x20, 6, 2, EL_PC_RETURN}};
	struct el_queries got = {0};
	struct el_buffer buffer = {0};
	struct el_cursor cursor;

	(void)state;
	el_protocol_put_queries(&buffer, queries, 2);
	cursor = cursor_of(&buffer);
	assert_int_equal(el_protocol_get_queries(&cursor, &got), 0);
	assert_int_equal(got.all.n, 2);
	assert_memory_equal(got.all.at, queries, sizeof(queries));
	for (size_t size = 0; size < buffer.bytes.n; size++) {
		cursor = el_cursor_of(buffer.bytes.at, size);
		assert_int_equal(el_protocol_get_queries(&cursor, &got), -EBADMSG);
	}
	el_vec_deinit(&got.all);
	el_buffer_deinit(&buffer);
}

static void second_answer_is_appended_with_its_own_indexes(void **state)
{
	struct el_buffer buffer = {0};
	const struct el_answer_location *location;
	const struct el_answer_function *function;
	struct el_answer answer;
	struct el_cursor cursor;

	(void)state;
	make_answer(&answer, "/one");
	encode(&buffer, "/two");
	cursor = cursor_of(&buffer);
	assert_int_equal(el_protocol_get_answer(&cursor, 3, &answer), 0);
	assert_int_equal(answer.by_query.n, 6);
	assert_int_equal(answer.by_query.at[3], answer.by_query.at[5]);
	location = &answer.locations.at[answer.by_query.at[3]];
	assert_string_equal(
		el_strings_get(&answer.strings, answer.objects.at[location->object].path), "/two");
	assert_int_equal(location->addr, 0x1234);
	assert_int_equal(location->n_lines, 2);
	function = &answer.functions.at[answer.lines.at[location->first_line + 1].function];
	assert_string_equal(el_strings_get(&answer.strings, function->name), "outer");
	assert_int_equal(answer.lines.at[location->first_line + 1].line, 20);
	location = &answer.locations.at[answer.by_query.at[4]];
	assert_int_equal(location->miss, EL_MISS_NO_FILE);
	assert_int_equal(location->object, 0);
	location = &answer.locations.at[answer.by_query.at[0]];
	assert_string_equal(
		el_strings_get(&answer.strings, answer.objects.at[location->object].path), "/one");
	el_answer_deinit(&answer);
	el_buffer_deinit(&buffer);
}

static void answer_cut_anywhere_is_refused(void **state)
{
	struct el_buffer buffer = {0};

	(void)state;
	encode(&buffer, "/bin/x");
	for (size_t size = 0; size < buffer.bytes.n; size++) {
		struct el_cursor cursor = el_cursor_of(buffer.bytes.at, size);
		struct el_answer answer;

		assert_int_equal(el_answer_init(&answer), 0);
		assert_int_equal(el_protocol_get_answer(&cursor, 3, &answer), -EBADMSG);
		assert_int_equal(answer.locations.n, 1);
		assert_int_equal(answer.by_query.n, 0);
		el_answer_deinit(&answer);
	}
	el_buffer_deinit(&buffer);
}

static void answer_to_another_number_of_queries_is_refused(void **state)
{
	struct el_buffer buffer = {0};
	struct el_answer answer;
	struct el_cursor cursor;

	(void)state;
	encode(&buffer, "/bin/x");
	cursor = cursor_of(&buffer);
	assert_int_equal(el_answer_init(&answer), 0);
	assert_int_equal(el_protocol_get_answer(&cursor, 4, &answer), -EBADMSG);
	el_answer_deinit(&answer);
	el_buffer_deinit(&buffer);
}

/* Whatever single byte is changed, an accepted answer has no index outside its tables. */
static void answer_with_any_byte_forged_has_no_wild_index(void **state)
{
	struct el_buffer buffer = {0};

	(void)state;
	encode(&buffer, "/bin/x");
	for (size_t at = 0; at < buffer.bytes.n; at++) {
		struct el_cursor cursor = cursor_of(&buffer);
		struct el_answer answer;
		uint8_t byte = buffer.bytes.at[at];

		buffer.bytes.at[at] = 0xff;
		assert_int_equal(el_answer_init(&answer), 0);
		if (!el_protocol_get_answer(&cursor, 3, &answer)) {
			for (size_t i = 0; i < answer.by_query.n; i++)
				assert_true(answer.by_query.at[i] < answer.locations.n);
			for (size_t i = 0; i < answer.locations.n; i++) {
				const struct el_answer_location *row = &answer.locations.at[i];

				assert_true(row->object < answer.objects.n);
				assert_true(row->miss < EL_N_MISSES);
				assert_true((uint64_t)row->first_line + row->n_lines <=
					    answer.lines.n);
			}
			for (size_t i = 0; i < answer.lines.n; i++)
				assert_true(answer.lines.at[i].function < answer.functions.n);
			for (size_t i = 0; i < answer.functions.n; i++)
				assert_true(answer.functions.at[i].name < answer.strings.start.n);
		}
		el_answer_deinit(&answer);
		buffer.bytes.at[at] = byte;
	}
	el_buffer_deinit(&buffer);
}

static void location_with_lines_past_the_table_is_refused(void **state)
{
	struct el_buffer buffer = {0};
	struct el_answer answer, got;
	struct el_cursor cursor;

	(void)state;
	make_answer(&answer, "/bin/x");
	answer.locations.at[1].n_lines = 3;
	el_protocol_put_answer(&buffer, &answer);
	cursor = cursor_of(&buffer);
	assert_int_equal(el_answer_init(&got), 0);
	assert_int_equal(el_protocol_get_answer(&cursor, 3, &got), -EBADMSG);
	el_answer_deinit(&got);
	el_answer_deinit(&answer);
	el_buffer_deinit(&buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mapping_comes_back_whole),
		cmocka_unit_test(mapping_with_oversized_build_id_is_refused),
		cmocka_unit_test(queries_come_back_and_cut_ones_do_not),
		cmocka_unit_test(second_answer_is_appended_with_its_own_indexes),
		cmocka_unit_test(answer_cut_anywhere_is_refused),
		cmocka_unit_test(answer_to_another_number_of_queries_is_refused),
		cmocka_unit_test(answer_with_any_byte_forged_has_no_wild_index),
		cmocka_unit_test(location_with_lines_past_the_table_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
