/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many threads each followed process has: who is followed, and which exit
 * is a process's last. A leader may end before its other threads, so the
 * exit of the leader alone says nothing.
 */
#ifndef EL_THREADS_H
#define EL_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#define EL_PID_LIMIT (1u << 22) /* PID_MAX_LIMIT of linux/threads.h */

struct el_threads {
	uint16_t *count; /* by tgid; 0: not followed, or not counted */
	bool uncertain;  /* records were lost: counts may be too high or too low */
};

int el_threads_init(struct el_threads *threads); /* 0 or -ENOMEM */
void el_threads_deinit(struct el_threads *threads);

bool el_threads_followed(const struct el_threads *threads, uint32_t pid);
/* Follows a process that has `n` threads. */
void el_threads_follow(struct el_threads *threads, uint32_t pid, uint32_t n);
void el_threads_started(struct el_threads *threads, uint32_t pid);
/* Whether this exit of thread `tid` ended the process, as far as is known. */
bool el_threads_ended(struct el_threads *threads, uint32_t pid, uint32_t tid);

#endif
