/* SPDX-License-Identifier: Apache-2.0 */
/* The symbolizer over this very program and its vdso: mappings, misses, tables, eviction. */
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/skip.h"
#include "symbolizer/symbolizer.h"

struct fixture {
	struct el_symbolizer *symbolizer;
	struct el_answer answer;
	int opened;
	int refuse; /* -errno for the next openings */
	bool quarantined;
};

static int open_mapping(void *context, const struct el_image *image,
			const struct el_mapping *mapping)
{
	struct fixture *fixture = context;

	(void)image;
	fixture->opened++;
	if (fixture->refuse)
		return fixture->refuse;
	return open(mapping->path, O_RDONLY | O_CLOEXEC);
}

static ssize_t read_memory(void *context, const struct el_image *image, uint64_t addr, void *bytes,
			   size_t size)
{
	(void)context;
	(void)image;
	memcpy(bytes, (const void *)(uintptr_t)addr, size);
	return size;
}

static bool parsing(void *context, uint64_t identity)
{
	struct fixture *fixture = context;

	return identity && fixture->quarantined;
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct el_source source = {.context = fixture,
				   .open_mapping = open_mapping,
				   .read_memory = read_memory,
				   .parsing = parsing};
	struct el_image image = {.id = 1, .pid = getpid()};

	assert_int_equal(el_symbolizer_new(&source, NULL, &fixture->symbolizer), 0);
	assert_int_equal(el_symbolizer_add_image(fixture->symbolizer, &image), 0);
	assert_int_equal(el_answer_init(&fixture->answer), 0);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	el_symbolizer_free(fixture->symbolizer);
	el_answer_deinit(&fixture->answer);
	free(fixture);
	return 0;
}

/* The mapping of this process that holds `addr`, out of /proc/self/maps. */
static bool find_mapping(uint64_t addr, struct el_mapping *mapping, char *path)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4400];
	bool found = false;

	*mapping = (struct el_mapping){.id = 7, .path = path};
	while (!found && fgets(line, sizeof(line), maps)) {
		*path = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %x:%x %" SCNu64 " %4095s",
			   &mapping->start, &mapping->end, &mapping->offset, &mapping->dev_major,
			   &mapping->dev_minor, &mapping->inode, path) < 6)
			continue;
		found = addr ? addr >= mapping->start && addr < mapping->end
			     : !strcmp(path, "[vdso]");
	}
	fclose(maps);
	mapping->flags = strcmp(path, "[vdso]") ? EL_MAPPING_FILE : EL_MAPPING_VDSO;
	return found;
}

static const struct el_answer_location *ask(struct fixture *fixture, uint32_t image,
					    uint32_t mapping, uint64_t addr)
{
	struct el_query query = {.addr = addr, .mapping = mapping, .pc = EL_PC_EXACT};
	size_t n = fixture->answer.by_query.n;

	assert_int_equal(
		el_symbolizer_resolve(fixture->symbolizer, image, &query, 1, &fixture->answer), 0);
	assert_int_equal(fixture->answer.by_query.n, n + 1);
	return &fixture->answer.locations.at[fixture->answer.by_query.at[n]];
}

static const char *function_name(struct fixture *fixture, const struct el_answer_location *location)
{
	const struct el_answer_line *line = &fixture->answer.lines.at[location->first_line];

	return el_strings_get(&fixture->answer.strings,
			      fixture->answer.functions.at[line->function].name);
}

__attribute__((noinline)) static int a_function_to_find(int value)
{
	__asm__ volatile("" : "+r"(value));
	return value * 3;
}

static uint64_t own_addr(void)
{
	return (uint64_t)(uintptr_t)a_function_to_find;
}

static void add_self(struct fixture *fixture, uint32_t image)
{
	struct el_mapping mapping;
	char path[4096];

	assert_true(find_mapping(own_addr(), &mapping, path));
	assert_int_equal(el_symbolizer_add_mapping(fixture->symbolizer, image, &mapping), 0);
}

static void own_function_has_name_file_and_line(void **state)
{
	struct fixture *fixture = *state;
	const struct el_answer_location *location;
	const struct el_answer_line *line;

	add_self(fixture, 1);
	location = ask(fixture, 1, 7, own_addr());
	assert_int_equal(location->miss, EL_MISS_NONE);
	assert_string_equal(function_name(fixture, location), "a_function_to_find");
	line = &fixture->answer.lines.at[location->first_line];
	assert_true(line->line > 0);
	assert_non_null(strstr(el_strings_get(&fixture->answer.strings,
					      fixture->answer.functions.at[line->function].file),
			       "test_symbolizer.c"));
	assert_int_equal(fixture->answer.objects.at[location->object].has_lines, 1);
	assert_true(fixture->answer.objects.at[location->object].built_ns > 0);
}

static void two_images_share_one_object(void **state)
{
	struct fixture *fixture = *state;
	struct el_image second = {.id = 2, .pid = 2};
	struct el_symbolizer_stats stats;

	assert_int_equal(el_symbolizer_add_image(fixture->symbolizer, &second), 0);
	add_self(fixture, 1);
	add_self(fixture, 2);
	assert_int_equal(fixture->opened, 1);
	el_symbolizer_stats(fixture->symbolizer, &stats);
	assert_int_equal(stats.objects, 1);
	el_symbolizer_drop_image(fixture->symbolizer, 1);
	assert_string_equal(function_name(fixture, ask(fixture, 2, 7, own_addr())),
			    "a_function_to_find");
}

