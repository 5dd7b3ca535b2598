/* SPDX-License-Identifier: Apache-2.0 */
/* See report_profiles.h. */
#include "tests/unit/report_profiles.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/profile/build.h"

#define RECORDED 1767323045 /* 2026-01-02 03:04:05 UTC */
#define SECOND 1000000000ull

static char before[4096], folder[] = "/tmp/everline-report-XXXXXX";

void sources_enter(void)
{
	strcpy(strrchr(folder, '-') + 1, "XXXXXX");
	if (!getcwd(before, sizeof(before)) || !mkdtemp(folder) || chdir(folder))
		abort();
}

void sources_leave(void)
{
	DIR *dir = opendir(".");
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlink(entry->d_name);
	if (dir)
		closedir(dir);
	if (chdir(before) || rmdir(folder))
		abort();
}

void source_write(const char *name, const char *text, long changed)
{
	struct timespec times[2] = {{.tv_sec = changed}, {.tv_sec = changed}};
	FILE *file = fopen(name, "we");

	if (!file || fputs(text, file) < 0 || fclose(file) || utimensat(AT_FDCWD, name, times, 0))
		abort();
}

/* --- building -------------------------------------------------------------- */

struct maker {
	struct el_profile_builder *builder;
	uint32_t process;
	uint64_t addr;   /* of the next location */
	uint64_t weight; /* of a sample */
	uint64_t samples;
};

static void ok(int err)
{
	if (err) {
		fprintf(stderr, "cannot build the test's profile: %s\n", strerror(-err));
		abort();
	}
}

static uint32_t string(struct maker *maker, const char *text)
{
	uint32_t row;

	ok(el_profile_build_string(maker->builder, text, &row));
	return row;
}

/* A source file in the current folder, by its whole path. */
static uint32_t file_here(struct maker *maker, const char *name)
{
	char path[PATH_MAX + 64];

	if (!getcwd(path, PATH_MAX))
		abort();
	strncat(strcat(path, "/"), name, 60);
	return string(maker, path);
}

static struct maker begin(const char *command, const char *type, const char *unit, uint64_t weight)
{
	struct maker maker = {.addr = 0x1000, .weight = weight};
	struct el_profile_process process = {.pid = 4242, .exec_id = 1};
	struct el_profile *profile;

	ok(el_profile_builder_new(&maker.builder));
	profile = el_profile_builder_profile(maker.builder);
	profile->n_value_types = 2;
	profile->value_types[0] =
		(struct el_value_type){string(&maker, "samples"), string(&maker, "count")};
	profile->value_types[1] =
		(struct el_value_type){string(&maker, type), string(&maker, unit)};
	profile->period_type = profile->value_types[1];
	profile->period = weight;
	profile->start_wall_ns = RECORDED * (int64_t)SECOND;
	profile->n_cpus = 2;
	profile->command = string(&maker, command);
	profile->event = string(&maker, type);
	process.comm = string(&maker, "program");
	ok(el_profile_build_process(maker.builder, &process, &maker.process));
	return maker;
}

static uint32_t object(struct maker *maker, const char *path, enum el_code code)
{
	struct el_profile_object row = {.path = string(maker, path),
					.built_ns = RECORDED * SECOND,
					.code = code,
					.has_lines = 1};
	struct el_profile_mapping mapping = {.start = 0x1000, .limit = 0x2000};
	uint32_t ret;

	ok(el_profile_build_object(maker->builder, &row, &mapping.object));
	mapping.start += mapping.object * 0x10000;
	mapping.limit += mapping.object * 0x10000;
	ok(el_profile_build_mapping(maker->builder, &mapping, &ret));
	return ret;
}

static uint32_t function(struct maker *maker, const char *name, uint32_t file, uint32_t start,
			 enum el_code code)
{
	struct el_profile_function row = {.name = string(maker, name),
					  .system_name = string(maker, name),
					  .file = file,
					  .start_line = start,
					  .code = code};
	uint32_t ret;

	ok(el_profile_build_function(maker->builder, &row, &ret));
	return ret;
}

/* A location of up to two lines; function 0 ends them. */
static uint32_t place(struct maker *maker, uint32_t mapping, enum el_miss miss, uint32_t function_a,
		      uint32_t line_a, uint32_t function_b, uint32_t line_b)
{
	struct el_profile_line lines[2] = {{function_a, line_a, 0}, {function_b, line_b, 0}};
	struct el_profile_location row = {.mapping = mapping, .miss = miss, .addr = maker->addr++};
	uint32_t ret;

	ok(el_profile_build_location(maker->builder, &row, lines, !!function_a + !!function_b,
				     &ret));
	return ret;
}

