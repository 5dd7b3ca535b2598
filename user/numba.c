/* SPDX-License-Identifier: Apache-2.0 */
/* See numba.h: what the command is, what its environment gets, what is said about it. */
#include "user/numba.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "user/numba_zip.h"

/* "python", "python3", "python3.11", "python3-dbg": not "pypy", not "pythonize". */
static bool is_python_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	if (strncmp(name, "python", 6))
		return false;
	return !name[6] || name[6] == '-' || (name[6] >= '0' && name[6] <= '9');
}

/* The file that execvp() would run: a word with a slash, or the first hit on the PATH. */
static bool find_program(const char *word, char *path, size_t size)
{
	const char *folders = getenv("PATH");

	if (strchr(word, '/')) {
		snprintf(path, size, "%s", word);
		return true;
	}
	for (const char *at = folders ? folders : "/bin:/usr/bin"; *at; at += *at == ':') {
		size_t length = strcspn(at, ":");

		snprintf(path, size, "%.*s/%s", (int)length, at, word);
		if (!access(path, X_OK))
			return true;
		at += length;
	}
	return false;
}

/* A script whose first line asks for Python, straight or through env. */
static bool is_python_script(const char *word)
{
	char path[4096], line[256], *at, *save;
	el_auto_file FILE *file = NULL;

	if (!find_program(word, path, sizeof(path)))
		return false;
	file = fopen(path, "re");
	if (!file || !fgets(line, sizeof(line), file) || strncmp(line, "#!", 2))
		return false;
	for (at = strtok_r(line + 2, " \t\n", &save); at; at = strtok_r(NULL, " \t\n", &save))
		if (is_python_name(at))
			return true;
	return false;
}

/* Options of Python itself that keep PYTHONPATH or sitecustomize out. */
static bool keeps_hook_out(char *const *command)
{
	for (char *const *word = command + 1; *word && (*word)[0] == '-' && (*word)[1]; word++) {
		const char *letter = *word + 1;

		if (*letter == '-')
			continue;
		for (; *letter; letter++) {
			if (strchr("ISE", *letter))
				return true;
			if (strchr("cm", *letter))
				return false; /* the program begins here */
			if (strchr("WX", *letter)) {
				word += !letter[1] && word[1]; /* its value is the next word */
				break;
			}
		}
	}
	return false;
}

static int parse_lines(const char *text, enum el_numba_lines *ret, struct el_error *error)
{
	static const char *const names[] = {"on", "off", "inject"};

	*ret = EL_NUMBA_LINES_ON;
	if (!text)
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(text, names[i])) {
			*ret = (enum el_numba_lines)i;
			return 0;
		}
	}
	return el_error_set(error, -EINVAL, "--numba-lines %s: give on, off or inject", text);
}

__attribute__((format(printf, 2, 3))) static void change(struct el_numba *numba, const char *format,
							 ...)
{
	int n = 0;
	va_list args;

	while (numba->changes[n])
		n++;
	if (n == EL_NUMBA_MAX_CHANGES)
		return;
	va_start(args, format);
	vsnprintf(numba->text[n], sizeof(numba->text[n]), format, args);
	va_end(args);
	numba->changes[n] = numba->text[n];
}

/* Every folder of the path, 0700 where it is new. */
static bool make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			return false;
		*slash = '/';
	}
	return !mkdir(path, 0700) || errno == EEXIST;
}

static void set_cache(struct el_numba *numba)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	const struct passwd *user = home ? NULL : getpwuid(getuid());
	/* Code made under the hook is not the code made without it. */
	const char *kind =
		numba->lines == EL_NUMBA_LINES_INJECT && !numba->hook_off ? "inject" : "lines";
	char folder[3072];

	if (cache && cache[0] == '/')
		snprintf(folder, sizeof(folder), "%s/everline/numba-%s", cache, kind);
	else if (home || user)
		snprintf(folder, sizeof(folder), "%s/.cache/everline/numba-%s",
			 home ? home : user->pw_dir, kind);
	else
		return;
	if (make_folders(folder))
		change(numba, "NUMBA_CACHE_DIR=%s", folder);
}

