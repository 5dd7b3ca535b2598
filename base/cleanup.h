/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scope guards: what a function holds is released on every way out of it.
 * A leaf: needs libc only. Ownership leaves the guard through el_take_*().
 */
#ifndef EL_BASE_CLEANUP_H
#define EL_BASE_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void el_cleanup_free(void *slot)
{
	free(*(void **)slot);
}

static inline void el_cleanup_fd(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void el_cleanup_file(FILE **file)
{
	if (*file)
		fclose(*file);
}

#define el_auto_free __attribute__((cleanup(el_cleanup_free)))
#define el_auto_fd __attribute__((cleanup(el_cleanup_fd)))
#define el_auto_file __attribute__((cleanup(el_cleanup_file)))

static inline int el_take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

#define el_take_ptr(slot)                                                                          \
	({                                                                                         \
		__typeof__(slot) el_taken = (slot);                                                \
		(slot) = NULL;                                                                     \
		el_taken;                                                                          \
	})

#endif
