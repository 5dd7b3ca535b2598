/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executable mappings of one image over time: those that are there, which
 * never overlap, and those that were. A new one cuts what it covers, as
 * mmap(2) does; unmapping is not reported by the kernel, so an old mapping
 * stays until something covers it or a scan no longer finds it.
 *
 * A zeroed one is empty. Paths belong to paths.h. Every time is CLOCK_MONOTONIC ns.
 */
#ifndef EL_MAPPINGS_H
#define EL_MAPPINGS_H

#include "user/process/process.h"

/* Of one image, past ones included. The kernel's default limit is 65530 of any kind. */
#define EL_MAPPINGS_MAX (1u << 17)

struct el_mappings {
	EL_VEC(struct el_process_mapping) all; /* by id */
	EL_VEC(uint32_t) live;                 /* positions in `all`, by start */
	EL_VEC(uint32_t) past;     /* likewise: the first n_sorted by start, then as they ended */
	EL_VEC(uint64_t) past_end; /* highest end of past[0..i], for i < n_sorted */
	size_t n_sorted;
};

void el_mappings_deinit(struct el_mappings *mappings);

/*
 * `wanted` is there from `from_ns` on, as said by something that happened at
 * `now_ns`, when what it covers ended. Its id is taken from *next_id, which
 * grows by as many ids as were needed. A mapping already known stays, and
 * learns what it did not know. 1: changed, 0: known before, -ENOMEM, or
 * -ENOSPC with EL_MAPPINGS_MAX of them.
 */
int el_mappings_put(struct el_mappings *mappings, const struct el_mapping *wanted, uint64_t from_ns,
		    uint64_t now_ns, uint32_t *next_id);
/* Whether a live mapping overlaps [start, end). */
bool el_mappings_overlap(const struct el_mappings *mappings, uint64_t start, uint64_t end);

/*
 * Ends the live mappings below `limit` of which no one in `found`, sorted by
 * start, has the same start and end. True when there was one; -ENOMEM.
 */
int el_mappings_end_missing(struct el_mappings *mappings, const struct el_mapping *found, size_t n,
			    uint64_t limit, uint64_t now_ns);
/* All end: the image does. */
void el_mappings_end_all(struct el_mappings *mappings, uint64_t now_ns);

/* The copy a forked child gets: what was there at `time_ns`, with ids from *next_id. 0 or -ENOMEM.
 */
int el_mappings_inherit(struct el_mappings *child, const struct el_mappings *parent,
			uint64_t time_ns, uint32_t *next_id);

/* What covered `addr` at `time_ns`, or NULL. */
const struct el_process_mapping *el_mappings_at(struct el_mappings *mappings, uint64_t addr,
						uint64_t time_ns);

/* Drops those that ended before `time_ns`. */
void el_mappings_forget(struct el_mappings *mappings, uint64_t time_ns);

#endif
