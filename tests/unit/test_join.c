/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples to profiles, with this very process as the sampled one and a
 * symbolizer of a few lines behind the real parser process: an address is a
 * function of the object it lies in, and code without a file changes its name
 * at JIT_CHANGES_NS.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/proc_file.h"
#include "base/time.h"
#include "user/symbolize/fold.h"
#include "user/symbolize/join.h"
#include "user/symbolize/parser_process.h"

#define MS 1000000ull
#define JIT_CHANGES_NS (50 * MS) /* after the test's beginning */
#define KERNEL_ADDR 0xffffffff81000000ull

/* --- the symbolizer --- */

static struct {
	struct el_source source;
	EL_VEC(struct el_mapping) mappings;
	uint64_t n_queries, n_refreshed;
} fake;

static uint64_t begin_ns; /* of the test; the parser process inherits it */

static int fake_new(const struct el_source *source, const struct el_symbolizer_options *options,
		    struct el_symbolizer **ret)
{
	(void)options;
	fake.source = *source;
	*ret = (struct el_symbolizer *)&fake;
	return 0;
}

static int fake_image(struct el_symbolizer *symbolizer, const struct el_image *image)
{
	(void)symbolizer;
	(void)image;
	return 0;
}

static int fake_end_image(struct el_symbolizer *symbolizer, uint32_t image)
{
	(void)symbolizer;
	(void)image;
	return 0;
}

static void fake_drop_image(struct el_symbolizer *symbolizer, uint32_t image)
{
	(void)symbolizer;
	(void)image;
}

static int fake_add_mapping(struct el_symbolizer *symbolizer, uint32_t image,
			    const struct el_mapping *mapping)
{
	struct el_mapping copy = *mapping;

	(void)symbolizer;
	(void)image;
	copy.path = strdup(mapping->path);
	return el_vec_push(&fake.mappings, copy);
}

static int fake_refresh(struct el_symbolizer *symbolizer, uint32_t image)
{
	(void)symbolizer;
	(void)image;
	fake.n_refreshed++;
	return 0;
}

static const struct el_mapping *find_mapping(uint32_t id)
{
	for (size_t i = 0; i < fake.mappings.n; i++)
		if (fake.mappings.at[i].id == id)
			return &fake.mappings.at[i];
	return NULL;
}

static int answer_one(const struct el_query *query, struct el_answer *answer)
{
	const struct el_mapping *mapping = find_mapping(query->mapping);
	struct el_answer_location location = {.addr = query->addr, .first_line = answer->lines.n};
	struct el_answer_function function = {.code = EL_CODE_NATIVE};
	struct el_answer_object object = {.code = EL_CODE_NATIVE};
	struct el_answer_line line = {.function = answer->functions.n, .line = 1};
	char name[64];
	int err;

	if (!mapping) {
		location.miss = EL_MISS_NO_MAPPING;
	} else {
		bool jit = mapping->flags & EL_MAPPING_ANONYMOUS;

		snprintf(name, sizeof(name), "f%llx", (unsigned long long)query->addr);
		if (jit)
			strcpy(name, query->time_ns < begin_ns + JIT_CHANGES_NS ? "old" : "new");
		location.n_lines = 1;
		location.object = answer->objects.n;
		err = el_strings_add(&answer->strings, name, &function.name);
		if (!err)
			err = el_strings_add(&answer->strings, jit ? "[jit]" : mapping->path,
					     &object.path);
		if (!err)
			err = el_vec_push(&answer->objects, object);
		if (!err)
			err = el_vec_push(&answer->functions, function);
		if (!err)
			err = el_vec_push(&answer->lines, line);
		if (err)
			return err;
	}
	err = el_vec_push(&answer->by_query, (uint32_t)answer->locations.n);
	return err ? err : el_vec_push(&answer->locations, location);
}