/* n samples on the stack of these locations, ended by 0. */
static void hit(struct maker *maker, unsigned int n, const uint32_t *locations)
{
	struct el_profile_sample sample = {.process = maker->process,
					   .tid = 4242,
					   .thread = string(maker, "main"),
					   .values = {n, n * maker->weight}};
	size_t depth = 0;
	uint32_t row;

	while (locations[depth])
		depth++;
	ok(el_profile_build_stack(maker->builder, locations, depth, 0, &sample.stack));
	ok(el_profile_build_sample(maker->builder, &sample, &row));
	maker->samples += n;
}

#define HIT(maker, n, ...) hit(maker, n, (const uint32_t[]){__VA_ARGS__, 0})

static void counter(struct maker *maker, const char *name, const char *unit, uint64_t value)
{
	struct el_profile_counter row = {.name = string(maker, name),
					 .unit = string(maker, unit),
					 .sentence = string(maker, "as counted"),
					 .value = value};
	uint32_t ret;

	ok(el_profile_build_counter(maker->builder, &row, &ret));
}

static struct el_profile *end(struct maker *maker, uint64_t duration)
{
	uint64_t total = maker->samples * maker->weight;
	struct el_profile *profile = el_profile_builder_profile(maker->builder);
	bool is_time = !strcmp(el_strings_get(&profile->strings, profile->value_types[1].unit),
			       "nanoseconds");
	struct el_error error;

	profile->duration_ns = duration;
	counter(maker, "elapsed", "ns", is_time ? 2 * duration : 0);
	counter(maker, "idle", "ns", is_time ? 2 * duration - total - duration / 4 : 0);
	counter(maker, "filtered", "ns", is_time ? duration / 4 : 0);
	counter(maker, "kept", "ns", is_time ? total : 0);
	counter(maker, "lost ring", "ns", 0);
	counter(maker, "late", "ns", 0);
	counter(maker, "ran kept", "n", maker->samples);
	counter(maker, "ran lost ring", "n", 0);
	if (el_profile_builder_finish(maker->builder, &profile, &error)) {
		fprintf(stderr, "%s\n", error.text);
		abort();
	}
	el_profile_builder_free(maker->builder);
	return profile;
}

/* --- profiles -------------------------------------------------------------- */

static const char dither_py[] =
	"import numpy as np\n"
	"from numba import njit\n"
	"\n"
	"\n"
	"@njit\n"
	"def dither(img):\n"
	"    result = np.empty(img.shape, dtype=np.uint8)\n"
	"    staging = img.astype(np.int16)\n"
	"    for y in range(img.shape[0] - 1):\n"
	"        for x in range(1, img.shape[1] - 1):\n"
	"            old_value = staging[y, x]\n"
	"            if old_value < 0:\n"
	"                old_value = 0\n"
	"            elif old_value > 255:\n"
	"                old_value = 255\n"
	"            new_value = np.uint8(np.round(old_value / 255.0)) * 255\n"
	"            result[y, x] = new_value\n"
	"            error = old_value - new_value\n"
	"            staging[y, x + 1] += error * 7 // 16\n"
	"            staging[y + 1, x - 1] += error * 3 // 16\n"
	"            staging[y + 1, x] += error * 5 // 16\n"
	"            staging[y + 1, x + 1] += error // 16\n"
	"    return result\n";

struct el_profile *dither_profile(void)
{
	struct maker maker = begin("python3 dither.py", "cpu", "nanoseconds", 1340000);
	uint32_t numba = object(&maker, "[numba]", EL_CODE_NUMBA);
	uint32_t python = object(&maker, "/usr/bin/python3.11", EL_CODE_NATIVE);
	uint32_t llvm = object(&maker, "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", EL_CODE_NATIVE);
	uint32_t kernel = object(&maker, "[kernel]", EL_CODE_KERNEL);
	uint32_t dither, round_, eval, pass, clear, root, file;
	static const struct {
		uint32_t line, n;
	} lines[] = {{11, 55},  {12, 160}, {13, 2},  {14, 150}, {17, 101}, {18, 7},
		     {19, 592}, {20, 47},  {21, 61}, {22, 84},  {9, 1}};

