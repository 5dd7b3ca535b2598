/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each distinct path of a mapping once, at an address that stays: mappings
 * hold plain pointers to them, and thousands of processes map the same files.
 * Paths may hold any byte but NUL. What is no longer used goes by a sweep.
 */
#ifndef EL_PATHS_H
#define EL_PATHS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index.h"
#include "base/vec.h"

#define EL_PATH_MAX 4096 /* bytes kept of one path; the kernel's own limit */

struct el_path {
	bool used; /* seen by the sweep that is going on */
	char text[];
};

struct el_paths {
	EL_VEC(struct el_path *) all;
	struct el_index index;
	size_t n_after_sweep;
};

void el_paths_deinit(struct el_paths *paths);
/* The kept copy of `text` (NULL is ""), cut at EL_PATH_MAX; NULL: out of memory. */
const char *el_paths_add(struct el_paths *paths, const char *text);

/* Whether enough was added since the last sweep to make one worth its time. */
bool el_paths_sweep_due(const struct el_paths *paths);
/* Between mark calls for everything in use: the rest is freed by el_paths_sweep(). 0 or -ENOMEM. */
void el_paths_mark(const char *text);
int el_paths_sweep(struct el_paths *paths);

#endif
