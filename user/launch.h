/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the program to be profiled: forked early, held back before its first
 * instruction until everything is ready, its output untouched.
 */
#ifndef EL_LAUNCH_H
#define EL_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct el_child {
	pid_t pid;
	int pidfd;    /* becomes readable when it ended */
	int hold_fd;  /* closing it lets the child exec */
	int error_fd; /* errno of a failed exec arrives here */
	bool ended;
	int status; /* as of waitpid, once ended */
};

/* Changes to the child's environment: "NAME=VALUE" sets, "NAME" unsets; NULL-terminated or NULL. */
int el_child_start(char *const *argv, const char *const *environment, struct el_child *ret,
		   struct el_error *error);
/* Lets it exec. A command that cannot be executed is an error with a sentence: -ENOENT, -EACCES,
 * ... */
int el_child_release(struct el_child *child, char *const *argv, struct el_error *error);
/* Reaps it if it ended; true when it has. */
bool el_child_ended(struct el_child *child);
/* What a shell would report: its exit status, or 128 + signal. */
int el_child_exit_code(const struct el_child *child);
/* Ends a child that was never released; lets go of one that was. */
void el_child_deinit(struct el_child *child);

#endif
