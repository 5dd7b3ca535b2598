/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See perfmap_ranges.h. The new entries are made disjoint by a sweep over their
 * starts with the open ones in a heap, then laid over the old ranges by a
 * merge: n log n for the new, n for the old, whatever the overlaps.
 */
#include "symbolizer/perfmap_ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

typedef struct el_perfmap_range range;

static int by_start(const void *a, const void *b)
{
	const range *left = a, *right = b;

	if (left->start != right->start)
		return (left->start > right->start) - (left->start < right->start);
	return (left->order > right->order) - (left->order < right->order);
}

/* Appends a piece, joined to the one before when it continues it; room is there. */
static void append(el_perfmap_ranges *ranges, const range *entry, uint64_t start, uint64_t end)
{
	range *last = ranges->n ? &ranges->at[ranges->n - 1] : NULL;

	if (start >= end)
		return;
	if (last && last->end == start && last->order == entry->order) {
		last->end = end;
		return;
	}
	ranges->at[ranges->n++] = (range){start, end, entry->name, entry->order};
}

/* The heap keeps the latest entry on top; `heap` holds pointers into the sorted entries. */
static void heap_push(const range **heap, size_t *n, const range *entry)
{
	size_t at = (*n)++;

	for (; at && heap[(at - 1) / 2]->order < entry->order; at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = entry;
}

static void heap_pop(const range **heap, size_t *n)
{
	const range *last = heap[--*n];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < *n) {
		if (child + 1 < *n && heap[child + 1]->order > heap[child]->order)
			child++;
		if (heap[child]->order <= last->order)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
}

/* Each step passes a start or closes an entry, so there are at most 2 n pieces. */
static void sweep(const el_perfmap_ranges *sorted, const range **heap, el_perfmap_ranges *ret)
{
	uint64_t at = 0, next;
	size_t i = 0, n = 0;

	while (i < sorted->n || n) {
		if (!n)
			at = sorted->at[i].start;
		while (i < sorted->n && sorted->at[i].start <= at)
			heap_push(heap, &n, &sorted->at[i++]);
		while (n && heap[0]->end <= at)
			heap_pop(heap, &n);
		if (!n)
			continue;
		next = heap[0]->end;
		if (i < sorted->n && sorted->at[i].start < next)
			next = sorted->at[i].start;
		append(ret, heap[0], at, next);
		at = next;
	}
}

/* Both are sorted and disjoint; where they overlap, `over` is right. */
static void lay_over(const el_perfmap_ranges *under, const el_perfmap_ranges *over,
		     el_perfmap_ranges *ret)
{
	size_t i = 0, j;
	uint64_t at = 0; /* everything below is settled */

	for (j = 0; j <= over->n; j++) {
		uint64_t limit = j < over->n ? over->at[j].start : UINT64_MAX;

		for (; i < under->n && under->at[i].start < limit; i++) {
			const range *old = &under->at[i];

			append(ret, old, old->start > at ? old->start : at,
			       old->end < limit ? old->end : limit);
			if (old->end > limit)
				break; /* it may go on behind the one over it */
		}
		if (j == over->n)
			break;
		append(ret, &over->at[j], over->at[j].start, over->at[j].end);
		at = over->at[j].end;
		while (i < under->n && under->at[i].end <= at)
			i++;
	}
}

int el_perfmap_ranges_add(el_perfmap_ranges *ranges, el_perfmap_ranges *fresh)
{
	const range **heap = calloc(fresh->n + 1, sizeof(*heap));
	el_perfmap_ranges swept = {0}, merged = {0};
	int err = heap ? el_vec_reserve(&swept, 2 * fresh->n + 1) : -ENOMEM;

	if (!err)
		err = el_vec_reserve(&merged, ranges->n + 2 * (2 * fresh->n + 1));
	if (!err) {
		qsort(fresh->at, fresh->n, sizeof(*fresh->at), by_start);
		sweep(fresh, heap, &swept);
		lay_over(ranges, &swept, &merged);
		el_vec_deinit(ranges);
		*ranges = merged;
		el_vec_deinit(fresh);
	} else {
		el_vec_deinit(&merged);
	}
	el_vec_deinit(&swept);
	free(heap);
	return err;
}

const struct el_perfmap_range *el_perfmap_ranges_find(const el_perfmap_ranges *ranges,
						      uint64_t addr)
{
	size_t low = el_partition(ranges->n, i, ranges->at[i].end <= addr);

	return low < ranges->n && ranges->at[low].start <= addr ? &ranges->at[low] : NULL;
}
