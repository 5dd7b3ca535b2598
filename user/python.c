/* SPDX-License-Identifier: Apache-2.0 */
/* See python.h. */
#include "user/python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

#define WORDS_MAX 8 /* env A=1 B=2 timeout 10 nice -n 5 python3 */

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

char *const *el_python_of(char *const *command)
{
	for (char *const *word = command; *word && word < command + WORDS_MAX; word++)
		if (is_python_name(*word))
			return word;
	return is_python_script(command[0]) ? command : NULL;
}

bool el_python_is_isolated(char *const *python)
{
	if (!is_python_name(*python))
		return false; /* a script, whose first line is all there is */
	for (char *const *word = python + 1; *word && (*word)[0] == '-' && (*word)[1]; word++) {
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
