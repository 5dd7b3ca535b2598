/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The join over the real fetcher, parser and symbolizer: samples are made up,
 * the processes, files and line tables are real (this program's own).
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/proc_file.h"
#include "base/time.h"
#include "user/symbolize/join.h"
#include "user/symbolize/parser_process.h"

#define MS 1000000ull

enum { FIRST_LINE = __LINE__ };
__attribute__((noinline, used)) static int well_known_function(volatile int *value)
{
	int sum = 0;

	for (int i = 0; i < *value; i++)
		sum += *value ^ i;
	return sum;
}
enum { LAST_LINE = __LINE__ };

static const struct el_event_type cpu = {
	.name = "cpu",
	.clock = true,
	.value_type = "cpu",
	.value_unit = "nanoseconds",
};

struct fixture {
	struct el_parser *parser;
	struct el_join *join;
	struct el_sampler_sink sink;
	struct el_image_key key;
	uint64_t begin_ns;
};

static void sample_process(struct fixture *fixture, pid_t pid)
{
	struct el_proc_stat stat = {0};
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	assert_int_equal(el_proc_file_stat(AT_FDCWD, path, &stat), 0);
	fixture->key = (struct el_image_key){
		.tgid = pid,
		.exec_id = 1,
		.start_ns = stat.start_tick * EL_PROC_TICK_NS,
	};
}

static int set_up(void **state)
{
	static struct fixture fixture;
	const struct el_parser_options options = {0};
	const struct el_join_options join_options = {.event = &cpu, .period = 10 * MS};
	struct el_error error = {0};

	fixture.begin_ns = el_now_ns();
	sample_process(&fixture, getpid());
	assert_int_equal(el_parser_new(&options, &fixture.parser, &error), 0);
	assert_int_equal(el_join_new(fixture.parser, &join_options, &fixture.join), 0);
	el_join_sink(fixture.join, &fixture.sink);
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	el_join_free(fixture->join);
	el_parser_free(fixture->parser);
	return 0;
}

static void sample_at(struct fixture *fixture, uint64_t addr)
{
	union {
		struct el_record_stack head;
		uint64_t room[sizeof(struct el_record_stack) / 8 + 2];
	} stack = {0};
	const struct el_record_sample sample = {
		.header = {EL_RECORD_SAMPLE, sizeof(sample)},
		.image = fixture->key,
		.tid = fixture->key.tgid,
		.time_ns = el_now_ns(),
		.weight = 1,
		.user_stack = addr,
		.comm = "test",
	};

	stack.head.header.type = EL_RECORD_STACK;
	stack.head.header.size = sizeof(stack);
	stack.head.id = addr;
	stack.head.n_frames = 1;
	stack.head.image = fixture->key;
	stack.head.frames[0] = (struct el_frame){.addr = addr, .kind = EL_FRAME_NATIVE};
	assert_int_equal(fixture->sink.stack(fixture->sink.context, &stack.head), 0);
	assert_int_equal(fixture->sink.sample(fixture->sink.context, &sample), 0);
}

static struct el_profile *dump(struct fixture *fixture)
{
	struct el_profile *profile = NULL;
	struct el_error error = {0};

	if (el_join_dump(fixture->join, fixture->begin_ns, UINT64_MAX, NULL, NULL, &profile,
			 &error))
		fail_msg("%s", error.text);
	assert_int_equal(el_profile_check(profile, &error), 0);
	return profile;
}

static uint64_t known_addr(size_t offset)
{
	return (uint64_t)(uintptr_t)well_known_function + offset;
}

/* Name, file and line of the only location; 0 without line information. */
static uint32_t check_location(const struct el_profile *profile, const char *name)
{
	const struct el_profile_function *function;
	const struct el_profile_location *location;

	assert_int_equal(profile->locations.n, 2);
	location = &profile->locations.at[1];
	if (!location->n_lines)
		fail_msg("miss %u: %s", location->miss, el_miss_sentence(location->miss));
	function = &profile->functions.at[profile->lines.at[location->first_line].function];
	assert_string_equal(el_strings_get(&profile->strings, function->name), name);
	if (location->miss == EL_MISS_NO_LINE)
		return 0;
	assert_non_null(
		strstr(el_strings_get(&profile->strings, function->file), "test_join_real.c"));
	return profile->lines.at[location->first_line].line;
}

static void own_function_has_its_name_file_and_line(void **state)
{
	struct fixture *fixture = *state;
	struct el_profile *profile;
	uint32_t line;

	sample_at(fixture, known_addr(4));
	profile = dump(fixture);
	line = check_location(profile, "well_known_function");
	if (line)
		assert_in_range(line, FIRST_LINE, LAST_LINE);
	el_profile_free(profile);
}

static void process_that_ended_after_it_was_acquired_is_resolved(void **state)
{
	struct fixture *fixture = *state;
	struct el_profile *profile;
	pid_t child = fork();

	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	sample_process(fixture, child);
	sample_at(fixture, known_addr(4));
	assert_int_equal(el_join_acquire(fixture->join), 0);
	/* The parser takes messages in order: when it answers this, it has the file. */
	assert_int_equal(el_parser_evict(fixture->parser, SIZE_MAX), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	fixture->sink.exit(fixture->sink.context, el_now_ns(), child);
	profile = dump(fixture);
	check_location(profile, "well_known_function");
	assert_int_equal(profile->processes.at[1].pid, child);
	el_profile_free(profile);
}

static void evicted_parser_answers_again(void **state)
{
	struct fixture *fixture = *state;
	struct el_profile *profile;

	sample_at(fixture, known_addr(4));
	profile = dump(fixture);
	el_profile_free(profile);
	assert_int_equal(el_parser_evict(fixture->parser, 0), 0);
	sample_at(fixture, known_addr(5));
	profile = dump(fixture);
	check_location(profile, "well_known_function");
	el_profile_free(profile);
}

static void killed_parser_and_fetcher_still_give_names(void **state)
{
	struct fixture *fixture = *state;
	struct el_profile *profile;

	sample_at(fixture, known_addr(4));
	assert_int_equal(el_join_acquire(fixture->join), 0);
	kill(el_parser_pid(fixture->parser), SIGKILL);
	kill(el_parser_fetcher_pid(fixture->parser), SIGKILL);
	profile = dump(fixture);
	check_location(profile, "well_known_function");
	el_profile_free(profile);
}

static void address_in_no_mapping_is_a_miss_by_name(void **state)
{
	struct fixture *fixture = *state;
	struct el_profile *profile;

	sample_at(fixture, 0x1000);
	profile = dump(fixture);
	assert_int_equal(profile->locations.at[1].miss, EL_MISS_NO_MAPPING);
	assert_int_equal(profile->samples.at[0].values[0], 1);
	el_profile_free(profile);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(own_function_has_its_name_file_and_line),
		TEST(process_that_ended_after_it_was_acquired_is_resolved),
		TEST(evicted_parser_answers_again),
		TEST(killed_parser_and_fetcher_still_give_names),
		TEST(address_in_no_mapping_is_a_miss_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
