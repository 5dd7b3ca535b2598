/* SPDX-License-Identifier: Apache-2.0 */
/* What is mapped, and what a new mapping does to it; see mappings.h. Looking up is mapping_at.c. */
#include "user/process/mappings.h"

#include <string.h>

#include "base/search.h"

void el_mappings_deinit(struct el_mappings *mappings)
{
	el_vec_deinit(&mappings->all);
	el_vec_deinit(&mappings->live);
	el_vec_deinit(&mappings->past);
	el_vec_deinit(&mappings->past_end);
	mappings->n_sorted = 0;
}

static const struct el_mapping *live_at(const struct el_mappings *mappings, size_t i)
{
	return &mappings->all.at[mappings->live.at[i]].mapping;
}

/* The first live mapping that ends above `addr`. */
static size_t live_above(const struct el_mappings *mappings, uint64_t addr)
{
	return el_partition(mappings->live.n, i, live_at(mappings, i)->end <= addr);
}

bool el_mappings_overlap(const struct el_mappings *mappings, uint64_t start, uint64_t end)
{
	size_t i = live_above(mappings, start);

	return i < mappings->live.n && live_at(mappings, i)->start < end;
}

/* Without the mark of an unlinked file: it may have been unlinked between two looks at it. */
static size_t bare_size(const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t size = strlen(path), mark = sizeof(deleted) - 1;

	return size > mark && !strcmp(path + size - mark, deleted) ? size - mark : size;
}

/*
 * A chroot shows itself: the side-band gives a path from the process's root,
 * /proc/PID/maps from ours, so one ends with the other.
 */
static bool same_path(const char *a, const char *b)
{
	size_t a_size = bare_size(a), b_size = bare_size(b);
	size_t size = a_size < b_size ? a_size : b_size;

	if (!size)
		return a_size == b_size;
	return !memcmp(a + a_size - size, b + b_size - size, size) &&
	       (a_size == b_size || (*a == '/' && *b == '/'));
}

static bool same_mapping(const struct el_mapping *a, const struct el_mapping *b)
{
	if (a->start != b->start || a->end != b->end || a->flags != b->flags)
		return false;
	if (!(a->flags & EL_MAPPING_FILE))
		return true;
	if (a->offset != b->offset)
		return false;
	if (a->build_id_size && b->build_id_size &&
	    (a->build_id_size != b->build_id_size ||
	     memcmp(a->build_id, b->build_id, a->build_id_size)))
		return false;
	if (a->inode && b->inode)
		return a->inode == b->inode && a->dev_major == b->dev_major &&
		       a->dev_minor == b->dev_minor;
	return same_path(a->path, b->path);
}

/* 1 when something was learnt. */
static int learn(struct el_mapping *known, const struct el_mapping *wanted)
{
	int changed = 0;

	if (!known->inode && wanted->inode) {
		known->inode = wanted->inode;
		known->dev_major = wanted->dev_major;
		known->dev_minor = wanted->dev_minor;
		changed = 1;
	}
	if (!known->build_id_size && wanted->build_id_size) {
		memcpy(known->build_id, wanted->build_id, sizeof(known->build_id));
		known->build_id_size = wanted->build_id_size;
		changed = 1;
	}
	return changed;
}

static void end_mapping(struct el_mappings *mappings, uint32_t position, uint64_t now_ns)
{
	struct el_process_mapping *mapping = &mappings->all.at[position];

	/* Said late: it was seen later than what replaced it happened. */
	mapping->to_ns = now_ns > mapping->from_ns ? now_ns : mapping->from_ns;
	mappings->past.at[mappings->past.n++] = position;
}

static uint32_t append(struct el_mappings *mappings, const struct el_mapping *mapping,
		       uint64_t from_ns, uint32_t *next_id)
{
	uint32_t position = mappings->all.n++;
	struct el_process_mapping *added = &mappings->all.at[position];

	*added = (struct el_process_mapping){*mapping, from_ns, UINT64_MAX};
	added->mapping.id = (*next_id)++;
	return position;
}

