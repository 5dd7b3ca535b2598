/* SPDX-License-Identifier: Apache-2.0 */
/* See shorten.h. */
#include "user/report/shorten.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define WORD "operator"

/* Whether the bracket at `at` belongs to the name of an operator: operator<, operator->,
 * operator(). */
static bool is_operator(const char *name, size_t at)
{
	size_t start = at;

	while (start && strchr("<>-=()[]", name[start - 1]))
		start--;
	return start >= sizeof(WORD) - 1 &&
	       !strncmp(name + start - (sizeof(WORD) - 1), WORD, sizeof(WORD) - 1);
}

/*
 * Copies `name` with what stands between `open` and `close` left out, where
 * the bracket follows a word: "<T as U>::f" at a start is Rust's and stays.
 */
static void leave_out(const char *name, char open, char close, char *room, size_t size)
{
	size_t used = 0, depth = 0;

	for (size_t i = 0; name[i] && used + 4 < size; i++) {
		bool bracket = (name[i] == open || name[i] == close) && !is_operator(name, i);

		if (bracket && name[i] == open &&
		    (depth || (i && !isspace((unsigned char)name[i - 1])))) {
			if (!depth++)
				used += snprintf(room + used, size - used, "%c..", open);
			continue;
		}
		if (bracket && name[i] == close && depth) {
			depth--;
			if (depth)
				continue;
		}
		if (!depth)
			room[used++] = name[i];
	}
	room[used] = '\0';
}

const char *el_shorten(const char *name, char *room, size_t size)
{
	char without[1024];

	if (strlen(name) <= EL_SHORTEN_ABOVE || size < 8)
		return name;
	leave_out(name, '<', '>', room, size);
	if (strlen(room) <= EL_SHORTEN_ABOVE)
		return room;
	leave_out(room, '(', ')', without, sizeof(without));
	snprintf(room, size, "%s", without);
	return room;
}
