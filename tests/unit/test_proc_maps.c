/* SPDX-License-Identifier: Apache-2.0 */
/* The parser of /proc/PID/maps, and of /proc/PID/cgroup: forms seen, damaged text, any cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "user/process/cgroups.h"
#include "user/process/proc_maps.h"

struct kept {
	struct el_mapping mappings[16];
	char paths[16][64];
	size_t n, n_all;
};

static int keep(void *context, const struct el_mapping *mapping)
{
	struct kept *kept = context;

	kept->n_all++;
	if (kept->n == 16)
		return 0;
	kept->mappings[kept->n] = *mapping;
	snprintf(kept->paths[kept->n++], 64, "%s", mapping->path);
	return 0;
}

static struct el_proc_maps parse(const char *text, size_t size, size_t piece, struct kept *kept)
{
	struct el_proc_maps maps = {.mapping = keep, .context = kept};

	memset(kept, 0, sizeof(*kept));
	for (size_t at = 0; at < size; at += piece)
		assert_int_equal(
			el_proc_maps_feed(&maps, text + at, size - at < piece ? size - at : piece),
			0);
	el_proc_maps_deinit(&maps);
	return maps;
}

static const char usual[] =
	"55d0c8a00000-55d0c8a02000 r--p 00000000 08:01 131 /usr/bin/prog\n"
	"55d0c8a02000-55d0c8a05000 r-xp 00002000 08:01 131                        /usr/bin/prog\n"
	"7f0000000000-7f0000021000 rwxp 00000000 00:00 0 \n"
	"7f1000000000-7f1000001000 r-xs 00000000 00:01 2058                       /dev/zero "
	"(deleted)\n"
	"7f2000000000-7f2000001000 r-xs 00001000 00:01 33                         /memfd:jit "
	"(deleted)\n"
	"7f3000000000-7f3000001000 r-xp 00000000 fe:10 18446744073709551615       /tmp/a b\\012c "
	"(deleted)\n"
	"7ffd1b5f0000-7ffd1b5f2000 r-xp 00000000 00:00 0                          [vdso]\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n";

static void usual_forms_are_read(void **state)
{
	struct kept kept;
	struct el_proc_maps maps = parse(usual, strlen(usual), 4096, &kept);

	(void)state;
	assert_int_equal(maps.n_bad_lines, 0);
	assert_int_equal(kept.n, 7);
	assert_string_equal(kept.paths[0], "/usr/bin/prog");
	assert_int_equal(kept.mappings[0].start, 0x55d0c8a02000);
	assert_int_equal(kept.mappings[0].end, 0x55d0c8a05000);
	assert_int_equal(kept.mappings[0].offset, 0x2000);
	assert_int_equal(kept.mappings[0].dev_major, 8);
	assert_int_equal(kept.mappings[0].dev_minor, 1);
	assert_int_equal(kept.mappings[0].inode, 131);
	assert_int_equal(kept.mappings[0].flags, EL_MAPPING_FILE);
	assert_int_equal(kept.mappings[1].flags, EL_MAPPING_ANONYMOUS);
	assert_string_equal(kept.paths[1], "");
	assert_int_equal(kept.mappings[2].flags, EL_MAPPING_ANONYMOUS);
	assert_int_equal(kept.mappings[3].flags, EL_MAPPING_FILE | EL_MAPPING_ANONYMOUS);
	assert_string_equal(kept.paths[4], "/tmp/a b\nc (deleted)");
	assert_int_equal(kept.mappings[4].dev_major, 0xfe);
	assert_int_equal(kept.mappings[4].inode, UINT64_MAX);
	assert_int_equal(kept.mappings[5].flags, EL_MAPPING_VDSO);
	assert_int_equal(kept.mappings[6].flags, EL_MAPPING_ANONYMOUS);
}

static void text_cut_anywhere_reads_the_same(void **state)
{
	struct kept whole, pieces;

	(void)state;
	parse(usual, strlen(usual), 4096, &whole);
	for (size_t piece = 1; piece < 200; piece++) {
		parse(usual, strlen(usual), piece, &pieces);
		assert_int_equal(pieces.n, whole.n);
		assert_memory_equal(pieces.paths, whole.paths, sizeof(whole.paths));
	}
	/* Without the end of its line nothing is known of a mapping. */
	parse(usual, strlen(usual) - 1, 4096, &pieces);
	assert_int_equal(pieces.n, whole.n - 1);
}