static struct el_mapping part_of(const struct el_mapping *whole, uint64_t start, uint64_t end)
{
	struct el_mapping part = *whole;

	part.offset += start - whole->start;
	part.start = start;
	part.end = end;
	return part;
}

/* Past mappings make room when they are most of what is kept; else the caller is refused. */
static int make_room(struct el_mappings *mappings)
{
	if (mappings->all.n + 3 <= EL_MAPPINGS_MAX)
		return 0;
	if (mappings->past.n < mappings->live.n)
		return -ENOSPC;
	el_mappings_forget(mappings, UINT64_MAX);
	return 0;
}

/* Puts `wanted` in the place of live[low..high), of which the parts outside it stay. */
static int replace(struct el_mappings *mappings, size_t low, size_t high,
		   const struct el_mapping *wanted, uint64_t from_ns, uint64_t now_ns,
		   uint32_t *next_id)
{
	size_t covered = high - low, n_new = 0;
	struct el_mapping left = {0}, right = {0};
	uint32_t new[3];

	if (el_vec_reserve(&mappings->all, mappings->all.n + 3) ||
	    el_vec_reserve(&mappings->live, mappings->live.n + 3) ||
	    el_vec_reserve(&mappings->past, mappings->past.n + covered))
		return -ENOMEM;
	if (covered && live_at(mappings, low)->start < wanted->start)
		left = part_of(live_at(mappings, low), live_at(mappings, low)->start,
			       wanted->start);
	if (covered && live_at(mappings, high - 1)->end > wanted->end)
		right = part_of(live_at(mappings, high - 1), wanted->end,
				live_at(mappings, high - 1)->end);
	for (size_t i = low; i < high; i++)
		end_mapping(mappings, mappings->live.at[i], now_ns);
	if (left.end)
		new[n_new++] = append(mappings, &left, now_ns, next_id);
	new[n_new++] = append(mappings, wanted, from_ns, next_id);
	if (right.end)
		new[n_new++] = append(mappings, &right, now_ns, next_id);
	memmove(mappings->live.at + low + n_new, mappings->live.at + high,
		(mappings->live.n - high) * sizeof(*mappings->live.at));
	memcpy(mappings->live.at + low, new, n_new * sizeof(*new));
	mappings->live.n = mappings->live.n - covered + n_new;
	return 1;
}

int el_mappings_put(struct el_mappings *mappings, const struct el_mapping *wanted, uint64_t from_ns,
		    uint64_t now_ns, uint32_t *next_id)
{
	size_t low = live_above(mappings, wanted->start), high = low;
	int err;

	while (high < mappings->live.n && live_at(mappings, high)->start < wanted->end)
		high++;
	if (high == low + 1 && same_mapping(live_at(mappings, low), wanted)) {
		struct el_process_mapping *known = &mappings->all.at[mappings->live.at[low]];

		if (from_ns < known->from_ns)
			known->from_ns = from_ns;
		return learn(&known->mapping, wanted);
	}
	err = make_room(mappings);
	if (err)
		return err;
	return replace(mappings, low, high, wanted, from_ns, now_ns, next_id);
}

int el_mappings_end_missing(struct el_mappings *mappings, const struct el_mapping *found, size_t n,
			    uint64_t limit, uint64_t now_ns)
{
	size_t kept = 0, f = 0;
	int ended = 0;

	if (el_vec_reserve(&mappings->past, mappings->past.n + mappings->live.n))
		return -ENOMEM;
	for (size_t i = 0; i < mappings->live.n; i++) {
		const struct el_mapping *live = live_at(mappings, i);

		while (f < n && found[f].start < live->start)
			f++;
		if (live->start >= limit ||
		    (f < n && found[f].start == live->start && found[f].end == live->end)) {
			mappings->live.at[kept++] = mappings->live.at[i];
			continue;
		}
		end_mapping(mappings, mappings->live.at[i], now_ns);
		ended = 1;
	}
	mappings->live.n = kept;
	return ended;
}