static int fake_resolve(struct el_symbolizer *symbolizer, uint32_t image,
			const struct el_query *queries, size_t n, struct el_answer *answer)
{
	int err = 0;

	(void)symbolizer;
	(void)image;
	fake.n_queries += n;
	for (size_t i = 0; !err && i < n; i++)
		err = answer_one(&queries[i], answer);
	return err;
}

static void fake_evict(struct el_symbolizer *symbolizer, size_t limit)
{
	(void)symbolizer;
	(void)limit;
}

static void fake_stats(const struct el_symbolizer *symbolizer, struct el_symbolizer_stats *ret)
{
	(void)symbolizer;
	ret->units_indexed = fake.n_queries;
	ret->jit_objects = fake.n_refreshed;
	ret->objects = fake.mappings.n;
}

static const struct el_symbolizer_calls calls = {
	.new = fake_new,
	.add_image = fake_image,
	.end_image = fake_end_image,
	.drop_image = fake_drop_image,
	.add_mapping = fake_add_mapping,
	.refresh = fake_refresh,
	.resolve = fake_resolve,
	.evict = fake_evict,
	.stats = fake_stats,
};

/* --- the fixture --- */

static const struct el_event_type cpu = {
	.name = "cpu",
	.clock = true,
	.value_type = "cpu",
	.value_unit = "nanoseconds",
};
static const struct el_event_type faults = {
	.name = "page-faults",
	.exact = true,
	.value_type = "page-faults",
	.value_unit = "count",
};

struct fixture {
	struct el_parser *parser;
	struct el_join *join;
	struct el_sampler_sink sink;
	struct el_image_key key;
	void *jit; /* a page of executable memory without a file */
	uint64_t next_stack;
};

static void read_own_key(struct el_image_key *key)
{
	struct el_proc_stat stat = {0};

	assert_int_equal(el_proc_file_stat(AT_FDCWD, "/proc/self/stat", &stat), 0);
	*key = (struct el_image_key){
		.tgid = getpid(),
		.exec_id = 1,
		.start_ns = stat.start_tick * EL_PROC_TICK_NS,
	};
}

static void start(struct fixture *fixture, const struct el_event_type *event)
{
	const struct el_parser_options options = {0};
	const struct el_join_options join_options = {.event = event, .period = 10 * MS};
	struct el_error error = {0};

	memset(fixture, 0, sizeof(*fixture));
	fixture->jit = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(fixture->jit, MAP_FAILED);
	read_own_key(&fixture->key);
	begin_ns = el_now_ns();
	assert_int_equal(el_parser_new_over(&options, &calls, &fixture->parser, &error), 0);
	assert_int_equal(el_join_new(fixture->parser, &join_options, &fixture->join), 0);
	el_join_sink(fixture->join, &fixture->sink);
	assert_int_equal(el_join_attach(fixture->join, getpid()), 0);
}

static int set_up(void **state)
{
	static struct fixture fixture;

	start(&fixture, &cpu);
	*state = &fixture;
	return 0;
}

static int set_up_faults(void **state)
{
	static struct fixture fixture;

	start(&fixture, &faults);
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	el_join_free(fixture->join);
	el_parser_free(fixture->parser);
	munmap(fixture->jit, 4096);
	return 0;
}

static uint64_t give_stack(struct fixture *fixture, const struct el_frame *frames, size_t n,
			   bool kernel)
{
	union {
		struct el_record_stack head;
		uint64_t room[sizeof(struct el_record_stack) / 8 + 16];
	} record = {0};

	record.head.header.type = EL_RECORD_STACK;
	record.head.header.size = sizeof(record.head) + n * sizeof(*frames);
	record.head.id = ++fixture->next_stack;
	record.head.n_frames = n;
	record.head.kernel = kernel;
	if (!kernel)
		record.head.image = fixture->key;
	memcpy(record.head.frames, frames, n * sizeof(*frames));
	assert_int_equal(fixture->sink.stack(fixture->sink.context, &record.head), 0);
	return record.head.id;
}

