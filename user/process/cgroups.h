/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of cgroups: id -> path as the side-band tells it, and the path in the
 * text of /proc/PID/cgroup (cgroups(7)). Paths are strings of a table that the
 * caller owns. Version 2 has one path; with version 1 the deepest one counts.
 */
#ifndef EL_CGROUPS_H
#define EL_CGROUPS_H

#include <stdbool.h>

#include "base/index.h"
#include "base/strings.h"
#include "base/vec.h"

struct el_cgroup {
	uint64_t id;
	uint32_t path; /* string */
};

struct el_cgroups {
	EL_VEC(struct el_cgroup) all;
	struct el_index index;
};

void el_cgroups_deinit(struct el_cgroups *cgroups);
/* 0 or -ENOMEM. A known id gets the new path. */
int el_cgroups_add(struct el_cgroups *cgroups, struct el_strings *strings, uint64_t id,
		   const char *path);
/* False when the id is not known. */
bool el_cgroups_find(const struct el_cgroups *cgroups, uint64_t id, uint32_t *ret_path);
/* The path in the text of /proc/PID/cgroup; 0 or -ENOMEM. */
int el_cgroups_parse(const char *text, size_t size, struct el_strings *strings, uint32_t *ret);

#endif
