/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numba launched through us: line information costs nothing to ask for at the
 * start of a process and cannot be had later, so a Python that we start gets
 * it through its environment. The user's own cache of compiled code is never
 * touched: code cached without line information has none.
 */
#ifndef EL_NUMBA_H
#define EL_NUMBA_H

#include <stdbool.h>

#include "base/error.h"

enum el_numba_lines {
	EL_NUMBA_LINES_ON,     /* NUMBA_DEBUGINFO=1, a cache folder of our own */
	EL_NUMBA_LINES_OFF,    /* the environment stays as it is */
	EL_NUMBA_LINES_INJECT, /* and a hook that keeps Numba's inlining */
};

#define EL_NUMBA_MAX_CHANGES 6

struct el_numba {
	enum el_numba_lines lines;
	bool hook_off; /* -I, -S or -E keep the hook out */
	int status_fd; /* memory file in which the hook reports; 0: none */
	char *changes[EL_NUMBA_MAX_CHANGES + 1]; /* as el_child_start() takes them */
	char sentence[512];
};

/* Looks at the command; `lines` is the option's value or NULL. -EINVAL with a sentence. */
int el_numba_plan(struct el_numba *numba, char *const *command, const char *lines,
		  struct el_error *error);
/* Changes to the environment, NULL-terminated. */
const char *const *el_numba_environment(const struct el_numba *numba);
/* After the run: finds out what the hook did. */
void el_numba_finish(struct el_numba *numba);
/* For the report's header; "" when there is nothing to say. */
const char *el_numba_sentence(const struct el_numba *numba);
void el_numba_deinit(struct el_numba *numba);

#endif
