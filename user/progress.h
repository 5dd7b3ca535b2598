/* SPDX-License-Identifier: Apache-2.0 */
/* One line on the terminal that says what takes long; nothing where stderr is no terminal. */
#ifndef EL_PROGRESS_H
#define EL_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct el_progress {
	bool on;
	uint64_t shown_ns; /* when the line was last written */
	bool dirty;        /* a line is on the terminal */
};

/* `shared`: a program that we run writes to this terminal too, so keep off it until it ends. */
void el_progress_init(struct el_progress *progress, bool shared);
void el_progress_recording(struct el_progress *progress, uint64_t elapsed_ns, uint64_t samples);
void el_progress_symbolizing(struct el_progress *progress, size_t done, size_t all);
/* The program ended: the terminal is ours. */
void el_progress_unshare(struct el_progress *progress);
/* Takes the line away. */
void el_progress_clear(struct el_progress *progress);

#endif
