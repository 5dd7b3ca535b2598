/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser process under a symbolizer that crashes, hangs and talks nonsense
 * on demand: every query is answered, always. Real processes, real signals.
 */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "user/symbolize/parser_process.h"

/* --- a symbolizer that does as the address says --- */

#define CRASH 0x1000000ull /* dies while it parses input number addr / CRASH */
#define HANG_AT 0x666
#define PAUSE_AT 0x777    /* time enough to be killed from outside */
#define NONSENSE_AT 0x888 /* an answer with an index outside its tables */
#define SLOW_AT 0x999     /* takes longer than a deadline, with signs of progress */
#define ERROR_AT 0xaaa

static struct {
	struct el_source source;
	unsigned int n_images, n_mappings, n_ended;
} fake;

static int fake_new(const struct el_source *source, const struct el_symbolizer_options *options,
		    struct el_symbolizer **ret)
{
	(void)options;
	memset(&fake, 0, sizeof(fake));
	fake.source = *source;
	*ret = (struct el_symbolizer *)&fake;
	return 0;
}

static int fake_add_image(struct el_symbolizer *symbolizer, const struct el_image *image)
{
	(void)symbolizer;
	(void)image;
	fake.n_images++;
	return 0;
}

static int fake_end_image(struct el_symbolizer *symbolizer, uint32_t image)
{
	(void)symbolizer;
	(void)image;
	fake.n_ended++;
	return 0;
}

static void fake_drop_image(struct el_symbolizer *symbolizer, uint32_t image)
{
	(void)symbolizer;
	(void)image;
	fake.n_images--;
}

static int fake_add_mapping(struct el_symbolizer *symbolizer, uint32_t image,
			    const struct el_mapping *mapping)
{
	(void)symbolizer;
	(void)image;
	fake.n_mappings += !strcmp(mapping->path, "/bin/x");
	return 0;
}

static int fake_refresh(struct el_symbolizer *symbolizer, uint32_t image)
{
	const struct el_image whom = {.id = image, .pid = getppid()};
	char byte;

	(void)symbolizer;
	/* Through the fetcher; an address that is not mapped. */
	return fake.source.read_memory(fake.source.context, &whom, 16, &byte, 1) < 0 ? -EFAULT : 0;
}

static void misbehave(uint64_t addr, struct el_answer_location *location)
{
	const struct timespec pause = {.tv_nsec = 100000000};

	switch (addr) {
	case HANG_AT:
		for (;;)
			nanosleep(&pause, NULL);
	case PAUSE_AT:
		nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
		break;
	case NONSENSE_AT:
		location->object = 77;
		break;
	case SLOW_AT:
		for (int i = 0; i < 8; i++) {
			fake.source.parsing(fake.source.context, 12345);
			nanosleep(&pause, NULL);
		}
		break;
	}
}

static int fake_resolve(struct el_symbolizer *symbolizer, uint32_t image,
			const struct el_query *queries, size_t n, struct el_answer *answer)
{
	(void)symbolizer;
	(void)image;
	for (size_t i = 0; i < n; i++) {
		struct el_answer_location location = {.addr = queries[i].addr + 1};
		uint64_t input =
			queries[i].addr >= CRASH ? queries[i].addr / CRASH : queries[i].addr;

		if (queries[i].addr == ERROR_AT)
			return -EIO;
		if (fake.source.parsing(fake.source.context, input))
			location.miss = EL_MISS_QUARANTINED;
		else if (queries[i].addr >= CRASH)
			abort();
		else
			misbehave(queries[i].addr, &location);
		fake.source.parsing(fake.source.context, 0);
		if (el_vec_push(&answer->by_query, (uint32_t)answer->locations.n) ||
		    el_vec_push(&answer->locations, location))
			return -ENOMEM;
	}
	return 0;
}

static void fake_evict(struct el_symbolizer *symbolizer, size_t limit)
{
	(void)symbolizer;
	(void)limit;
}