static void equal_answers_share_their_function(void **state)
{
	struct fixture *fixture = *state;
	size_t n;

	add_self(fixture, 1);
	ask(fixture, 1, 7, own_addr());
	n = fixture->answer.functions.n;
	ask(fixture, 1, 7, own_addr());
	assert_int_equal(fixture->answer.functions.n, n);
	assert_int_equal(fixture->answer.objects.n, 2);
}

static void evicted_cache_is_made_again(void **state)
{
	struct fixture *fixture = *state;
	struct el_symbolizer_stats before, after;

	add_self(fixture, 1);
	ask(fixture, 1, 7, own_addr());
	el_symbolizer_stats(fixture->symbolizer, &before);
	el_symbolizer_evict(fixture->symbolizer, 0);
	el_symbolizer_stats(fixture->symbolizer, &after);
	assert_true(after.cached_bytes < before.cached_bytes);
	assert_int_equal(after.evictions, 1);
	assert_string_equal(function_name(fixture, ask(fixture, 1, 7, own_addr())),
			    "a_function_to_find");
}

static void vdso_is_read_from_memory(void **state)
{
	struct fixture *fixture = *state;
	const struct el_answer_location *location;
	struct el_mapping mapping;
	char path[4096];

	if (!find_mapping(0, &mapping, path))
		skip_because("this program has no mapping of its own");
	assert_int_equal(el_symbolizer_add_mapping(fixture->symbolizer, 1, &mapping), 0);
	location = ask(fixture, 1, 7, mapping.start + 0x800);
	assert_string_equal(el_strings_get(&fixture->answer.strings,
					   fixture->answer.objects.at[location->object].path),
			    "[vdso]");
	assert_int_not_equal(location->miss, EL_MISS_BAD_FILE);
}

static void expect_miss(struct fixture *fixture, const struct el_mapping *mapping,
			enum el_miss miss, const char *name)
{
	const struct el_answer_location *location;

	if (mapping)
		assert_int_equal(el_symbolizer_add_mapping(fixture->symbolizer, 1, mapping), 0);
	location = ask(fixture, 1, mapping ? mapping->id : 0, 0x1800);
	assert_int_equal(location->miss, miss);
	assert_int_equal(location->n_lines, 1);
	assert_string_equal(function_name(fixture, location), name);
}

static void missing_things_say_why(void **state)
{
	struct el_mapping file = {
		.id = 3, .flags = EL_MAPPING_FILE, .start = 0x1000, .end = 0x2000, .path = "/x"};
	struct el_mapping anonymous = {
		.id = 4, .flags = EL_MAPPING_ANONYMOUS, .start = 0x1000, .end = 0x2000, .path = ""};
	struct fixture *fixture = *state;

	expect_miss(fixture, NULL, EL_MISS_NO_MAPPING, "[unknown]");
	expect_miss(fixture, &anonymous, EL_MISS_JIT_UNKNOWN, "[jit]");
	fixture->refuse = -ENOENT;
	expect_miss(fixture, &file, EL_MISS_NO_FILE, "[unknown]");
	fixture->refuse = -ESTALE;
	file.id = 5;
	expect_miss(fixture, &file, EL_MISS_STALE_FILE, "[unknown]");
}

static void file_that_is_no_elf_is_a_bad_file(void **state)
{
	struct el_mapping file = {.id = 3,
				  .flags = EL_MAPPING_FILE,
				  .start = 0x1000,
				  .end = 0x2000,
				  .path = "/etc/passwd"};

	expect_miss(*state, &file, EL_MISS_BAD_FILE, "[unknown]");
}

static void wrong_build_id_is_a_stale_file(void **state)
{
	struct fixture *fixture = *state;
	struct el_mapping mapping;
	char path[4096];

	assert_true(find_mapping(own_addr(), &mapping, path));
	mapping.build_id_size = 20;
	memset(mapping.build_id, 0x5a, sizeof(mapping.build_id));
	assert_int_equal(el_symbolizer_add_mapping(fixture->symbolizer, 1, &mapping), 0);
	if (ask(fixture, 1, 7, own_addr())->miss == EL_MISS_NONE)
		skip_because("linked without a build ID: nothing to compare");
	assert_int_equal(ask(fixture, 1, 7, own_addr())->miss, EL_MISS_STALE_FILE);
}

static void quarantined_file_is_not_parsed(void **state)
{
	struct fixture *fixture = *state;

	add_self(fixture, 1);
	fixture->quarantined = true;
	assert_int_equal(ask(fixture, 1, 7, own_addr())->miss, EL_MISS_QUARANTINED);
}

static void unknown_image_is_an_error(void **state)
{
	struct fixture *fixture = *state;
	struct el_query query = {0};

	assert_int_equal(el_symbolizer_resolve(fixture->symbolizer, 9, &query, 1, &fixture->answer),
			 -ENOENT);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(own_function_has_name_file_and_line),
		T(two_images_share_one_object),
		T(equal_answers_share_their_function),
		T(evicted_cache_is_made_again),
		T(vdso_is_read_from_memory),
		T(missing_things_say_why),
		T(file_that_is_no_elf_is_a_bad_file),
		T(wrong_build_id_is_a_stale_file),
		T(quarantined_file_is_not_parsed),
		T(unknown_image_is_an_error),
	};

	return a_function_to_find(0) + cmocka_run_group_tests(tests, NULL, NULL);
}
