/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts and ends the processes that work for us. A worker gets its sockets as
 * descriptors EL_WORKER_SOCKET, EL_WORKER_SOCKET + 1, ..., stderr, and nothing
 * else; it dies with its parent, leaves no core, and ends by its sockets, not
 * by the terminal's Ctrl-C, which goes to the whole foreground group.
 */
#ifndef EL_WORKERS_H
#define EL_WORKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define EL_WORKER_SOCKET 3
#define EL_WORKER_SOCKETS_MAX 3

struct el_worker {
	const char *name;                   /* at most 15 characters, as ps shows it */
	int sockets[EL_WORKER_SOCKETS_MAX]; /* stay open in the parent, which closes its copies */
	size_t n_sockets;
	size_t address_space;        /* RLIMIT_AS in bytes, 0: as inherited */
	void (*body)(void *context); /* must not return */
	void *context;
};

/* 0 or -errno. */
int el_worker_start(const struct el_worker *worker, pid_t *ret);

enum el_worker_end {
	EL_WORKER_CRASHED, /* a signal of its own making, or an exit that nobody asked for */
	EL_WORKER_KILLED,  /* SIGKILL or SIGTERM, not from us */
	EL_WORKER_UNKNOWN, /* it is being killed and cannot be reaped yet */
};
/* Ends a worker: waits a moment for its own end first if it seems `gone`, then kills it. */
enum el_worker_end el_worker_end(pid_t pid, bool gone);

#endif
