/* SPDX-License-Identifier: Apache-2.0 */
/* See threads.h. One counter for each possible id: 8 MiB of address space, of which only used pages
 * exist. */
#include "user/sampling/threads.h"

#include <errno.h>
#include <stdlib.h>

int el_threads_init(struct el_threads *threads)
{
	*threads = (struct el_threads){.count = calloc(EL_PID_LIMIT, sizeof(*threads->count))};
	return threads->count ? 0 : -ENOMEM;
}

void el_threads_deinit(struct el_threads *threads)
{
	free(threads->count);
	threads->count = NULL;
}

bool el_threads_followed(const struct el_threads *threads, uint32_t pid)
{
	return pid < EL_PID_LIMIT && threads->count[pid];
}

void el_threads_follow(struct el_threads *threads, uint32_t pid, uint32_t n)
{
	if (pid < EL_PID_LIMIT)
		threads->count[pid] = n > UINT16_MAX ? UINT16_MAX : n;
}

void el_threads_started(struct el_threads *threads, uint32_t pid)
{
	if (el_threads_followed(threads, pid) && threads->count[pid] < UINT16_MAX)
		threads->count[pid]++;
}

bool el_threads_ended(struct el_threads *threads, uint32_t pid, uint32_t tid)
{
	if (pid >= EL_PID_LIMIT)
		return false;
	if (!threads->count[pid] || threads->uncertain) {
		if (pid == tid)
			threads->count[pid] = 0;
		return pid == tid;
	}
	return --threads->count[pid] == 0;
}