	source_write("dither.py", dither_py, RECORDED - 60);
	file = file_here(&maker, "dither.py");
	dither = function(&maker, "dither(uint8[:,:])", file, 6, EL_CODE_NUMBA);
	round_ = function(&maker, "np.round", string(&maker, NUMBA_FILE), 3150, EL_CODE_NUMBA);
	eval = function(&maker, "_PyEval_EvalFrameDefault", 0, 0, EL_CODE_NATIVE);
	pass = function(&maker, "fn+0x1a2b40", 0, 0, EL_CODE_NATIVE);
	clear = function(&maker, "clear_page_erms", 0, 0, EL_CODE_KERNEL);
	root = place(&maker, python, EL_MISS_NO_LINE, eval, 0, 0, 0);

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		HIT(&maker, lines[i].n,
		    place(&maker, numba, EL_MISS_NONE, dither, lines[i].line, 0, 0), root);
	HIT(&maker, 1582, place(&maker, numba, EL_MISS_NONE, dither, 16, 0, 0), root);
	HIT(&maker, 513, place(&maker, numba, EL_MISS_NONE, round_, 3157, dither, 16), root);
	HIT(&maker, 8, place(&maker, numba, EL_MISS_NONE, round_, 3159, dither, 16), root);
	HIT(&maker, 40, place(&maker, kernel, EL_MISS_NO_LINE, clear, 0, 0, 0),
	    place(&maker, numba, EL_MISS_NONE, dither, 8, 0, 0), root);
	HIT(&maker, 1090, root);
	HIT(&maker, 592, place(&maker, llvm, EL_MISS_NO_SYMBOL, pass, 0, 0, 0), root);
	HIT(&maker, 44, place(&maker, llvm, EL_MISS_NO_FUNCTION, 0, 0, 0, 0), root);
	HIT(&maker, 11, place(&maker, 0, EL_MISS_JIT_GONE, 0, 0, 0, 0), root);
	return end(&maker, 71 * SECOND / 10);
}

struct el_profile *program_profile(void)
{
	struct maker maker = begin("./program input.txt", "cpu", "nanoseconds", 1000000);
	uint32_t program = object(&maker, "/home/user/program", EL_CODE_NATIVE);
	uint32_t zlib = object(&maker, "/lib/x86_64-linux-gnu/libz.so.1.2.13", EL_CODE_NATIVE);
	char source[4096] = "";
	uint32_t file, main_, work, helper, deflate, called;

	for (int i = 1; i <= 60; i++)
		snprintf(source + strlen(source), sizeof(source) - strlen(source),
			 i == 30 ? "\tsum += helper(%d);\n" : "\tline(%d); /* tabs\tand text */\n",
			 i);
	source_write("program.c", source, RECORDED - 60);
	file = file_here(&maker, "program.c");
	helper = function(&maker, "helper", file, 2, EL_CODE_NATIVE);
	work = function(&maker, "work", file, 8, EL_CODE_NATIVE);
	main_ = function(&maker, "main", file, 50, EL_CODE_NATIVE);
	deflate = function(&maker, "deflate", string(&maker, "./deflate.c"), 0, EL_CODE_NATIVE);
	called = place(&maker, program, EL_MISS_NONE, main_, 55, 0, 0);

	HIT(&maker, 300, place(&maker, program, EL_MISS_NONE, work, 10, 0, 0), called);
	HIT(&maker, 5, place(&maker, program, EL_MISS_NONE, work, 20, 0, 0), called);
	HIT(&maker, 100, place(&maker, program, EL_MISS_NONE, helper, 3, work, 30), called);
	HIT(&maker, 595, place(&maker, zlib, EL_MISS_NO_LINE, deflate, 0, 0, 0),
	    place(&maker, program, EL_MISS_NONE, main_, 57, 0, 0));
	return end(&maker, SECOND);
}

struct el_profile *faults_profile(void)
{
	struct maker maker = begin("./faults", "page-faults", "count", 1);
	uint32_t program = object(&maker, "/home/user/faults", EL_CODE_NATIVE);
	uint32_t file, main_, map;