/* Numba warns where debug information finds no source; without our asking it would not. */
#define NUMBA_WARNING "ignore:Could not find source for function"

static void ask_for_lines(struct el_numba *numba)
{
	const char *warnings = getenv("PYTHONWARNINGS");

	change(numba, "NUMBA_DEBUGINFO=1");
	change(numba, "PYTHONWARNINGS=%s%s" NUMBA_WARNING, warnings ? warnings : "",
	       warnings && *warnings ? "," : "");
}

static int set_hook(struct el_numba *numba, struct el_error *error)
{
	const char *path = getenv("PYTHONPATH");
	int fd = el_numba_zip_open();

	if (fd < 0)
		return el_error_set(error, fd,
				    "cannot make the Numba hook: %s. Use --numba-lines=on",
				    strerror(-fd));
	numba->hook_fd = fd;
	change(numba, "PYTHONPATH=/proc/%d/fd/%d%s%s", getpid(), fd, path && *path ? ":" : "",
	       path ? path : "");
	fd = memfd_create("everline-numba-status", MFD_CLOEXEC);
	if (fd >= 0) {
		numba->status_fd = fd;
		change(numba, "EVERLINE_NUMBA_STATUS=/proc/%d/fd/%d", getpid(), fd);
	}
	return 0;
}

static void say(struct el_numba *numba, const char *sentence)
{
	snprintf(numba->sentence, sizeof(numba->sentence), "%s", sentence);
}

int el_numba_plan(struct el_numba *numba, char *const *command, const char *lines,
		  struct el_error *error)
{
	int err = parse_lines(lines, &numba->lines, error);

	if (err)
		return err;
	numba->python = is_python_name(command[0]) || is_python_script(command[0]);
	if (!numba->python || numba->lines == EL_NUMBA_LINES_OFF)
		return 0;
	numba->chosen = getenv("NUMBA_DEBUGINFO");
	if (!numba->chosen)
		ask_for_lines(numba);
	numba->hook_off = numba->lines == EL_NUMBA_LINES_INJECT && is_python_name(command[0]) &&
			  keeps_hook_out(command);
	set_cache(numba);
	if (numba->lines == EL_NUMBA_LINES_INJECT && !numba->hook_off)
		return set_hook(numba, error);
	say(numba,
	    "Numba line information switched on by environment: compiling takes about twice as "
	    "long, "
	    "and Numba 0.60 or newer may run up to 25 % slower (--numba-lines=inject runs at full "
	    "speed, --numba-lines=off leaves all alone)");
	if (numba->hook_off)
		say(numba, "Numba line information switched on by environment, without the hook: "
			   "Python was "
			   "started with -I, -S or -E, which keeps it out");
	return 0;
}

const char *const *el_numba_environment(const struct el_numba *numba)
{
	return numba->changes;
}

void el_numba_finish(struct el_numba *numba)
{
	char text[4096] = "";

	if (numba->status_fd <= 0 || pread(numba->status_fd, text, sizeof(text) - 1, 0) < 0)
		return;
	if (strstr(text, "patched"))
		say(numba, "Numba line information switched on by environment, its inlining kept "
			   "by a hook "
			   "(--numba-lines=off: neither)");
	else if (strstr(text, "unknown"))
		say(numba, "Numba line information switched on by environment; the hook does not "
			   "know this "
			   "Numba and changed nothing: code may run slower than without");
	else if (strstr(text, "loaded"))
		say(numba,
		    "Numba line information switched on by environment; its code was compiled "
		    "by a process that the hook did not reach");
	else
		say(numba, "the Numba hook was not loaded: this Python takes no PYTHONPATH");
}

const char *el_numba_sentence(const struct el_numba *numba)
{
	return numba->sentence;
}

void el_numba_deinit(struct el_numba *numba)
{
	if (numba->hook_fd > 0)
		close(numba->hook_fd);
	if (numba->status_fd > 0)
		close(numba->status_fd);
}