static void fake_stats(const struct el_symbolizer *symbolizer, struct el_symbolizer_stats *ret)
{
	(void)symbolizer;
	ret->objects = fake.n_images;
	ret->units_indexed = fake.n_mappings;
	ret->evictions = fake.n_ended;
}

static const struct el_symbolizer_calls calls = {
	.new = fake_new,
	.add_image = fake_add_image,
	.end_image = fake_end_image,
	.drop_image = fake_drop_image,
	.add_mapping = fake_add_mapping,
	.refresh = fake_refresh,
	.resolve = fake_resolve,
	.evict = fake_evict,
	.stats = fake_stats,
};

/* --- fixture --- */

struct fixture {
	struct el_parser *parser;
	struct el_answer answer;
};

static int set_up(void **state)
{
	static struct fixture fixture;
	const struct el_parser_options options = {.deadline_ms = 300};
	struct el_error error = {0};

	assert_int_equal(el_parser_new_over(&options, &calls, &fixture.parser, &error), 0);
	assert_int_equal(el_answer_init(&fixture.answer), 0);
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	el_parser_free(fixture->parser);
	el_answer_deinit(&fixture->answer);
	return 0;
}

static const struct el_answer_location *answer_to(const struct fixture *fixture, size_t query)
{
	assert_true(query < fixture->answer.by_query.n);
	return &fixture->answer.locations.at[fixture->answer.by_query.at[query]];
}

static void resolve_one(struct fixture *fixture, uint64_t addr)
{
	const struct el_query query = {.addr = addr};

	assert_int_equal(el_parser_resolve(fixture->parser, 1, &query, 1, &fixture->answer), 0);
}

static struct el_parser_stats stats_of(const struct fixture *fixture)
{
	struct el_parser_stats stats;

	el_parser_stats(fixture->parser, &stats);
	return stats;
}

/* --- tests --- */

static void many_queries_are_answered_in_order(void **state)
{
	enum { N = 10000 };
	static struct el_query queries[N];
	struct fixture *fixture = *state;

	for (size_t i = 0; i < N; i++)
		queries[i].addr = 0x10000 + i;
	assert_int_equal(el_parser_resolve(fixture->parser, 1, queries, N, &fixture->answer), 0);
	assert_int_equal(fixture->answer.by_query.n, N);
	for (size_t i = 0; i < N; i++)
		assert_int_equal(answer_to(fixture, i)->addr, 0x10001 + i);
	assert_int_equal(stats_of(fixture).parser_restarts, 0);
}

static void crashing_input_is_quarantined_and_the_others_are_answered(void **state)
{
	const struct el_query queries[] = {{.addr = 5}, {.addr = 3 * CRASH}, {.addr = 9}};
	struct fixture *fixture = *state;

	assert_int_equal(el_parser_resolve(fixture->parser, 1, queries, 3, &fixture->answer), 0);
	assert_int_equal(answer_to(fixture, 0)->addr, 6);
	assert_int_equal(answer_to(fixture, 1)->miss, EL_MISS_QUARANTINED);
	assert_int_equal(answer_to(fixture, 2)->addr, 10);
	assert_int_equal(stats_of(fixture).parser_restarts, 1);
	assert_int_equal(stats_of(fixture).quarantined, 1);
	resolve_one(fixture, 3 * CRASH + 1); /* the same input again: no second crash */
	assert_int_equal(answer_to(fixture, 3)->miss, EL_MISS_QUARANTINED);
	assert_int_equal(stats_of(fixture).parser_restarts, 1);
}

static void more_crashes_than_restarts_still_answer_every_query(void **state)
{
	struct el_query queries[40] = {0};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < 40; i++)
		queries[i].addr = (i + 1) * CRASH;
	assert_int_equal(el_parser_resolve(fixture->parser, 1, queries, 40, &fixture->answer), 0);
	assert_int_equal(fixture->answer.by_query.n, 40);
	for (size_t i = 0; i < 40; i++)
		assert_int_equal(answer_to(fixture, i)->miss, EL_MISS_QUARANTINED);
	resolve_one(fixture, 5);
	assert_int_equal(answer_to(fixture, 40)->addr, 6);
}