void el_mappings_end_all(struct el_mappings *mappings, uint64_t now_ns)
{
	/* They stay live in the sense of the view: lookups past the end see the last state. */
	for (size_t i = 0; i < mappings->live.n; i++) {
		struct el_process_mapping *mapping = &mappings->all.at[mappings->live.at[i]];

		mapping->to_ns = now_ns > mapping->from_ns ? now_ns : mapping->from_ns;
	}
}

static int by_start(const void *a, const void *b, void *context)
{
	const struct el_process_mapping *all = context;
	const struct el_process_mapping *x = &all[*(const uint32_t *)a];
	const struct el_process_mapping *y = &all[*(const uint32_t *)b];

	if (x->mapping.start != y->mapping.start)
		return (x->mapping.start > y->mapping.start) -
		       (x->mapping.start < y->mapping.start);
	return (x->mapping.id > y->mapping.id) - (x->mapping.id < y->mapping.id);
}

/* Sorts the positions in `live`. Of two that overlap (told out of order) the newer one stays. */
static void sort_live(struct el_mappings *mappings)
{
	size_t kept = 0;

	if (mappings->live.n)
		qsort_r(mappings->live.at, mappings->live.n, sizeof(*mappings->live.at), by_start,
			mappings->all.at);
	for (size_t i = 0; i < mappings->live.n; i++) {
		uint32_t position = mappings->live.at[i];
		const struct el_mapping *next = &mappings->all.at[position].mapping;

		if (kept && live_at(mappings, kept - 1)->end > next->start) {
			if (live_at(mappings, kept - 1)->id < next->id)
				mappings->live.at[kept - 1] = position;
			continue;
		}
		mappings->live.at[kept++] = position;
	}
	mappings->live.n = kept;
}

int el_mappings_inherit(struct el_mappings *child, const struct el_mappings *parent,
			uint64_t time_ns, uint32_t *next_id)
{
	size_t n = 0;

	for (size_t i = 0; i < parent->all.n; i++) {
		const struct el_process_mapping *from = &parent->all.at[i];

		n += from->from_ns <= time_ns && time_ns < from->to_ns;
	}
	if (el_vec_reserve(&child->all, n) || el_vec_reserve(&child->live, n))
		return -ENOMEM;
	for (size_t i = 0; i < parent->all.n; i++) {
		const struct el_process_mapping *from = &parent->all.at[i];

		if (from->from_ns <= time_ns && time_ns < from->to_ns)
			child->live.at[child->live.n++] =
				append(child, &from->mapping, time_ns, next_id);
	}
	sort_live(child);
	return 0;
}

void el_mappings_forget(struct el_mappings *mappings, uint64_t time_ns)
{
	const uint32_t live_mark = 1u << 31; /* among the flags, during the move only */
	size_t kept = 0;

	if (!mappings->past.n)
		return;
	for (size_t i = 0; i < mappings->live.n; i++)
		mappings->all.at[mappings->live.at[i]].mapping.flags |= live_mark;
	mappings->live.n = mappings->past.n = mappings->n_sorted = 0;
	for (size_t i = 0; i < mappings->all.n; i++) {
		struct el_process_mapping mapping = mappings->all.at[i];
		bool is_live = mapping.mapping.flags & live_mark;

		if (!is_live && mapping.to_ns < time_ns)
			continue;
		mapping.mapping.flags &= ~live_mark;
		mappings->all.at[kept] = mapping;
		if (is_live)
			mappings->live.at[mappings->live.n++] = kept;
		else
			mappings->past.at[mappings->past.n++] = kept;
		kept++;
	}
	mappings->all.n = kept;
	sort_live(mappings);
}
