/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (address, time) -> mapping, asked for every new frame. Nearly always the
 * answer is among the live mappings, a binary search; past ones are kept
 * sorted but for a tail, because a JIT ends mappings faster than it is asked.
 */
#include <string.h>

#include "base/search.h"
#include "user/process/mappings.h"

#define TAIL_MIN 64    /* past mappings searched one by one before they are sorted in */
#define STEPS_MAX 8192 /* past mappings looked at: a process can nest them without end */

static int by_start(const void *a, const void *b, void *context)
{
	const struct el_process_mapping *all = context;
	uint64_t x = all[*(const uint32_t *)a].mapping.start;
	uint64_t y = all[*(const uint32_t *)b].mapping.start;

	return (x > y) - (x < y);
}

static int sort_past(struct el_mappings *mappings)
{
	uint64_t end = 0;

	if (mappings->past.n - mappings->n_sorted <= TAIL_MIN + mappings->n_sorted / 8)
		return 0;
	if (el_vec_reserve(&mappings->past_end, mappings->past.n))
		return -ENOMEM;
	qsort_r(mappings->past.at, mappings->past.n, sizeof(*mappings->past.at), by_start,
		mappings->all.at);
	for (size_t i = 0; i < mappings->past.n; i++) {
		uint64_t own = mappings->all.at[mappings->past.at[i]].mapping.end;

		end = own > end ? own : end;
		mappings->past_end.at[i] = end;
	}
	mappings->n_sorted = mappings->past.n;
	return 0;
}

static bool covers(const struct el_process_mapping *mapping, uint64_t addr, uint64_t time_ns)
{
	return mapping->mapping.start <= addr && addr < mapping->mapping.end &&
	       mapping->from_ns <= time_ns && time_ns < mapping->to_ns;
}

/* The newer of the two, of which `best` may be NULL, when `position` covers. */
static const struct el_process_mapping *better(const struct el_mappings *mappings,
					       const struct el_process_mapping *best,
					       uint32_t position, uint64_t addr, uint64_t time_ns)
{
	const struct el_process_mapping *mapping = &mappings->all.at[position];

	if (!covers(mapping, addr, time_ns) || (best && best->mapping.id > mapping->mapping.id))
		return best;
	return mapping;
}

static const struct el_process_mapping *past_at(struct el_mappings *mappings, uint64_t addr,
						uint64_t time_ns)
{
	const struct el_process_mapping *best = NULL;
	size_t low, steps = 0;

	if (sort_past(mappings))
		return NULL;
	low = el_partition(mappings->n_sorted, i,
			   mappings->all.at[mappings->past.at[i]].mapping.start <= addr);
	while (low-- && mappings->past_end.at[low] > addr && steps++ < STEPS_MAX)
		best = better(mappings, best, mappings->past.at[low], addr, time_ns);
	for (size_t i = mappings->n_sorted; i < mappings->past.n && steps < STEPS_MAX; i++, steps++)
		best = better(mappings, best, mappings->past.at[i], addr, time_ns);
	return best;
}

const struct el_process_mapping *el_mappings_at(struct el_mappings *mappings, uint64_t addr,
						uint64_t time_ns)
{
	size_t low = el_partition(mappings->live.n, i,
				  mappings->all.at[mappings->live.at[i]].mapping.start <= addr);

	if (low) {
		const struct el_process_mapping *live =
			&mappings->all.at[mappings->live.at[low - 1]];

		/* Its end in time is that of the image: what comes later still means it. */
		if (addr < live->mapping.end && live->mapping.start <= addr &&
		    live->from_ns <= time_ns)
			return live;
	}
	return mappings->past.n ? past_at(mappings, addr, time_ns) : NULL;
}