static void hanging_input_is_quarantined_after_a_deadline(void **state)
{
	struct fixture *fixture = *state;

	resolve_one(fixture, HANG_AT);
	assert_int_equal(answer_to(fixture, 0)->miss, EL_MISS_QUARANTINED);
	assert_int_equal(stats_of(fixture).parser_restarts, 1);
	assert_int_equal(stats_of(fixture).quarantined, 1);
}

static void slow_parser_that_gets_on_is_not_killed(void **state)
{
	struct fixture *fixture = *state;

	resolve_one(fixture, SLOW_AT);
	assert_int_equal(answer_to(fixture, 0)->addr, SLOW_AT + 1);
	assert_int_equal(stats_of(fixture).parser_restarts, 0);
}

static void nonsense_answer_is_refused_and_quarantined_queries_answered(void **state)
{
	struct fixture *fixture = *state;

	resolve_one(fixture, NONSENSE_AT);
	assert_int_equal(answer_to(fixture, 0)->miss, EL_MISS_QUARANTINED);
	assert_true(stats_of(fixture).parser_restarts > 0);
}

static void error_of_the_symbolizer_is_an_answer_too(void **state)
{
	struct fixture *fixture = *state;

	resolve_one(fixture, ERROR_AT);
	assert_int_equal(answer_to(fixture, 0)->miss, EL_MISS_QUARANTINED);
	assert_int_equal(stats_of(fixture).parser_restarts, 0);
}

static void parser_killed_while_it_parses_is_asked_again(void **state)
{
	struct fixture *fixture = *state;
	pid_t victim = el_parser_pid(fixture->parser);
	pid_t killer = fork();

	if (!killer) {
		usleep(100000);
		kill(victim, SIGKILL);
		_exit(0);
	}
	/* One kill from outside is no proof against the input. */
	resolve_one(fixture, PAUSE_AT);
	waitpid(killer, NULL, 0);
	assert_int_equal(answer_to(fixture, 0)->addr, PAUSE_AT + 1);
	assert_int_not_equal(el_parser_pid(fixture->parser), victim);
	assert_int_equal(stats_of(fixture).parser_restarts, 1);
	assert_int_equal(stats_of(fixture).quarantined, 0);
}

static void parser_killed_between_requests_is_told_everything_again(void **state)
{
	const struct el_image images[] = {{.id = 1, .pid = 1}, {.id = 2, .pid = 2}, {.id = 3}};
	const struct el_mapping mapping = {.id = 1, .start = 1, .end = 2, .path = "/bin/x"};
	struct fixture *fixture = *state;
	struct el_symbolizer_stats told;
	pid_t victim = el_parser_pid(fixture->parser);

	for (size_t i = 0; i < 3; i++)
		assert_int_equal(el_parser_add_image(fixture->parser, &images[i]), 0);
	assert_int_equal(el_parser_add_mapping(fixture->parser, 1, &mapping), 0);
	assert_int_equal(el_parser_add_mapping(fixture->parser, 2, &mapping), 0);
	assert_int_equal(el_parser_end_image(fixture->parser, 2), 0);
	assert_int_equal(el_parser_drop_image(fixture->parser, 3), 0);
	kill(victim, SIGKILL);
	assert_int_equal(el_parser_symbolizer_stats(fixture->parser, &told), 0);
	assert_int_not_equal(el_parser_pid(fixture->parser), victim);
	assert_int_equal(told.objects, 2);
	assert_int_equal(told.units_indexed, 2);
	assert_int_equal(told.evictions, 1);
	assert_int_equal(stats_of(fixture).quarantined, 0);
}

static void interrupts_from_the_terminal_do_not_end_the_processes(void **state)
{
	struct fixture *fixture = *state;

	kill(el_parser_pid(fixture->parser), SIGINT);
	kill(el_parser_pid(fixture->parser), SIGTERM);
	kill(el_parser_fetcher_pid(fixture->parser), SIGINT);
	resolve_one(fixture, 5);
	assert_int_equal(answer_to(fixture, 0)->addr, 6);
	assert_int_equal(stats_of(fixture).parser_restarts, 0);
	assert_int_equal(kill(el_parser_fetcher_pid(fixture->parser), 0), 0);
}