	source_write("faults.c",
		     "int main(void)\n{\n\tfor (int i = 0; i < 4096; i++)\n\t\ttouch[i * 4096] = "
		     "1;\n}\n",
		     RECORDED - 60);
	file = file_here(&maker, "faults.c");
	main_ = function(&maker, "main", file, 1, EL_CODE_NATIVE);
	map = function(&maker, "_dl_map_object", 0, 0, EL_CODE_NATIVE);
	HIT(&maker, 4096, place(&maker, program, EL_MISS_NONE, main_, 4, 0, 0));
	HIT(&maker, 1, place(&maker, program, EL_MISS_NONE, main_, 3, 0, 0));
	HIT(&maker, 97,
	    place(&maker, object(&maker, "/lib64/ld-linux-x86-64.so.2", EL_CODE_NATIVE),
		  EL_MISS_NO_LINE, map, 0, 0, 0));
	return end(&maker, SECOND / 4);
}

struct el_profile *service_profile(void)
{
	struct maker maker = begin("", "cpu", "nanoseconds", 10 * 1000000);
	uint32_t jit = object(&maker, "[jit]", EL_CODE_JIT);
	uint32_t node = object(&maker, "/usr/bin/node", EL_CODE_NATIVE);
	uint32_t handle = function(&maker, "JS:*handle /srv/app/server.js:12:3", 0, 0, EL_CODE_JIT);
	uint32_t builtin = function(&maker, "Builtin:ArrayPrototypePush", 0, 0, EL_CODE_JIT);
	uint32_t gone = function(&maker, "parse", string(&maker, "/srv/app/no-such-parse.c"), 10,
				 EL_CODE_NATIVE);
	uint32_t root = place(&maker, jit, EL_MISS_NO_LINE, handle, 0, 0, 0);

	HIT(&maker, 30, root);
	HIT(&maker, 6, place(&maker, jit, EL_MISS_NO_LINE, builtin, 0, 0, 0), root);
	HIT(&maker, 14, place(&maker, node, EL_MISS_NONE, gone, 12, 0, 0), root);
	return end(&maker, 10 * SECOND);
}

struct el_profile *hostile_profile(const char *bytes)
{
	struct maker maker = begin(bytes, "cpu", "nanoseconds", 1000000);
	uint32_t program = object(&maker, bytes, EL_CODE_NATIVE);
	uint32_t inlined, unknown, mine, row;

	source_write("hostile.c", bytes, RECORDED - 60);
	mine = function(&maker, bytes, file_here(&maker, "hostile.c"), 1, EL_CODE_NATIVE);
	inlined = function(&maker, bytes, string(&maker, "/usr/include/no-such.h"), 1,
			   EL_CODE_NATIVE);
	unknown = function(&maker, bytes, string(&maker, bytes), 1, EL_CODE_NATIVE);
	ok(el_profile_build_comment(maker.builder, bytes, &row));
	counter(&maker, bytes, bytes, 1);
	HIT(&maker, 40, place(&maker, program, EL_MISS_NONE, mine, 1, 0, 0));
	HIT(&maker, 30, place(&maker, program, EL_MISS_NONE, inlined, 7, mine, 1));
	HIT(&maker, 20, place(&maker, program, EL_MISS_NO_LINE, unknown, 0, 0, 0));
	HIT(&maker, 6, place(&maker, program, EL_MISS_NONE, unknown, 3, 0, 0));
	HIT(&maker, 4, place(&maker, program, EL_MISS_NO_FUNCTION, 0, 0, 0, 0));
	return end(&maker, SECOND);
}

struct el_profile *large_profile(unsigned int n)
{
	struct maker maker = begin("./large", "cpu", "nanoseconds", 1000000);
	uint32_t program = object(&maker, "/home/user/large", EL_CODE_NATIVE);
	uint32_t functions[200], locations[4000];
	char name[32];

	for (unsigned int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "large%u.c", i % 20);
		functions[i] = file_here(&maker, name);
		snprintf(name, sizeof(name), "function_%u", i);
		functions[i] = function(&maker, name, functions[i], i * 20 + 1, EL_CODE_NATIVE);
	}
	for (unsigned int i = 0; i < 4000; i++)
		locations[i] = place(&maker, program, EL_MISS_NONE, functions[i % 200],
				     i % 200 * 20 + i / 200 + 1, 0, 0);
	for (unsigned int i = 0; i < n; i++) {
		uint32_t stack[21] = {0};

		for (unsigned int depth = 0; depth < 20; depth++)
			stack[depth] = locations[(i * 2654435761u >> 7) * (depth + 1) % 4000];
		stack[0] = locations[i % 4000];
		hit(&maker, 1, stack);
	}
	return end(&maker, 60 * SECOND);
}