static void bad_lines_are_counted_and_passed_over(void **state)
{
	static const char *const bad[] = {
		"\n",
		"garbage\n",
		"1000-2000\n",
		"1000-2000 r-xp\n",
		"1000-2000 r-xp 0 08:01\n",
		"2000-1000 r-xp 00000000 08:01 131 /x\n",
		"1000-1000 r-xp 00000000 08:01 131 /x\n",
		"11111111111111111-2000 r-xp 00000000 08:01 131 /x\n",
		"1000-2000 r-xp 00000000 08:01 99999999999999999999999 /x\n",
		"-1000-2000 r-xp 00000000 08:01 131 /x\n",
		"1000-2000 r-xp 0000000g 08:01 131 /x\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		char text[2048];
		struct kept kept;
		int n = snprintf(text, sizeof(text), "%s%s", bad[i], usual);
		struct el_proc_maps maps = parse(text, n, 4096, &kept);

		assert_int_equal(maps.n_bad_lines, 1);
		assert_int_equal(kept.n, 7);
	}
}

static void line_without_end_stays_bounded(void **state)
{
	char *text = malloc(1 << 20);
	struct el_proc_maps maps = {0};
	struct kept kept = {0};

	(void)state;
	memset(text, 'a', 1 << 20);
	maps.mapping = keep;
	maps.context = &kept;
	for (int i = 0; i < 16; i++)
		assert_int_equal(el_proc_maps_feed(&maps, text, 1 << 20), 0);
	assert_true(maps.line.bytes.capacity < 1 << 18);
	assert_int_equal(el_proc_maps_feed(&maps, "\n", 1), 0);
	assert_int_equal(el_proc_maps_feed(&maps, usual, strlen(usual)), 0);
	assert_int_equal(kept.n, 7);
	assert_int_equal(maps.n_bad_lines, 1);
	el_proc_maps_deinit(&maps);
	free(text);
}

static void hundred_thousand_mappings_are_read_quickly(void **state)
{
	size_t size = 0, room = 100000 * 96;
	char *text = malloc(room);
	clock_t start;
	struct kept kept;

	(void)state;
	for (unsigned long i = 0; i < 100000; i++)
		size += snprintf(text + size, room - size,
				 "%lx-%lx r-xp 00000000 08:01 131 /usr/lib/lib%lu.so\n",
				 0x10000 + i * 0x2000, 0x11000 + i * 0x2000, i);
	start = clock();
	parse(text, size, 65536, &kept);
	assert_int_equal(kept.n_all, 100000);
	assert_true(clock() - start < CLOCKS_PER_SEC);
	free(text);
}

static void any_bytes_do_no_harm(void **state)
{
	uint64_t seed = 7;
	char text[sizeof(usual)];
	struct kept kept;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		memcpy(text, usual, sizeof(text));
		for (int i = 0; i < 4; i++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			text[(seed >> 33) % (sizeof(text) - 1)] = (char)(seed >> 56);
		}
		parse(text, sizeof(text) - 1, 1 + (seed >> 40) % 300, &kept);
		assert_in_range(kept.n, 0, 12);
	}
}

static const char *cgroup_of(struct el_strings *strings, const char *text)
{
	uint32_t path;

	assert_int_equal(el_cgroups_parse(text, strlen(text), strings, &path), 0);
	return el_strings_get(strings, path);
}

static void cgroup_path_is_that_of_version_2_or_the_deepest(void **state)
{
	struct el_strings strings;

	(void)state;
	assert_int_equal(el_strings_init(&strings), 0);
	assert_string_equal(cgroup_of(&strings, "0::/system.slice/ssh.service\n"),
			    "/system.slice/ssh.service");
	assert_string_equal(
		cgroup_of(&strings, "12:pids:/docker/abc\n1:name=systemd:/docker\n0::/\n"),
		"/docker/abc");
	assert_string_equal(cgroup_of(&strings, "0::/\n"), "/");
	assert_string_equal(cgroup_of(&strings, "0::/with:colon"), "/with:colon");
	assert_string_equal(cgroup_of(&strings, ""), "");
	assert_string_equal(cgroup_of(&strings, "garbage\n:\n"), "");
	el_strings_deinit(&strings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usual_forms_are_read),
		cmocka_unit_test(text_cut_anywhere_reads_the_same),
		cmocka_unit_test(bad_lines_are_counted_and_passed_over),
		cmocka_unit_test(line_without_end_stays_bounded),
		cmocka_unit_test(hundred_thousand_mappings_are_read_quickly),
		cmocka_unit_test(any_bytes_do_no_harm),
		cmocka_unit_test(cgroup_path_is_that_of_version_2_or_the_deepest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
