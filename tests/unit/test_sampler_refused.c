/* SPDX-License-Identifier: Apache-2.0 */
/* A sampler that cannot be had: each cause has its sentence, with what to do. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/skip.h"
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user/sampling/events.h"
#include "user/sampling/sampler.h"

static void process_that_is_gone_is_named(void **state)
{
	pid_t pid = (1 << 22) - 1;
	struct el_sampler_options options = {.pids = &pid, .n_pids = 1};
	struct el_sampler *sampler;
	struct el_error error = {""};

	(void)state;
	if (geteuid())
		skip_because("needs root");
	assert_int_equal(el_sampler_new(&options, &sampler, &error), -ESRCH);
	assert_non_null(strstr(error.text, "4194303"));
}

/* In a child, because what it gives up is not to be had back. */
static int error_of_new(void (*give_up)(void), const char *event, char *text, size_t size)
{
	int said[2], status;
	pid_t pid;
	ssize_t n;

	assert_int_equal(pipe(said), 0);
	pid = fork();
	if (!pid) {
		struct el_sampler_options options = {.event = el_event_type_find(event),
						     .all = true};
		struct el_sampler *sampler;
		struct el_error error = {""};
		int err;

		give_up();
		err = el_sampler_new(&options, &sampler, &error);
		if (write(said[1], error.text, strlen(error.text) + 1) < 0)
			_exit(9);
		_exit(-err);
	}
	close(said[1]);
	n = read(said[0], text, size - 1);
	text[n > 0 ? n : 0] = '\0';
	close(said[0]);
	waitpid(pid, &status, 0);
	return -WEXITSTATUS(status);
}

static void drop_root(void)
{
	if (setresuid(65534, 65534, 65534))
		_exit(9);
}

static void allow_few_files(void)
{
	struct rlimit limit = {20, 20};

	setrlimit(RLIMIT_NOFILE, &limit);
}

static void keep_all(void)
{
}

static void user_without_rights_is_told_what_to_do(void **state)
{
	char text[1024];

	(void)state;
	if (geteuid())
		skip_because("needs root");
	assert_int_equal(error_of_new(drop_root, "cpu", text, sizeof(text)), -EPERM);
	assert_non_null(strstr(text, "sudo"));
	assert_non_null(strstr(text, "CAP_BPF"));
}

static void too_few_descriptors_are_named(void **state)
{
	char text[1024];

	(void)state;
	if (geteuid())
		skip_because("needs root");
	assert_int_equal(error_of_new(allow_few_files, "cpu", text, sizeof(text)), -EMFILE);
	assert_non_null(strstr(text, "ulimit -n"));
}

static void counter_the_machine_lacks_is_named(void **state)
{
	char text[1024];
	int err;

	(void)state;
	err = error_of_new(keep_all, "cycles", text, sizeof(text));
	if (geteuid() || !err)
		skip_because("needs root, and a machine without hardware counters");
	assert_non_null(strstr(text, "'cycles'"));
	assert_non_null(strstr(text, "-e cpu"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(process_that_is_gone_is_named),
		cmocka_unit_test(user_without_rights_is_told_what_to_do),
		cmocka_unit_test(too_few_descriptors_are_named),
		cmocka_unit_test(counter_the_machine_lacks_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
