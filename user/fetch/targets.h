/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes that are asked about: whether one is still the process that
 * is meant, and what must be known of it after its death: the root of its
 * files, its pid inside its own namespace, its user. Learnt while it lives, at
 * the first request and again when a second has passed. Bounded: the oldest is forgotten.
 */
#ifndef EL_FETCH_TARGETS_H
#define EL_FETCH_TARGETS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define EL_FETCH_ROOTS_MAX 64     /* kept descriptors of roots */
#define EL_FETCH_TARGETS_MAX 4096 /* images remembered */

/* A root of files: one for each mount namespace and chroot seen. */
struct el_fetch_root {
	uint64_t namespace, dev, inode; /* of /proc/PID/ns/mnt; of the root folder */
	uint64_t used;                  /* counts up */
	int fd;                         /* O_PATH, or -1: free */
};

struct el_fetch_known_target {
	uint32_t image; /* 0: free */
	uint32_t pid_inside;
	uid_t user;
	bool host_namespace;
	uint64_t learnt_ns;             /* CLOCK_MONOTONIC */
	uint64_t namespace, dev, inode; /* of its root */
};

struct el_fetch_targets {
	struct el_fetch_root roots[EL_FETCH_ROOTS_MAX];
	struct el_fetch_known_target known[EL_FETCH_TARGETS_MAX]; /* image mod n */
	uint64_t used;
	uint64_t own_namespace;
	int host_root; /* O_PATH of ours */
	/* Whom the last request was about: a JIT's list is read in many small pieces. */
	int last_proc; /* -1: none */
	uint32_t last_image, last_pid;
	uint64_t last_start_ns;
};

/* One process, for the time of one request. */
struct el_fetch_target {
	uint32_t image, pid;
	uint64_t start_ns; /* 0: unknown, nothing to compare */
	int proc; /* borrowed: O_PATH of /proc/PID, which stays with this very process; -1: dead */
	int root; /* borrowed from the table; -1: unknown */
	bool known;          /* the fields below are valid */
	bool host_namespace; /* its mount namespace is ours */
	uint32_t pid_inside; /* in its own pid namespace */
	uid_t user;          /* effective */
};

int el_fetch_targets_new(struct el_fetch_targets **ret);
void el_fetch_targets_free(struct el_fetch_targets *targets);

/* Fills *ret with what is true now, or was when the process lived; good until the next call. */
void el_fetch_targets_open(struct el_fetch_targets *targets, uint32_t image, uint32_t pid,
			   uint64_t start_ns, struct el_fetch_target *ret);
/* Whether /proc/PID still belongs to the process that it was opened for. */
bool el_fetch_target_lives(const struct el_fetch_target *target);

#endif