static uint64_t user_stack(struct fixture *fixture, uint64_t leaf, uint64_t caller)
{
	const struct el_frame frames[] = {
		{.addr = leaf, .kind = EL_FRAME_NATIVE},
		{.addr = caller, .kind = EL_FRAME_NATIVE, .flags = EL_FRAME_RETURN},
	};

	return give_stack(fixture, frames, caller ? 2 : 1, false);
}

/* `ms` after the test's beginning. */
static void sample(struct fixture *fixture, uint64_t ms, uint64_t user, uint64_t kernel,
		   uint64_t weight)
{
	const struct el_record_sample record = {
		.header = {EL_RECORD_SAMPLE, sizeof(record)},
		.image = fixture->key,
		.tid = getpid(),
		.time_ns = begin_ns + ms * MS,
		.weight = weight,
		.user_stack = user,
		.kernel_stack = kernel,
		.comm = "worker",
	};

	assert_int_equal(fixture->sink.sample(fixture->sink.context, &record), 0);
}

static struct el_profile *dump(struct fixture *fixture, uint64_t from_ms, uint64_t to_ms)
{
	struct el_profile *profile = NULL;
	struct el_error error = {0};
	uint64_t to_ns = to_ms == UINT64_MAX ? UINT64_MAX : begin_ns + to_ms * MS;
	int err = el_join_dump(fixture->join, begin_ns + from_ms * MS, to_ns, NULL, NULL, &profile,
			       &error);

	if (err)
		fail_msg("%s", error.text);
	assert_int_equal(el_profile_check(profile, &error), 0);
	return profile;
}

static uint64_t total(const struct el_profile *profile, uint32_t value)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < profile->samples.n; i++)
		sum += profile->samples.at[i].values[value];
	return sum;
}

/* The sum of the samples whose leaf function has that name. */
static uint64_t flat(const struct el_profile *profile, const char *name)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < profile->samples.n; i++) {
		const struct el_profile_sample *row = &profile->samples.at[i];
		const struct el_profile_stack *stack = &profile->stacks.at[row->stack];
		const struct el_profile_location *leaf =
			&profile->locations.at[profile->stack_locations.at[stack->first_location]];
		uint32_t function =
			leaf->n_lines ? profile->lines.at[leaf->first_line].function : 0;
		uint32_t text = profile->functions.at[function].name;

		if (!strcmp(el_strings_get(&profile->strings, text), name))
			sum += row->values[profile->n_value_types - 1];
	}
	return sum;
}

static uint64_t missed(const struct el_profile *profile, enum el_miss miss)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < profile->samples.n; i++) {
		const struct el_profile_sample *row = &profile->samples.at[i];
		const struct el_profile_stack *stack = &profile->stacks.at[row->stack];
		const struct el_profile_location *leaf =
			&profile->locations.at[profile->stack_locations.at[stack->first_location]];

		sum += leaf->miss == miss ? row->values[0] : 0;
	}
	return sum;
}

static uint64_t code_addr(size_t offset)
{
	return (uint64_t)(uintptr_t)read_own_key + offset;
}

static void name_of(uint64_t addr, char *name, size_t size)
{
	snprintf(name, size, "f%llx", (unsigned long long)addr);
}

/* --- tests --- */

static void weights_in_are_weights_out(void **state)
{
	struct fixture *fixture = *state;
	uint64_t stacks[8], expected = 0;
	struct el_profile *profile;
	char name[32];

	for (size_t i = 0; i < 8; i++)
		stacks[i] = user_stack(fixture, code_addr(i), code_addr(100));
	for (uint64_t i = 0; i < 1000; i++) {
		sample(fixture, i / 10, stacks[i % 8], 0, 1000 + i);
		expected += 1000 + i;
	}
	profile = dump(fixture, 0, 1000);
	assert_int_equal(total(profile, 0), 1000);
	assert_int_equal(total(profile, 1), expected);
	assert_int_equal(profile->ticks.n, 1000);
	assert_int_equal(profile->samples.n, 8);
	assert_int_equal(profile->n_value_types, 2);
	name_of(code_addr(3), name, sizeof(name));
	assert_true(flat(profile, name) > 0);
	el_profile_free(profile);
}

