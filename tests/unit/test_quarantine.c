/* SPDX-License-Identifier: Apache-2.0 */
/* Which inputs a parser may not touch again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "user/symbolize/quarantine.h"

static int set_up(void **state)
{
	static struct el_quarantine quarantine;

	assert_int_equal(el_quarantine_init(&quarantine), 0);
	*state = &quarantine;
	return 0;
}

static int tear_down(void **state)
{
	el_quarantine_deinit(*state);
	return 0;
}

static bool die_on(struct el_quarantine *quarantine, uint64_t identity, bool guilty)
{
	assert_false(el_parsing_begin(quarantine->page, identity));
	return el_quarantine_on_death(quarantine, guilty);
}

static void crash_refuses_the_input_at_once(void **state)
{
	struct el_quarantine *quarantine = *state;

	assert_true(die_on(quarantine, 7, true));
	assert_true(el_parsing_begin(quarantine->page, 7));
	assert_false(el_parsing_begin(quarantine->page, 8));
}

static void kill_refuses_the_input_only_at_the_second_time(void **state)
{
	struct el_quarantine *quarantine = *state;

	assert_false(die_on(quarantine, 7, false));
	assert_true(die_on(quarantine, 7, false));
	assert_true(el_parsing_begin(quarantine->page, 7));
}

static void death_between_inputs_refuses_nothing(void **state)
{
	struct el_quarantine *quarantine = *state;

	el_parsing_begin(quarantine->page, 7);
	el_parsing_begin(quarantine->page, 0);
	assert_false(el_quarantine_on_death(quarantine, true));
	assert_false(el_parsing_begin(quarantine->page, 7));
}

static void full_list_makes_room_from_the_oldest(void **state)
{
	struct el_quarantine *quarantine = *state;

	for (uint64_t identity = 1; identity <= 502; identity++)
		assert_true(die_on(quarantine, identity, true));
	assert_false(el_parsing_begin(quarantine->page, 1));
	assert_false(el_parsing_begin(quarantine->page, 2));
	assert_true(el_parsing_begin(quarantine->page, 3));
	assert_true(el_parsing_begin(quarantine->page, 502));
}

static void steps_count_what_is_begun(void **state)
{
	struct el_quarantine *quarantine = *state;
	uint64_t steps = el_quarantine_steps(quarantine);

	el_parsing_begin(quarantine->page, 7);
	el_parsing_progress(quarantine->page);
	assert_int_equal(el_quarantine_steps(quarantine), steps + 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(crash_refuses_the_input_at_once),
		TEST(kill_refuses_the_input_only_at_the_second_time),
		TEST(death_between_inputs_refuses_nothing),
		TEST(full_list_makes_room_from_the_oldest),
		TEST(steps_count_what_is_begun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
