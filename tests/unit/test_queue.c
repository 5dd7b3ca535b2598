/* SPDX-License-Identifier: Apache-2.0 */
/* Records of several rings in time order; threads and the exit that ends a process. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "user/sampling/queue.h"
#include "user/sampling/threads.h"

struct seen {
	char text[256];
	int fail_after; /* 0: never */
};

static int note(void *context, enum el_arrival_kind kind, const void *record, size_t size)
{
	struct seen *seen = context;
	size_t used = strlen(seen->text);

	snprintf(seen->text + used, sizeof(seen->text) - used, "%s%.*s",
		 kind == EL_ARRIVAL_SAMPLE ? "+" : "-", (int)size, (const char *)record);
	return seen->fail_after && !--seen->fail_after ? -EIO : 0;
}

static void add(struct el_queue *queue, enum el_arrival_kind kind, uint64_t time_ns,
		const char *name)
{
	assert_int_equal(el_queue_add(queue, kind, time_ns, name, strlen(name)), 0);
}

static void arrivals_of_two_rings_come_in_time_order(void **state)
{
	struct el_queue queue = {0};
	struct seen seen = {""};

	(void)state;
	add(&queue, EL_ARRIVAL_SIDEBAND, 30, "c");
	add(&queue, EL_ARRIVAL_SIDEBAND, 10, "a");
	add(&queue, EL_ARRIVAL_SAMPLE, 20, "b");
	add(&queue, EL_ARRIVAL_SAMPLE, 30, "d"); /* side-band of the same time goes first */
	assert_int_equal(el_queue_hand_over(&queue, UINT64_MAX, note, &seen), 0);
	assert_string_equal(seen.text, "-a+b-c+d");
	assert_int_equal(queue.out_of_order, 0);
	el_queue_deinit(&queue);
}

static void sample_waits_for_the_time_its_sideband_was_read_to(void **state)
{
	struct el_queue queue = {0};
	struct seen seen = {""};

	(void)state;
	add(&queue, EL_ARRIVAL_SAMPLE, 50, "late sample");
	add(&queue, EL_ARRIVAL_SAMPLE, 10, "early");
	assert_int_equal(el_queue_hand_over(&queue, 40, note, &seen), 0);
	assert_string_equal(seen.text, "+early");
	add(&queue, EL_ARRIVAL_SIDEBAND, 45, "mapping");
	assert_int_equal(el_queue_hand_over(&queue, 50, note, &seen), 0);
	assert_string_equal(seen.text, "+early-mapping+late sample");
	el_queue_deinit(&queue);
}

static void arrival_before_what_was_handed_over_is_counted(void **state)
{
	struct el_queue queue = {0};
	struct seen seen = {""};

	(void)state;
	add(&queue, EL_ARRIVAL_SAMPLE, 50, "x");
	el_queue_hand_over(&queue, 50, note, &seen);
	add(&queue, EL_ARRIVAL_SIDEBAND, 49, "y");
	assert_int_equal(queue.out_of_order, 1);
	el_queue_hand_over(&queue, 50, note, &seen);
	assert_string_equal(seen.text, "+x-y");
	el_queue_deinit(&queue);
}

static void sink_that_fails_loses_only_its_own_record(void **state)
{
	struct el_queue queue = {0};
	struct seen seen = {"", .fail_after = 1};

	(void)state;
	add(&queue, EL_ARRIVAL_SAMPLE, 1, "a");
	add(&queue, EL_ARRIVAL_SAMPLE, 2, "b");
	assert_int_equal(el_queue_hand_over(&queue, 5, note, &seen), -EIO);
	assert_int_equal(el_queue_hand_over(&queue, 5, note, &seen), 0);
	assert_string_equal(seen.text, "+a+b");
	assert_int_equal(queue.bytes.n, 0);
	el_queue_deinit(&queue);
}

/* Random arrivals and watermarks: everything once, in order, whatever is left over between. */
static void many_rounds_keep_every_record(void **state)
{
	struct el_queue queue = {0};
	struct seen seen;
	uint64_t random = 1, now = 0, n_in = 0, n_out = 0;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		for (int i = 0; i < 5; i++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			add(&queue, EL_ARRIVAL_SAMPLE, now + 1 + (random >> 40) % 30,
			    &"12345678901"[random % 11]);
			n_in++;
		}
		now += 10;
		seen = (struct seen){""};
		assert_int_equal(el_queue_hand_over(&queue, now, note, &seen), 0);
		for (char *c = seen.text; *c; c++)
			n_out += *c == '+';
	}
	assert_int_equal(n_in, n_out + queue.arrivals.n);
	assert_int_equal(queue.out_of_order, 0);
	el_queue_deinit(&queue);
}

static void leader_that_exits_first_does_not_end_its_process(void **state)
{
	struct el_threads threads;

	(void)state;
	assert_int_equal(el_threads_init(&threads), 0);
	el_threads_follow(&threads, 100, 1);
	el_threads_started(&threads, 100);
	assert_false(el_threads_ended(&threads, 100, 100));
	assert_true(el_threads_followed(&threads, 100));
	assert_true(el_threads_ended(&threads, 100, 101));
	assert_false(el_threads_followed(&threads, 100));
	el_threads_deinit(&threads);
}

static void process_never_counted_ends_with_its_leader(void **state)
{
	struct el_threads threads;

	(void)state;
	assert_int_equal(el_threads_init(&threads), 0);
	assert_false(el_threads_ended(&threads, 100, 101));
	assert_true(el_threads_ended(&threads, 100, 100));
	el_threads_deinit(&threads);
}

static void after_a_loss_the_leader_decides(void **state)
{
	struct el_threads threads;

	(void)state;
	assert_int_equal(el_threads_init(&threads), 0);
	el_threads_follow(&threads, 100, 3);
	threads.uncertain = true;
	assert_false(el_threads_ended(&threads, 100, 101));
	assert_true(el_threads_ended(&threads, 100, 100));
	assert_false(el_threads_followed(&threads, 100));
	el_threads_deinit(&threads);
}

static void impossible_process_id_is_nobody(void **state)
{
	struct el_threads threads;

	(void)state;
	assert_int_equal(el_threads_init(&threads), 0);
	el_threads_follow(&threads, UINT32_MAX, 1);
	el_threads_started(&threads, UINT32_MAX);
	assert_false(el_threads_followed(&threads, UINT32_MAX));
	assert_false(el_threads_ended(&threads, UINT32_MAX, UINT32_MAX));
	el_threads_deinit(&threads);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrivals_of_two_rings_come_in_time_order),
		cmocka_unit_test(sample_waits_for_the_time_its_sideband_was_read_to),
		cmocka_unit_test(arrival_before_what_was_handed_over_is_counted),
		cmocka_unit_test(sink_that_fails_loses_only_its_own_record),
		cmocka_unit_test(many_rounds_keep_every_record),
		cmocka_unit_test(leader_that_exits_first_does_not_end_its_process),
		cmocka_unit_test(process_never_counted_ends_with_its_leader),
		cmocka_unit_test(after_a_loss_the_leader_decides),
		cmocka_unit_test(impossible_process_id_is_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
