/* SPDX-License-Identifier: Apache-2.0 */
/* The GDB JIT list: walks over good, changing and hostile lists, and objects that come and go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/jit_world.h"

#define SECOND 1000000000ull

static struct jit_world *world;
static struct el_gdbjit_list list;

static int setup(void **state)
{
	(void)state;
	world = malloc(sizeof(*world));
	jit_world_init(world);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	el_gdbjit_list_deinit(&list);
	jit_world_deinit(world);
	free(world);
	return 0;
}

static int walk(void)
{
	struct el_gdbjit_memory memory = jit_world_memory(world);

	return el_gdbjit_list_read(&list, &memory, world->descriptor, world->now_ns + SECOND);
}

/* --- the walk --- */

static void list_is_read_newest_first(void **state)
{
	uint64_t first = jit_world_link(world, WORLD_BASE, 100);
	uint64_t second = jit_world_link(world, WORLD_BASE + 8, 200);

	(void)state;
	assert_int_equal(walk(), 0);
	assert_true(list.complete);
	assert_int_equal(list.entries.n, 2);
	assert_int_equal(list.entries.at[0].addr, second);
	assert_int_equal(list.entries.at[1].addr, first);
	assert_int_equal(list.entries.at[1].symfile_size, 100);
}

static void empty_list_is_complete(void **state)
{
	(void)state;
	assert_int_equal(walk(), 0);
	assert_true(list.complete);
	assert_int_equal(list.entries.n, 0);
}

static void other_version_is_no_list(void **state)
{
	(void)state;
	world->memory[world->descriptor - WORLD_BASE] = 2;
	assert_int_equal(walk(), -EINVAL);
}

static void close_entries_are_read_by_pages(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++)
		jit_world_link(world, WORLD_BASE, 100);
	assert_int_equal(walk(), 0);
	assert_int_equal(list.entries.n, 1000);
	assert_in_range(world->n_reads, 1, 40);
}

