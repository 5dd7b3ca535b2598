/* SPDX-License-Identifier: Apache-2.0 */
/* What a Python that we start gets in its environment, and what the hook does in a real one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/skip.h"
#include "user/numba.h"

#define PYTHON "/usr/bin/python3"

static char folder[64];
static struct el_numba numba;
static struct el_error error;

static int setup(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/everline-test-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	unsetenv("NUMBA_DEBUGINFO");
	unsetenv("NUMBA_CACHE_DIR");
	unsetenv("PYTHONPATH");
	setenv("XDG_CACHE_HOME", folder, 1);
	memset(&numba, 0, sizeof(numba));
	memset(&error, 0, sizeof(error));
	return 0;
}

static int teardown(void **state)
{
	char command[96];

	(void)state;
	el_numba_deinit(&numba);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static void write_file(const char *name, const char *text, mode_t mode)
{
	char path[160];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* The value a variable would have, NULL: it is not changed. */
static const char *changed(const char *name)
{
	const char *const *change = el_numba_environment(&numba);
	size_t size = strlen(name);

	for (; change && *change; change++)
		if (!strncmp(*change, name, size) && (*change)[size] == '=')
			return *change + size + 1;
	return NULL;
}

static bool is_python(const char *program)
{
	char *command[] = {(char *)program, NULL};
	bool ret;

	memset(&numba, 0, sizeof(numba));
	assert_int_equal(el_numba_plan(&numba, command, "on", &error), 0);
	ret = changed("NUMBA_DEBUGINFO");
	el_numba_deinit(&numba);
	memset(&numba, 0, sizeof(numba));
	return ret;
}

static void python_is_told_by_its_name(void **state)
{
	(void)state;
	assert_true(is_python("python"));
	assert_true(is_python("/opt/venv/bin/python3"));
	assert_true(is_python("python3.11"));
	assert_false(is_python("pypy3"));
	assert_false(is_python("pythonize"));
	assert_false(is_python("/bin/true"));
	assert_false(is_python("/no/such/python-less/program"));
}

static void script_is_told_by_its_first_line(void **state)
{
	char path[96];

	(void)state;
	snprintf(path, sizeof(path), "%s/script", folder);
	write_file("script", "#!/usr/bin/env python3\nprint()\n", 0700);
	assert_true(is_python(path));
	write_file("script", "#!/usr/bin/python3 -u\nprint()\n", 0700);
	assert_true(is_python(path));
	write_file("script", "#!/bin/sh\npython3\n", 0700);
	assert_false(is_python(path));
	write_file("script", "#!", 0700);
	assert_false(is_python(path));
}

static void lines_are_asked_for_with_a_cache_of_our_own(void **state)
{
	char *command[] = {PYTHON, "x.py", NULL};
	struct stat stat_of;

	(void)state;
	setenv("NUMBA_CACHE_DIR", "/somewhere/of/the/users", 1);
	assert_int_equal(el_numba_plan(&numba, command, NULL, &error), 0);
	assert_string_equal(changed("NUMBA_DEBUGINFO"), "1");
	assert_non_null(changed("NUMBA_CACHE_DIR"));
	assert_int_equal(strncmp(changed("NUMBA_CACHE_DIR"), folder, strlen(folder)), 0);
	assert_int_equal(stat(changed("NUMBA_CACHE_DIR"), &stat_of), 0);
	assert_int_equal(stat_of.st_mode & 0777, 0700);
	assert_null(changed("PYTHONPATH"));
	assert_true(strlen(el_numba_sentence(&numba)) > 0);
}

static void off_leaves_the_environment_alone(void **state)
{
	char *command[] = {PYTHON, "x.py", NULL};
	const char *const *changes;

	(void)state;
	assert_int_equal(el_numba_plan(&numba, command, "off", &error), 0);
	changes = el_numba_environment(&numba);
	assert_true(!changes || !changes[0]);
	el_numba_finish(&numba);
	assert_string_equal(el_numba_sentence(&numba), "");
}

static void users_own_choice_is_kept(void **state)
{
	char *command[] = {PYTHON, "x.py", NULL};

	(void)state;
	setenv("NUMBA_DEBUGINFO", "0", 1);
	assert_int_equal(el_numba_plan(&numba, command, "on", &error), 0);
	assert_null(changed("NUMBA_DEBUGINFO"));
}

static void unknown_word_is_refused_with_the_known_ones(void **state)
{
	char *command[] = {PYTHON, NULL};

	(void)state;
	assert_int_equal(el_numba_plan(&numba, command, "perhaps", &error), -EINVAL);
	assert_non_null(strstr(error.text, "perhaps"));
	assert_non_null(strstr(error.text, "inject"));
}