/* Whether the process has a descriptor of a file that is called so. */
static bool holds(pid_t pid, const char *name)
{
	char path[512], target[512];
	struct dirent *row;
	bool found = false;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	folder = opendir(path);
	assert_non_null(folder);
	while ((row = readdir(folder))) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/%d/fd/%s", pid, row->d_name);
		n = readlink(path, target, sizeof(target) - 1);
		target[n < 0 ? 0 : n] = '\0';
		found |= !!strstr(target, name);
	}
	closedir(folder);
	return found;
}

static void restarted_processes_hold_nothing_of_the_collector(void **state)
{
	struct fixture *fixture = *state;
	int ours = memfd_create("of_the_collector", 0);

	assert_true(holds(getpid(), "of_the_collector"));
	kill(el_parser_pid(fixture->parser), SIGKILL);
	assert_int_equal(el_parser_refresh(fixture->parser, 1), -EFAULT); /* both are at work */
	assert_int_equal(stats_of(fixture).parser_restarts, 1);
	assert_false(holds(el_parser_pid(fixture->parser), "of_the_collector"));
	assert_false(holds(el_parser_fetcher_pid(fixture->parser), "of_the_collector"));
	close(ours);
}

static void dead_fetcher_is_replaced(void **state)
{
	struct fixture *fixture = *state;
	pid_t victim = el_parser_fetcher_pid(fixture->parser);

	kill(victim, SIGKILL);
	assert_int_equal(el_parser_refresh(fixture->parser, 1), -EFAULT);
	assert_int_equal(el_parser_refresh(fixture->parser, 1), -EFAULT);
	assert_int_not_equal(el_parser_fetcher_pid(fixture->parser), victim);
	assert_true(stats_of(fixture).fetcher_restarts >= 1);
	assert_int_equal(stats_of(fixture).parser_restarts, 0);
}

static bool gone(pid_t pid)
{
	for (int i = 0; i < 200; i++) {
		if (kill(pid, 0) && errno == ESRCH)
			return true;
		waitpid(pid, NULL, WNOHANG);
		usleep(10000);
	}
	return false;
}

static void killed_collector_takes_both_processes_along(void **state)
{
	pid_t pids[2] = {0};
	int pipes[2];
	pid_t collector;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	collector = fork();
	if (!collector) {
		const struct el_parser_options options = {0};
		struct el_parser *parser;
		struct el_error error;

		if (el_parser_new_over(&options, &calls, &parser, &error))
			_exit(1);
		pids[0] = el_parser_pid(parser);
		pids[1] = el_parser_fetcher_pid(parser);
		if (write(pipes[1], pids, sizeof(pids)) != sizeof(pids))
			_exit(1);
		pause();
	}
	assert_int_equal(read(pipes[0], pids, sizeof(pids)), sizeof(pids));
	kill(collector, SIGKILL);
	waitpid(collector, NULL, 0);
	assert_true(gone(pids[0]));
	assert_true(gone(pids[1]));
	close(pipes[0]);
	close(pipes[1]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(many_queries_are_answered_in_order),
		TEST(crashing_input_is_quarantined_and_the_others_are_answered),
		TEST(more_crashes_than_restarts_still_answer_every_query),
		TEST(hanging_input_is_quarantined_after_a_deadline),
		TEST(slow_parser_that_gets_on_is_not_killed),
		TEST(nonsense_answer_is_refused_and_quarantined_queries_answered),
		TEST(error_of_the_symbolizer_is_an_answer_too),
		TEST(parser_killed_while_it_parses_is_asked_again),
		TEST(parser_killed_between_requests_is_told_everything_again),
		TEST(interrupts_from_the_terminal_do_not_end_the_processes),
		TEST(restarted_processes_hold_nothing_of_the_collector),
		TEST(dead_fetcher_is_replaced),
		cmocka_unit_test(killed_collector_takes_both_processes_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
