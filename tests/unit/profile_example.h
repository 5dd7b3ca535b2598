/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small profile to test with: a Numba function with an inlined library line,
 * recursion, the kernel, code of unknown origin, a sample without a stack, two
 * threads, ticks on two CPUs, counters. The totals are stated below.
 */
#ifndef EL_TEST_PROFILE_EXAMPLE_H
#define EL_TEST_PROFILE_EXAMPLE_H

#include <assert.h>
#include <string.h>

#include "user/profile/build.h"

#define EXAMPLE_MS 1000000ull
#define EXAMPLE_SAMPLES 20
#define EXAMPLE_TOTAL (20 * 10 * EXAMPLE_MS)

struct example {
	struct el_profile_builder *builder;
	uint32_t dither, round_, recurse, kernel, loop;                 /* functions */
	uint32_t inlined, called, recursing, in_kernel, unknown, plain; /* locations */
	uint32_t process;
};

static inline uint32_t example_string(struct example *example, const char *text)
{
	uint32_t string;
	int err = el_profile_build_string(example->builder, text, &string);

	assert(!err);
	return string;
}

static inline uint32_t example_function(struct example *example, const char *name,
					const char *system_name, const char *file, uint32_t line,
					enum el_code code)
{
	struct el_profile_function function = {.name = example_string(example, name),
					       .system_name = example_string(example, system_name),
					       .file = example_string(example, file),
					       .start_line = line,
					       .code = code};
	uint32_t row;
	int err = el_profile_build_function(example->builder, &function, &row);

	assert(!err);
	return row;
}

static inline uint32_t example_mapping(struct example *example, const char *path,
				       const char *build_id, enum el_code code, uint64_t start)
{
	struct el_profile_object object = {.path = example_string(example, path),
					   .build_id = example_string(example, build_id),
					   .built_ns = 77,
					   .code = code,
					   .has_lines = 1};
	struct el_profile_mapping mapping = {.start = start, .limit = start + 0x100000};
	uint32_t row;
	int err = el_profile_build_object(example->builder, &object, &mapping.object);

	assert(!err);
	err = el_profile_build_mapping(example->builder, &mapping, &row);
	assert(!err);
	return row;
}

static inline uint32_t example_location(struct example *example, uint32_t mapping, uint64_t addr,
					enum el_miss miss, const struct el_profile_line *lines,
					size_t n_lines)
{
	struct el_profile_location location = {.mapping = mapping, .miss = miss, .addr = addr};
	uint32_t row;
	int err = el_profile_build_location(example->builder, &location, lines, n_lines, &row);

	assert(!err);
	return row;
}

/* `n` samples of 10 ms each with their ticks, from `time_ns` on. */
static inline void example_samples(struct example *example, const uint32_t *locations,
				   size_t n_locations, uint32_t tid, const char *thread, size_t n,
				   uint64_t time_ns)
{
	struct el_profile_sample sample = {.process = example->process,
					   .tid = tid,
					   .thread = example_string(example, thread),
					   .values = {1, 10 * EXAMPLE_MS}};
	struct el_profile_tick tick = {.cpu = tid & 1, .weight = 10 * EXAMPLE_MS};
	uint32_t row;
	int err =
		el_profile_build_stack(example->builder, locations, n_locations, 0, &sample.stack);

	assert(!err);
	for (size_t i = 0; i < n; i++) {
		err = el_profile_build_sample(example->builder, &sample, &tick.sample);
		assert(!err);
		tick.time_ns = time_ns + i * 10 * EXAMPLE_MS;
		err = el_profile_build_tick(example->builder, &tick, &row);
		assert(!err);
	}
	(void)err;
}