static void samples_at_a_border_are_in_one_window_each(void **state)
{
	struct fixture *fixture = *state;
	uint64_t stack = user_stack(fixture, code_addr(0), 0);
	struct el_profile *profile;

	sample(fixture, 9, stack, 0, 1);
	sample(fixture, 10, stack, 0, 10);
	sample(fixture, 11, stack, 0, 100);
	profile = dump(fixture, 0, 10);
	assert_int_equal(total(profile, 1), 1);
	el_profile_free(profile);
	sample(fixture, 8, stack, 0, 1000); /* late */
	profile = dump(fixture, 10, 11);
	assert_int_equal(total(profile, 1), 1010);
	assert_int_equal(profile->ticks.at[0].time_ns, 0);
	el_profile_free(profile);
	profile = dump(fixture, 11, UINT64_MAX);
	assert_int_equal(total(profile, 1), 100);
	el_profile_free(profile);
	profile = dump(fixture, 12, 13);
	assert_int_equal(profile->samples.n, 0);
	el_profile_free(profile);
}

static void stack_whose_body_never_came_is_counted_and_kept(void **state)
{
	struct fixture *fixture = *state;
	struct el_join_counts counts;
	struct el_profile *profile;

	sample(fixture, 1, 0xdead, 0, 7);
	sample(fixture, 2, 0, 0, 8);
	profile = dump(fixture, 0, 10);
	el_join_counts(fixture->join, &counts);
	assert_int_equal(counts.stacks_missing, 1);
	assert_int_equal(counts.samples, 2);
	assert_int_equal(counts.weight, 15);
	assert_int_equal(total(profile, 1), 15);
	assert_int_equal(missed(profile, EL_MISS_NO_STACK), 2);
	el_profile_free(profile);
}

static void kernel_frames_come_before_user_frames(void **state)
{
	const struct el_frame kernel[] = {{.addr = KERNEL_ADDR, .kind = EL_FRAME_KERNEL}};
	struct fixture *fixture = *state;
	const struct el_profile_location *leaf, *root;
	const struct el_profile_stack *stack;
	struct el_profile *profile;
	char name[32];

	sample(fixture, 1, user_stack(fixture, code_addr(0), code_addr(9)),
	       give_stack(fixture, kernel, 1, true), 5);
	profile = dump(fixture, 0, 10);
	stack = &profile->stacks.at[profile->samples.at[0].stack];
	assert_int_equal(stack->n_locations, 3);
	leaf = &profile->locations.at[profile->stack_locations.at[stack->first_location]];
	root = &profile->locations.at[profile->stack_locations.at[stack->first_location + 2]];
	assert_int_equal(leaf->addr, KERNEL_ADDR);
	assert_int_equal(root->addr, code_addr(9) - 1); /* the call, not the return */
	name_of(KERNEL_ADDR, name, sizeof(name));
	assert_int_equal(flat(profile, name), 5);
	el_profile_free(profile);
}

static void jit_address_is_named_by_the_time_of_each_sample(void **state)
{
	struct fixture *fixture = *state;
	uint64_t stack = user_stack(fixture, (uint64_t)(uintptr_t)fixture->jit + 16, 0);
	struct el_profile *profile;

	sample(fixture, 10, stack, 0, 1);
	sample(fixture, 49, stack, 0, 10);
	sample(fixture, 50, stack, 0, 100);
	sample(fixture, 90, stack, 0, 1000);
	profile = dump(fixture, 0, 100);
	assert_int_equal(flat(profile, "old"), 11);
	assert_int_equal(flat(profile, "new"), 1100);
	el_profile_free(profile);
}