/* Runs Python under the plan; its output, at most `size`. False: there is no such Python. */
static bool run(char *const *command, const char *lines, char *output, size_t size)
{
	const char *const *change;
	int out[2], status;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	if (access(PYTHON, X_OK))
		return false;
	assert_int_equal(el_numba_plan(&numba, command, lines, &error), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		for (change = el_numba_environment(&numba); change && *change; change++)
			putenv((char *)*change);
		dup2(out[1], 1);
		execv(command[0], command);
		_exit(127);
	}
	close(out[1]);
	while (n < size - 1 && (got = read(out[0], output + n, size - 1 - n)) > 0)
		n += got;
	output[n] = 0;
	close(out[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	el_numba_finish(&numba);
	return true;
}

static void hook_hands_over_to_the_users_sitecustomize(void **state)
{
	char *command[] = {PYTHON, "-c",
			   "import sys; print(sys.users, sys.modules['sitecustomize'].__file__, "
			   "any('/fd/' in p or 'everline/' in p for p in sys.path))",
			   NULL};
	char output[512], expected[160];

	(void)state;
	write_file("sitecustomize.py", "import sys\nsys.users = 'ran'\n", 0600);
	setenv("PYTHONPATH", folder, 1);
	if (!run(command, "inject", output, sizeof(output)))
		skip_because("no Python here");
	snprintf(expected, sizeof(expected), "ran %s/sitecustomize.py False\n", folder);
	assert_string_equal(output, expected);
}

static void hook_without_another_sitecustomize_does_no_harm(void **state)
{
	char *command[] = {PYTHON, "-c", "print('fine')", NULL};
	char output[512];

	(void)state;
	if (!run(command, "inject", output, sizeof(output)))
		skip_because("no Python here");
	assert_string_equal(output, "fine\n");
}

static void isolated_python_is_said_to_have_no_hook(void **state)
{
	char *command[] = {PYTHON, "-I", "-c", "print('fine')", NULL};
	char output[512];

	(void)state;
	if (!run(command, "inject", output, sizeof(output)))
		skip_because("no Python here");
	assert_string_equal(output, "fine\n");
	assert_non_null(strstr(el_numba_sentence(&numba), "-I"));
}

/* Numba compiles one function that calls another; the attribute is in what it hands to LLVM. */
static const char inlines[] =
	"try:\n"
	"    from numba import njit\n"
	"except ImportError:\n"
	"    print('absent')\n"
	"    raise SystemExit\n"
	"@njit\n"
	"def helper(x):\n"
	"    return x * 3\n"
	"@njit\n"
	"def work(x):\n"
	"    return helper(x) + 1\n"
	"work(1)\n"
	"from numba.core import config\n"
	"library = next(iter(helper.overloads.values())).library\n"
	"text = library.get_llvm_str()\n"
	"print('lines' if config.DEBUGINFO_DEFAULT and 'DILocation' in text else 'none')\n"
	"import re\n"
	"line = re.search(r'define [^\\n]*__main__6helper[^\\n]*', text).group(0)\n"
	"group = re.findall(r'#\\d+', line)\n"
	"marks = ''.join(re.findall(r'attributes ' + g + r' = [^\\n]*', text)[0] for g in group)\n"
	"print('noinline' in line + marks)\n";

static void hook_keeps_lines_and_inlining(void **state)
{
	char *command[] = {PYTHON, NULL, NULL};
	char output[512], path[96];

	(void)state;
	write_file("inlines.py", inlines, 0600);
	snprintf(path, sizeof(path), "%s/inlines.py", folder);
	command[1] = path;
	if (!run(command, "on", output, sizeof(output)) || !strcmp(output, "absent\n"))
		skip_because("no Numba here");
	assert_string_equal(output, "lines\nTrue\n");
	el_numba_deinit(&numba);
	memset(&numba, 0, sizeof(numba));
	assert_true(run(command, "inject", output, sizeof(output)));
	assert_string_equal(output, "lines\nFalse\n");
	assert_non_null(strstr(el_numba_sentence(&numba), "hook"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(python_is_told_by_its_name),
		TEST(script_is_told_by_its_first_line),
		TEST(lines_are_asked_for_with_a_cache_of_our_own),
		TEST(off_leaves_the_environment_alone),
		TEST(users_own_choice_is_kept),
		TEST(unknown_word_is_refused_with_the_known_ones),
		TEST(hook_hands_over_to_the_users_sitecustomize),
		TEST(hook_without_another_sitecustomize_does_no_harm),
		TEST(isolated_python_is_said_to_have_no_hook),
		TEST(hook_keeps_lines_and_inlining),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
