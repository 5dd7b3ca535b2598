/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the fetcher: one that runs, its client, and children to ask about. */
#ifndef EL_TEST_WITH_FETCHER_H
#define EL_TEST_WITH_FETCHER_H

#include <stddef.h>
#include <sys/types.h>

#include "user/fetch/fetcher.h"

struct with_fetcher {
	struct el_fetcher_client *client;
	struct el_source source;
	int socket;
	pid_t pid;
	int n_renewed;
};

void with_fetcher_start(struct with_fetcher *with);
void with_fetcher_end(struct with_fetcher *with);
/* Only the process; the caller owns the returned socket. */
int fetcher_fork(pid_t *ret_pid);

/* A child that runs `body`, which tells by a byte to `ready` that all is made, and then sleeps. */
pid_t child_start(int (*body)(int ready, const char *folder), const char *folder);
void child_tell(int ready);
void child_end(pid_t pid);

/* The image of a process as the join would name it. */
struct el_image image_of(pid_t pid, unsigned int id);
/* A new empty folder under /tmp; removed with all that is in it. */
void folder_make(char *path, size_t size);
void folder_remove(const char *path);
void file_write(const char *folder, const char *name, const char *text);
/* Whether the file begins with `text`; closes it. */
int fd_holds(int fd, const char *text);

#endif
