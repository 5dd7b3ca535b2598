/* SPDX-License-Identifier: Apache-2.0 */
/* See numba.h: what the command is, what its environment gets, what is said about it. */
#include "user/numba.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/profile/file.h"
#include "user/python.h"

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
	if (vasprintf(&numba->changes[n], format, args) < 0)
		numba->changes[n] = NULL;
	va_end(args);
}

/* Every folder of the path, 0700 where it is new. */
static void make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	mkdir(path, 0700);
}

/*
 * A folder of ours under the user's cache, where Python will load code from:
 * nobody else may be able to write there. False when there is none to be had.
 */
static bool own_folder(const char *name, char *path, size_t size)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	const struct passwd *user = home ? NULL : getpwuid(getuid());
	struct stat stat;

	if (cache && cache[0] == '/')
		snprintf(path, size, "%s/everline/%s", cache, name);
	else if (home || user)
		snprintf(path, size, "%s/.cache/everline/%s", home ? home : user->pw_dir, name);
	else
		return false;
	make_folders(path);
	return !lstat(path, &stat) && S_ISDIR(stat.st_mode) && stat.st_uid == geteuid() &&
	       !(stat.st_mode & (S_IWGRP | S_IWOTH));
}

static void set_cache(struct el_numba *numba)
{
	/* Code made under the hook is not the code made without it. */
	bool hooked = numba->lines == EL_NUMBA_LINES_INJECT && !numba->hook_off;
	char folder[3072];

	if (own_folder(hooked ? "numba-inject" : "numba-lines", folder, sizeof(folder)))
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

__asm__(".pushsection .rodata\n"
	".global el_numba_hook, el_numba_hook_end\n"
	"el_numba_hook: .incbin \"user/numba_hook/sitecustomize.py\"\n"
	"el_numba_hook_end: .byte 0\n"
	".popsection\n");
extern const char el_numba_hook[], el_numba_hook_end[];

/* The hook stays in its folder: the program's children load it after we are gone. */
static int set_hook(struct el_numba *numba, struct el_error *error)
{
	const char *path = getenv("PYTHONPATH");
	char folder[3072], file[3200];
	int err;

	if (!own_folder("numba-hook", folder, sizeof(folder)))
		return el_error_set(
			error, -EACCES,
			"cannot keep the Numba hook: no cache folder that is yours alone. Set "
			"XDG_CACHE_HOME, or use --numba-lines=on");
	snprintf(file, sizeof(file), "%s/sitecustomize.py", folder);
	err = el_file_replace(file, el_numba_hook, el_numba_hook_end - el_numba_hook, error);
	if (err)
		return err;
	change(numba, "PYTHONPATH=%s%s%s", folder, path && *path ? ":" : "", path ? path : "");
	numba->status_fd = memfd_create("everline-numba", MFD_CLOEXEC);
	if (numba->status_fd >= 0)
		change(numba, "EVERLINE_NUMBA_STATUS=/proc/%d/fd/%d", getpid(), numba->status_fd);
	return 0;
}

static void say(struct el_numba *numba, const char *sentence)
{
	snprintf(numba->sentence, sizeof(numba->sentence), "%s", sentence);
}

int el_numba_plan(struct el_numba *numba, char *const *command, const char *lines,
		  struct el_error *error)
{
	const char *chosen = getenv("NUMBA_DEBUGINFO");
	char *const *python;
	int err = parse_lines(lines, &numba->lines, error);

	if (err)
		return err;
	python = el_python_of(command);
	if (!python || numba->lines == EL_NUMBA_LINES_OFF)
		return 0;
	if (!chosen)
		ask_for_lines(numba);
	numba->hook_off = numba->lines == EL_NUMBA_LINES_INJECT && el_python_is_isolated(python);
	set_cache(numba);
	if (chosen && !strcmp(chosen, "0")) {
		say(numba, "Numba line information is off by your NUMBA_DEBUGINFO=0");
		return 0;
	}
	if (numba->lines == EL_NUMBA_LINES_INJECT && !numba->hook_off)
		return set_hook(numba, error);
	say(numba, "Numba line information switched on by environment: compiling takes about "
		   "twice as long, and Numba 0.60 or newer may run up to 25 % slower "
		   "(--numba-lines=inject runs at full speed, --numba-lines=off leaves all "
		   "alone)");
	if (numba->hook_off)
		say(numba,
		    "Numba line information switched on by environment, without the hook: Python "
		    "was started with -I, -S or -E, which keeps it out");
	return 0;
}

const char *const *el_numba_environment(const struct el_numba *numba)
{
	return (const char *const *)numba->changes;
}

void el_numba_finish(struct el_numba *numba)
{
	char text[4096] = "";

	if (numba->status_fd <= 0 || pread(numba->status_fd, text, sizeof(text) - 1, 0) < 0)
		return;
	if (strstr(text, "patched"))
		say(numba,
		    "Numba line information switched on by environment, its inlining kept by a "
		    "hook (--numba-lines=off: neither)");
	else if (strstr(text, "unknown"))
		say(numba,
		    "Numba line information switched on by environment; the hook does not know "
		    "this Numba and changed nothing: code may run slower than without");
	else if (strstr(text, "loaded"))
		say(numba,
		    "Numba line information switched on by environment; its code was compiled by "
		    "a process that the hook did not reach");
	else
		say(numba, "the Numba hook was not loaded: this Python takes no PYTHONPATH");
}

const char *el_numba_sentence(const struct el_numba *numba)
{
	return numba->sentence;
}

void el_numba_deinit(struct el_numba *numba)
{
	for (int i = 0; i < EL_NUMBA_MAX_CHANGES; i++)
		free(numba->changes[i]);
	if (numba->status_fd > 0)
		close(numba->status_fd);
}
