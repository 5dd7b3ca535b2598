/* SPDX-License-Identifier: Apache-2.0 */
/* Stack bodies between windows: kept as long as the kernel may believe them to be here, no longer.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "user/symbolize/raw.h"

static void give_stack(struct el_raw *raw, uint64_t id, uint16_t n_frames)
{
	union {
		struct el_record_stack head;
		uint64_t room[sizeof(struct el_record_stack) / 8 + 8];
	} record = {0};

	record.head.header.type = EL_RECORD_STACK;
	record.head.header.size = sizeof(record);
	record.head.id = id;
	record.head.n_frames = n_frames;
	record.head.frames[0].addr = id;
	assert_int_equal(el_raw_add_stack(raw, &record.head), 0);
}

static const struct el_raw_sample *give_sample(struct el_raw *raw, uint64_t time_ns, uint64_t stack)
{
	const struct el_record_sample record = {
		.time_ns = time_ns,
		.weight = 1,
		.user_stack = stack,
		.comm = "0123456789abcdef", /* no NUL */
	};

	assert_int_equal(el_raw_add_sample(raw, &record, 1), 0);
	return &raw->samples.at[raw->samples.n - 1];
}

static int set_up(void **state)
{
	static struct el_raw raw;

	assert_int_equal(el_raw_init(&raw), 0);
	*state = &raw;
	return 0;
}

static int tear_down(void **state)
{
	el_raw_deinit(*state);
	return 0;
}

static void stack_kept_in_its_slot_survives_idle_windows(void **state)
{
	struct el_raw *raw = *state;

	give_stack(raw, 5, 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(el_raw_forget(raw, UINT64_MAX), 0);
	assert_int_equal(give_sample(raw, 1, 5)->flags, 0);
}

static void stack_pushed_out_of_its_slot_goes_a_window_after_its_last_use(void **state)
{
	struct el_raw *raw = *state;

	give_stack(raw, 5, 1);
	give_stack(raw, 5 + EL_KNOWN_STACKS, 1);
	assert_int_equal(el_raw_forget(raw, UINT64_MAX), 0);
	assert_int_equal(give_sample(raw, 1, 5)->flags, 0); /* its sample was still on its way */
	assert_int_equal(el_raw_forget(raw, UINT64_MAX), 0);
	assert_int_equal(el_raw_forget(raw, UINT64_MAX), 0);
	assert_int_equal(raw->stacks.n, 2);
	assert_int_equal(give_sample(raw, 2, 5)->flags, EL_RAW_STACK_MISSING);
	assert_int_equal(give_sample(raw, 2, 5 + EL_KNOWN_STACKS)->flags, 0);
	assert_int_equal(raw->n_missing, 1);
}

static void sample_of_the_next_window_keeps_its_stack_and_thread(void **state)
{
	const struct el_raw_sample *sample;
	struct el_raw *raw = *state;

	for (uint64_t id = 1; id <= 9; id++)
		give_stack(raw, id, 1);
	give_stack(raw, 7 + EL_KNOWN_STACKS, 1);
	give_sample(raw, 10, 3);
	give_sample(raw, 20, 7);
	assert_int_equal(el_raw_forget(raw, 15), 0);
	assert_int_equal(el_raw_forget(raw, 15), 0);
	assert_int_equal(raw->samples.n, 1);
	sample = &raw->samples.at[0];
	assert_int_equal(raw->frames.at[raw->stacks.at[sample->user_stack].first_frame].addr, 7);
	assert_string_equal(el_strings_get(&raw->threads, sample->thread), "0123456789abcdef");
}

static void stack_shorter_than_its_frames_is_refused(void **state)
{
	const struct el_record_stack record = {
		.header = {EL_RECORD_STACK, sizeof(record)}, .id = 1, .n_frames = 1};

	assert_int_equal(el_raw_add_stack(*state, &record), -EBADMSG);
}

static void exec_storm_of_new_stacks_stays_level(void **state)
{
	struct el_raw *raw = *state;
	size_t size = 0;

	for (uint64_t window = 0; window < 20; window++) {
		for (uint64_t i = 0; i < 20000; i++)
			give_stack(raw, 1 + (window * 20000 + i) * 0x9e3779b97f4a7c15ull, 4);
		assert_int_equal(el_raw_forget(raw, UINT64_MAX), 0);
		if (window == 10)
			size = el_raw_size(raw);
	}
	assert_true(el_raw_size(raw) <= size);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(stack_kept_in_its_slot_survives_idle_windows),
		TEST(stack_pushed_out_of_its_slot_goes_a_window_after_its_last_use),
		TEST(sample_of_the_next_window_keeps_its_stack_and_thread),
		TEST(stack_shorter_than_its_frames_is_refused),
		TEST(exec_storm_of_new_stacks_stays_level),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