static void unchanged_jit_address_costs_two_questions(void **state)
{
	struct fixture *fixture = *state;
	uint64_t stack = user_stack(fixture, (uint64_t)(uintptr_t)fixture->jit + 16, 0);
	struct el_symbolizer_stats stats;
	struct el_profile *profile;

	for (uint64_t i = 0; i < 40; i++)
		sample(fixture, i, stack, 0, 1);
	profile = dump(fixture, 0, 100);
	assert_int_equal(flat(profile, "old"), 40);
	assert_int_equal(el_parser_symbolizer_stats(fixture->parser, &stats), 0);
	assert_int_equal(stats.units_indexed, 2);
	el_profile_free(profile);
}

static void jit_code_is_read_again_and_all_files_first(void **state)
{
	struct fixture *fixture = *state;
	uint64_t stack = user_stack(fixture, (uint64_t)(uintptr_t)fixture->jit + 16, 0);
	struct el_symbolizer_stats stats;

	sample(fixture, 1, stack, 0, 1);
	assert_int_equal(el_join_acquire(fixture->join), 0);
	assert_int_equal(el_parser_symbolizer_stats(fixture->parser, &stats), 0);
	assert_int_equal(stats.jit_objects, 1);
	assert_true(stats.objects > 2); /* libc, this program, ... though only the page was hit */
	sample(fixture, 2, stack, 0, 1);
	assert_int_equal(el_join_acquire(fixture->join), 0);
	assert_int_equal(el_parser_symbolizer_stats(fixture->parser, &stats), 0);
	assert_int_equal(stats.jit_objects, 1); /* not again at once */
}

static void addresses_of_files_are_asked_about_once_in_all_windows(void **state)
{
	struct fixture *fixture = *state;
	uint64_t stack = user_stack(fixture, code_addr(0), code_addr(9));
	struct el_symbolizer_stats stats;

	for (uint64_t window = 0; window < 5; window++) {
		struct el_profile *profile;

		sample(fixture, window * 10, stack, 0, 1);
		profile = dump(fixture, window * 10, window * 10 + 10);
		assert_int_equal(total(profile, 0), 1);
		el_profile_free(profile);
	}
	assert_int_equal(el_parser_symbolizer_stats(fixture->parser, &stats), 0);
	assert_int_equal(stats.units_indexed, 2);
}

static void answers_over_the_limit_are_forgotten_and_asked_again(void **state)
{
	const struct el_join_options options = {.event = &cpu, .period = 1, .known_limit = 1};
	struct fixture *fixture = *state;
	uint64_t stack;
	struct el_symbolizer_stats stats;

	el_join_free(fixture->join);
	assert_int_equal(el_join_new(fixture->parser, &options, &fixture->join), 0);
	el_join_sink(fixture->join, &fixture->sink);
	stack = user_stack(fixture, code_addr(0), 0);
	for (uint64_t window = 0; window < 3; window++) {
		struct el_profile *profile;

		sample(fixture, window * 10, stack, 0, 1);
		profile = dump(fixture, window * 10, window * 10 + 10);
		assert_int_equal(total(profile, 0), 1);
		el_profile_free(profile);
	}
	assert_int_equal(el_parser_symbolizer_stats(fixture->parser, &stats), 0);
	assert_int_equal(stats.units_indexed, 3);
}

static void stack_sent_once_is_there_in_all_windows(void **state)
{
	struct fixture *fixture = *state;
	uint64_t stack = user_stack(fixture, code_addr(0), 0);
	struct el_profile *profile = NULL;

	for (uint64_t window = 0; window < 4; window++) {
		el_profile_free(profile);
		profile = dump(fixture, window * 10, window * 10 + 10);
	}
	el_profile_free(profile);
	sample(fixture, 41, stack, 0, 1);
	profile = dump(fixture, 40, 50);
	assert_int_equal(missed(profile, EL_MISS_NO_STACK), 0);
	el_profile_free(profile);
}

