/* SPDX-License-Identifier: Apache-2.0 */
/* Overlapping entries of a perf map made disjoint: at every address the latest one. */
#ifndef EL_PERFMAP_RANGES_H
#define EL_PERFMAP_RANGES_H

#include "symbolizer/perfmap.h"

/*
 * Adds `fresh`, whose entries are all later than those of `ranges`, and
 * empties it. 0 or -ENOMEM, both unchanged then.
 */
int el_perfmap_ranges_add(el_perfmap_ranges *ranges, el_perfmap_ranges *fresh);
/* The range that covers `addr`, or NULL. */
const struct el_perfmap_range *el_perfmap_ranges_find(const el_perfmap_ranges *ranges,
						      uint64_t addr);

#endif
