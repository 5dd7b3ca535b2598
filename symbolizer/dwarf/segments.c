/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nested ranges to segments that do not overlap: a sweep over the ranges in
 * order of their start, with a stack of those that are open. A scope's number
 * is larger than its parent's, so at equal starts the inner one wins.
 */
#include "symbolizer/dwarf/part.h"

static int by_start(const void *a, const void *b)
{
	const struct el_range *left = a, *right = b;

	if (left->start != right->start)
		return (left->start > right->start) - (left->start < right->start);
	return (left->scope > right->scope) - (left->scope < right->scope);
}

/* From `addr` on, `scope`. */
static int emit(struct el_dwarf_unit *unit, uint64_t addr, uint32_t scope)
{
	struct el_segment segment = {.off = addr - unit->index_base, .scope = scope};
	struct el_segment *last =
		unit->segments.n ? &unit->segments.at[unit->segments.n - 1] : NULL;

	if (addr - unit->index_base > UINT32_MAX)
		return 0;
	if (last && last->off == segment.off) {
		last->scope = scope;
		return 0;
	}
	if (last && last->scope == scope)
		return 0;
	return el_vec_push(&unit->segments, segment);
}

/* Closes the open ranges that end at or before `addr`. */
static int close_until(struct el_dwarf_unit *unit, struct el_ranges *open, uint64_t addr)
{
	uint64_t end;
	int err = 0;

	while (!err && open->list.n && open->list.at[open->list.n - 1].end <= addr) {
		end = open->list.at[open->list.n - 1].end;
		while (open->list.n && open->list.at[open->list.n - 1].end <= end)
			open->list.n--;
		err = emit(unit, end,
			   open->list.n ? open->list.at[open->list.n - 1].scope : EL_DWARF_NONE);
	}
	return err;
}

int el_segments_make(struct el_dwarf_unit *unit, struct el_ranges *ranges)
{
	struct el_ranges open = {0};
	size_t i;
	int err = 0;

	if (!ranges->list.n)
		return 0;
	qsort(ranges->list.at, ranges->list.n, sizeof(*ranges->list.at), by_start);
	unit->index_base = ranges->list.at[0].start;
	for (i = 0; i < ranges->list.n && !err; i++) {
		err = close_until(unit, &open, ranges->list.at[i].start);
		if (!err)
			err = el_vec_push(&open.list, ranges->list.at[i]);
		if (!err)
			err = emit(unit, ranges->list.at[i].start, ranges->list.at[i].scope);
	}
	if (!err)
		err = close_until(unit, &open, UINT64_MAX);
	el_vec_deinit(&open.list);
	return err;
}