static inline void example_code(struct example *example)
{
	uint32_t numba = example_mapping(example, "[numba]", "", EL_CODE_NUMBA, 0x7f0000000000);
	uint32_t program = example_mapping(example, "/usr/bin/loop", "abcdef0123456789abcd",
					   EL_CODE_NATIVE, 0x555500000000);
	uint32_t kernel =
		example_mapping(example, "[kernel]", "", EL_CODE_KERNEL, 0xffffffff81000000);
	struct el_profile_line lines[2];

	example->dither = example_function(example, "dither(uint8[:,:])", "_Z6dither",
					   "/home/u/dither.py", 12, EL_CODE_NUMBA);
	example->round_ = example_function(example, "np_round", "_Z5round",
					   "/usr/lib/numba/arraymath.py", 3150, EL_CODE_NUMBA);
	example->recurse = example_function(example, "recurse", "recurse", "/home/u/loop.c", 5,
					    EL_CODE_NATIVE);
	example->loop =
		example_function(example, "loop", "loop", "/home/u/loop.c", 20, EL_CODE_NATIVE);
	example->kernel =
		example_function(example, "clear_page", "clear_page", "", 0, EL_CODE_KERNEL);

	lines[0] = (struct el_profile_line){example->round_, 3157, 9};
	lines[1] = (struct el_profile_line){example->dither, 26, 5};
	example->inlined = example_location(example, numba, 0x7f0000000100, EL_MISS_NONE, lines, 2);
	lines[0] = (struct el_profile_line){example->dither, 31, 0};
	example->plain = example_location(example, numba, 0x7f0000000200, EL_MISS_NONE, lines, 1);
	lines[0] = (struct el_profile_line){example->recurse, 7, 0};
	example->recursing =
		example_location(example, program, 0x555500000010, EL_MISS_NONE, lines, 1);
	lines[0] = (struct el_profile_line){example->loop, 22, 0};
	example->called =
		example_location(example, program, 0x555500000020, EL_MISS_NONE, lines, 1);
	lines[0] = (struct el_profile_line){example->kernel, 0, 0};
	example->in_kernel =
		example_location(example, kernel, 0xffffffff81000040, EL_MISS_NO_LINE, lines, 1);
	example->unknown = example_location(example, 0, 0x7f0000500000, EL_MISS_JIT_GONE, NULL, 0);
}

static inline void example_heads(struct example *example)
{
	struct el_profile *profile = el_profile_builder_profile(example->builder);
	struct el_profile_counter counter = {.name = example_string(example, "kept"),
					     .unit = example_string(example, "ns"),
					     .sentence = example_string(example, "sent"),
					     .value = EXAMPLE_TOTAL};
	uint32_t row;
	int err;

	profile->n_value_types = 2;
	profile->value_types[0] = (struct el_value_type){example_string(example, "samples"),
							 example_string(example, "count")};
	profile->value_types[1] = (struct el_value_type){example_string(example, "cpu"),
							 example_string(example, "nanoseconds")};
	profile->period_type = profile->value_types[1];
	profile->period = 10 * EXAMPLE_MS;
	profile->start_wall_ns = 1700000000000000000;
	profile->duration_ns = 1000 * EXAMPLE_MS;
	profile->n_cpus = 2;
	profile->command = example_string(example, "python3 dither.py");
	profile->event = example_string(example, "cpu");
	err = el_profile_build_counter(example->builder, &counter, &row);
	assert(!err);
	err = el_profile_build_comment(example->builder, "a sentence for the reader", &row);
	assert(!err);
	(void)err;
}

/* Flat: np_round 8 (inlined at dither:26), dither:31 4, recurse 3, clear_page 2, unknown 2, no
 * stack 1. */
static inline struct example example_begin(void)
{
	struct example example = {0};
	struct el_profile_process process = {.pid = 42, .exec_id = 3, .start_ns = 99};
	int err = el_profile_builder_new(&example.builder);

	assert(!err);
	example_heads(&example);
	process.comm = example_string(&example, "python3");
	process.cgroup = example_string(&example, "/user.slice");
	err = el_profile_build_process(example.builder, &process, &example.process);
	assert(!err);
	(void)err;
	example_code(&example);
	example_samples(&example, (uint32_t[]){example.inlined}, 1, 42, "main", 6, 0);
	example_samples(&example, (uint32_t[]){example.inlined, example.called}, 2, 43, "worker", 2,
			5 * EXAMPLE_MS);
	example_samples(&example, (uint32_t[]){example.plain}, 1, 42, "main", 4, 100 * EXAMPLE_MS);
	example_samples(&example,
			(uint32_t[]){example.recursing, example.recursing, example.recursing,
				     example.called},
			4, 43, "worker", 3, 105 * EXAMPLE_MS);
	example_samples(&example, (uint32_t[]){example.in_kernel, example.plain}, 2, 42, "main", 2,
			200 * EXAMPLE_MS);
	example_samples(&example, (uint32_t[]){example.unknown}, 1, 42, "main", 2,
			300 * EXAMPLE_MS);
	example_samples(&example, NULL, 0, 43, "worker", 1, 400 * EXAMPLE_MS);
	return example;
}

static inline struct el_profile *example_end(struct example *example)
{
	struct el_profile *profile = NULL;
	struct el_error error;
	int err = el_profile_builder_finish(example->builder, &profile, &error);

	el_profile_builder_free(example->builder);
	assert(!err);
	(void)err;
	return profile;
}

static inline struct el_profile *example_profile(void)
{
	struct example example = example_begin();

	return example_end(&example);
}

#endif