static void counting_event_has_one_value(void **state)
{
	struct fixture *fixture = *state;
	uint64_t stack = user_stack(fixture, code_addr(0), 0);
	struct el_profile *profile;

	sample(fixture, 1, stack, 0, 1);
	sample(fixture, 2, stack, 0, 1);
	profile = dump(fixture, 0, 10);
	assert_int_equal(profile->n_value_types, 1);
	assert_string_equal(el_strings_get(&profile->strings, profile->value_types[0].type),
			    "page-faults");
	assert_int_equal(total(profile, 0), 2);
	assert_int_equal(profile->ticks.n, 2);
	el_profile_free(profile);
}

static void parser_killed_before_the_dump_loses_nothing(void **state)
{
	struct fixture *fixture = *state;
	uint64_t stack = user_stack(fixture, code_addr(0), code_addr(9));
	struct el_profile *profile;
	char name[32];

	sample(fixture, 1, stack, 0, 3);
	assert_int_equal(el_join_acquire(fixture->join), 0);
	kill(el_parser_pid(fixture->parser), SIGKILL);
	profile = dump(fixture, 0, 10);
	name_of(code_addr(0), name, sizeof(name));
	assert_int_equal(flat(profile, name), 3);
	el_profile_free(profile);
}

static void process_that_is_gone_keeps_its_samples(void **state)
{
	struct fixture *fixture = *state;
	uint64_t stack = user_stack(fixture, 0x400000, 0x400100);
	struct el_join_counts counts;
	struct el_profile *profile;

	fixture->key.tgid = 0x3fffffff; /* above every pid_max */
	fixture->key.start_ns += 77;
	sample(fixture, 1, stack, 0, 4);
	profile = dump(fixture, 0, 10);
	el_join_counts(fixture->join, &counts);
	assert_int_equal(counts.images_unread, 1);
	assert_int_equal(total(profile, 1), 4);
	assert_int_equal(missed(profile, EL_MISS_NO_MAPPING), 1);
	el_profile_free(profile);
}

static void frames_without_flags_are_late_only_at_a_clocks_user_leaf(void **state)
{
	const struct el_frame plain = {.kind = EL_FRAME_NATIVE};
	const struct el_frame kernel = {.kind = EL_FRAME_KERNEL};
	const struct el_frame caller = {.kind = EL_FRAME_NATIVE, .flags = EL_FRAME_RETURN};
	const struct el_frame exact = {.kind = EL_FRAME_NATIVE, .flags = EL_FRAME_EXACT};

	(void)state;
	assert_int_equal(el_fold_pc(&plain, true, false), EL_PC_LATE);
	assert_int_equal(el_fold_pc(&plain, true, true), EL_PC_EXACT);
	assert_int_equal(el_fold_pc(&exact, true, false), EL_PC_EXACT);
	assert_int_equal(el_fold_pc(&kernel, true, false), EL_PC_EXACT);
	assert_int_equal(el_fold_pc(&caller, false, false), EL_PC_RETURN);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(weights_in_are_weights_out),
		TEST(samples_at_a_border_are_in_one_window_each),
		TEST(stack_whose_body_never_came_is_counted_and_kept),
		TEST(kernel_frames_come_before_user_frames),
		TEST(jit_address_is_named_by_the_time_of_each_sample),
		TEST(unchanged_jit_address_costs_two_questions),
		TEST(jit_code_is_read_again_and_all_files_first),
		TEST(addresses_of_files_are_asked_about_once_in_all_windows),
		TEST(answers_over_the_limit_are_forgotten_and_asked_again),
		TEST(stack_sent_once_is_there_in_all_windows),
		TEST(parser_killed_before_the_dump_loses_nothing),
		TEST(process_that_is_gone_keeps_its_samples),
		cmocka_unit_test_setup_teardown(counting_event_has_one_value, set_up_faults,
						tear_down),
		cmocka_unit_test(frames_without_flags_are_late_only_at_a_clocks_user_leaf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