static void cycle_ends_the_walk(void **state)
{
	uint64_t entries[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		entries[i] = jit_world_link(world, WORLD_BASE, 100);
	jit_world_poke(world, entries[0], entries[2]);
	assert_int_equal(walk(), 0);
	assert_false(list.complete);
	assert_in_range(list.entries.n, 1, 3);
	/* With the link back too, as far as one can be. */
	jit_world_poke(world, entries[2] + 8, entries[0]);
	assert_int_equal(walk(), 0);
	assert_false(list.complete);
	jit_world_poke(world, entries[2], entries[2]);
	jit_world_poke(world, entries[2] + 8, 0);
	assert_int_equal(walk(), 0);
	assert_false(list.complete);
}

static void links_to_nowhere_end_the_walk(void **state)
{
	uint64_t entry = jit_world_link(world, WORLD_BASE, 100);

	(void)state;
	jit_world_poke(world, entry, 0xdeadbeef000);
	assert_int_equal(walk(), 0);
	assert_false(list.complete);
	assert_int_equal(list.entries.n, 1);
	jit_world_poke(world, world->descriptor + 16, 8);
	assert_int_equal(walk(), 0);
	assert_false(list.complete);
	world->descriptor = 16;
	assert_int_equal(walk(), -EFAULT);
}

static void endless_list_is_cut(void **state)
{
	(void)state;
	while (world->used + 64 < WORLD_SIZE)
		jit_world_link(world, WORLD_BASE, 100);
	assert_int_equal(walk(), 0);
	assert_false(list.complete);
	assert_int_equal(list.entries.n, EL_GDBJIT_ENTRIES_MAX);
}

static void slow_memory_ends_at_the_deadline(void **state)
{
	(void)state;
	for (int i = 0; i < 15000; i++)
		jit_world_link(world, WORLD_BASE, 100);
	world->read_costs_ns = SECOND / 10;
	assert_int_equal(walk(), 0);
	assert_false(list.complete);
	assert_in_range(world->n_reads, 1, 60);
}

static void push_during_first_walk(struct jit_world *changing)
{
	if (changing->n_reads == 2) {
		changing->n_reads++;
		jit_world_link(changing, WORLD_BASE, 300);
	}
}

static void list_that_changes_is_walked_again(void **state)
{
	(void)state;
	jit_world_link(world, WORLD_BASE, 100);
	world->after_read = push_during_first_walk;
	assert_int_equal(walk(), 0);
	assert_true(list.complete);
	assert_int_equal(list.entries.n, 2);
}

static void push_always(struct jit_world *changing)
{
	jit_world_link(changing, WORLD_BASE, 300);
}

static void list_that_never_rests_is_not_complete(void **state)
{
	(void)state;
	jit_world_link(world, WORLD_BASE, 100);
	world->after_read = push_always;
	assert_int_equal(walk(), 0);
	assert_false(list.complete);
}

static void unchanged_list_is_told_by_two_reads(void **state)
{
	struct el_gdbjit_memory memory = jit_world_memory(world);

	(void)state;
	for (int i = 0; i < 100; i++)
		jit_world_link(world, WORLD_BASE, 100);
	assert_int_equal(walk(), 0);
	world->n_reads = 0;
	assert_true(el_gdbjit_list_unchanged(&list, &memory, world->descriptor));
	assert_int_equal(world->n_reads, 2);
	jit_world_link(world, WORLD_BASE, 100);
	assert_false(el_gdbjit_list_unchanged(&list, &memory, world->descriptor));
}

/* --- through the symbolizer --- */

#define F "_ZN8__main__1fB2v1Ex"
#define G "_ZN8__main__1gB2v2Ed"

static void registered_function_has_its_name(void **state)
{
	const struct el_answer_location *location;
	const struct el_answer_object *object;

	(void)state;
	jit_world_register(world, F, WORLD_CODE + 0x100, 0x80);
	jit_world_start_symbolizer(world);
	assert_string_equal(jit_world_name(world, WORLD_CODE + 0x110, world->now_ns), "f(int64)");
	location = jit_world_location(world);
	assert_int_equal(location->miss, EL_MISS_NO_LINE);
	object = &world->answer.objects.at[location->object];
	assert_int_equal(object->code, EL_CODE_NUMBA);
	assert_string_equal(el_strings_get(&world->answer.strings, object->path), "[numba]");
	assert_string_equal(jit_world_name(world, WORLD_CODE + 0x180, world->now_ns), "[jit]");
	assert_int_equal(jit_world_location(world)->miss, EL_MISS_JIT_UNKNOWN);
}

static void local_descriptor_is_found(void **state)
{
	(void)state;
	world->local_symbol = true;
	jit_world_register(world, F, WORLD_CODE, 0x80);
	jit_world_start_symbolizer(world);
	assert_string_equal(jit_world_name(world, WORLD_CODE, world->now_ns), "f(int64)");
}

static void other_jits_code_is_not_numbas(void **state)
{
	(void)state;
	jit_world_register(world, "evalexpr_0_0", WORLD_CODE, 0x80);
	jit_world_start_symbolizer(world);
	assert_string_equal(jit_world_name(world, WORLD_CODE, world->now_ns), "evalexpr_0_0");
	assert_int_equal(world->answer.objects.at[jit_world_location(world)->object].code,
			 EL_CODE_JIT);
}

static void code_sampled_after_the_last_look_is_looked_for(void **state)
{
	(void)state;
	jit_world_start_symbolizer(world);
	jit_world_refresh(world);
	world->now_ns += SECOND;
	jit_world_register(world, F, WORLD_CODE, 0x80);
	assert_string_equal(jit_world_name(world, WORLD_CODE, world->now_ns), "f(int64)");
}

static void address_used_again_is_answered_by_time(void **state)
{
	uint64_t entry, first, second;

	(void)state;
	entry = jit_world_register(world, F, WORLD_CODE, 0x80);
	jit_world_start_symbolizer(world);
	jit_world_refresh(world);
	first = world->now_ns + SECOND / 10;
	world->now_ns += SECOND;
	jit_world_unlink(world, entry);
	jit_world_refresh(world);
	world->now_ns += SECOND;
	second = world->now_ns + SECOND / 10;
	jit_world_register(world, G, WORLD_CODE, 0x80);
	world->now_ns += SECOND;
	jit_world_refresh(world);
	assert_string_equal(jit_world_name(world, WORLD_CODE, first), "f(int64)");
	assert_string_equal(jit_world_name(world, WORLD_CODE, second), "g(float64)");
	assert_string_equal(jit_world_name(world, WORLD_CODE, world->now_ns), "g(float64)");
}

static void object_that_is_gone_is_said_to_be(void **state)
{
	uint64_t entry;

	(void)state;
	entry = jit_world_register(world, F, WORLD_CODE, 0x80);
	jit_world_start_symbolizer(world);
	jit_world_refresh(world);
	jit_world_unlink(world, entry);
	world->now_ns += SECOND;
	jit_world_refresh(world);
	world->now_ns += SECOND;
	assert_string_equal(jit_world_name(world, WORLD_CODE, world->now_ns), "[jit]");
	assert_int_equal(jit_world_location(world)->miss, EL_MISS_JIT_GONE);
}

/* The same entry and place, other code: malloc hands out what was freed. */
static void entry_used_again_is_noticed(void **state)
{
	uint64_t entry, before, symfile;

	(void)state;
	entry = jit_world_register(world, F, WORLD_CODE, 0x80);
	jit_world_start_symbolizer(world);
	jit_world_refresh(world);
	before = world->now_ns - 1;
	world->now_ns += 2 * SECOND;
	symfile = jit_world_peek(world, entry + 16);
	for (size_t at = symfile - WORLD_BASE; at < world->used; at++)
		if (!memcmp(world->memory + at, F, sizeof(F)))
			memcpy(world->memory + at, G, sizeof(G));
	jit_world_refresh(world);
	assert_string_equal(jit_world_name(world, WORLD_CODE, before), "f(int64)");
	assert_string_equal(jit_world_name(world, WORLD_CODE, world->now_ns), "g(float64)");
}

static void ended_process_still_has_its_functions(void **state)
{
	(void)state;
	jit_world_register(world, F, WORLD_CODE, 0x80);
	jit_world_start_symbolizer(world);
	jit_world_refresh(world);
	el_symbolizer_end_image(world->symbolizer, 1);
	world->n_reads = 0;
	assert_string_equal(jit_world_name(world, WORLD_CODE, world->now_ns + 1), "f(int64)");
	jit_world_name(world, WORLD_CODE + 0x1000, world->now_ns + 1);
	assert_int_equal(jit_world_location(world)->miss, EL_MISS_JIT_GONE);
	assert_int_equal(world->n_reads, 0);
}

static void other_formats_and_impossible_sizes_are_refused(void **state)
{
	struct el_symbolizer_stats stats;
	char beam[256] = {1};
	char elf[256] = "\177ELF\2\1\1";

	(void)state;
	jit_world_link(world, jit_world_place(world, beam, sizeof(beam)), sizeof(beam));
	jit_world_link(world, jit_world_place(world, elf, sizeof(elf)), ~0ull >> 1);
	jit_world_link(world, jit_world_place(world, elf, sizeof(elf)), sizeof(elf));
	jit_world_link(world, 0xdead0000, 4096);
	jit_world_link(world, WORLD_BASE, 0);
	jit_world_register(world, F, WORLD_CODE, 0x80);
	jit_world_start_symbolizer(world);
	assert_string_equal(jit_world_name(world, WORLD_CODE, world->now_ns), "f(int64)");
	el_symbolizer_stats(world->symbolizer, &stats);
	assert_int_equal(stats.jit_refused + stats.jit_objects, 6);
	assert_in_range(stats.jit_refused, 4, 5);
	/* What was refused is not read again. */
	world->n_reads = 0;
	for (int i = 0; i < 5; i++) {
		world->now_ns += 2 * SECOND;
		jit_world_refresh(world);
	}
	assert_in_range(world->n_reads, 1, 5 * 8);
}

static void file_is_searched_once_for_all_processes(void **state)
{
	struct el_image second = {.id = 2, .pid = 4243};
	struct el_mapping file = {.id = 3,
				  .flags = EL_MAPPING_FILE,
				  .start = WORLD_FILE,
				  .end = WORLD_FILE + 0x1000,
				  .inode = 78,
				  .path = "/lib/other.so"};
	struct el_mapping code = {.id = 4,
				  .flags = EL_MAPPING_ANONYMOUS,
				  .start = WORLD_CODE,
				  .end = WORLD_CODE + 4096,
				  .path = ""};

	(void)state;
	/* A descriptor under another name is none: the file is known to have nothing. */
	jit_world_start_symbolizer(world);
	jit_world_refresh(world);
	assert_int_equal(el_symbolizer_add_image(world->symbolizer, &second), 0);
	assert_int_equal(el_symbolizer_add_mapping(world->symbolizer, 2, &file), 0);
	assert_int_equal(el_symbolizer_add_mapping(world->symbolizer, 2, &code), 0);
	world->n_files_opened = 0;
	for (int i = 0; i < 5; i++) {
		world->now_ns += 2 * SECOND;
		assert_int_equal(el_symbolizer_refresh(world->symbolizer, 1), 0);
		assert_int_equal(el_symbolizer_refresh(world->symbolizer, 2), 0);
	}
	assert_in_range(world->n_files_opened, 1, 1);
}

static void many_changes_keep_every_answer_right(void **state)
{
	enum { SLOTS = 16, ROUNDS = 300 };
	uint64_t entries[SLOTS] = {0};
	char mangled[64], expected[64], known[SLOTS][64];

	(void)state;
	srand(5);
	for (int i = 0; i < SLOTS; i++)
		strcpy(known[i], "[jit]");
	jit_world_start_symbolizer(world);
	for (int round = 0; round < ROUNDS; round++) {
		int slot = rand() % SLOTS;

		if (entries[slot])
			jit_world_unlink(world, entries[slot]);
		snprintf(expected, sizeof(expected), "f%03d(int64)", round);
		snprintf(mangled, sizeof(mangled), "_ZN8__main__4f%03dB2v1Ex", round);
		entries[slot] =
			jit_world_register(world, mangled, WORLD_CODE + slot * 0x100, 0x100);
		memcpy(known[slot], expected, sizeof(expected));
		world->now_ns += SECOND / 10;
		if (rand() % 3)
			jit_world_refresh(world);
		world->now_ns += SECOND / 10;
		for (int i = 0; i < SLOTS; i++)
			if (i == slot || rand() % 4 == 0)
				assert_string_equal(jit_world_name(world,
								   WORLD_CODE + i * 0x100 + 8,
								   world->now_ns),
						    known[i]);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(list_is_read_newest_first),
		TEST(empty_list_is_complete),
		TEST(other_version_is_no_list),
		TEST(close_entries_are_read_by_pages),
		TEST(cycle_ends_the_walk),
		TEST(links_to_nowhere_end_the_walk),
		TEST(endless_list_is_cut),
		TEST(slow_memory_ends_at_the_deadline),
		TEST(list_that_changes_is_walked_again),
		TEST(list_that_never_rests_is_not_complete),
		TEST(unchanged_list_is_told_by_two_reads),
		TEST(registered_function_has_its_name),
		TEST(local_descriptor_is_found),
		TEST(other_jits_code_is_not_numbas),
		TEST(code_sampled_after_the_last_look_is_looked_for),
		TEST(address_used_again_is_answered_by_time),
		TEST(object_that_is_gone_is_said_to_be),
		TEST(entry_used_again_is_noticed),
		TEST(ended_process_still_has_its_functions),
		TEST(other_formats_and_impossible_sizes_are_refused),
		TEST(file_is_searched_once_for_all_processes),
		TEST(many_changes_keep_every_answer_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
