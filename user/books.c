/* SPDX-License-Identifier: Apache-2.0 */
/* See books.h. Names are those of bpf/wire.h in lower case: one list feeds both sides. */
#include "user/books.h"

#include <ctype.h>

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

/* One counter of the profile. */
struct row {
	const char *name, *unit, *sentence;
	uint64_t value;
};

static int add(struct el_profile *profile, const struct row *row)
{
	struct el_profile_counter counter = {.value = row->value};
	int err = el_strings_add(&profile->strings, row->name, &counter.name);

	if (!err)
		err = el_strings_add(&profile->strings, row->unit, &counter.unit);
	if (!err)
		err = el_strings_add(&profile->strings, row->sentence, &counter.sentence);
	return err ? err : el_vec_push(&profile->counters, counter);
}

/* LOST_RING -> "lost ring" */
static const char *readable(const char *name, char *text, size_t size)
{
	size_t i;

	for (i = 0; name[i] && i + 1 < size; i++)
		text[i] = name[i] == '_' ? ' ' : (char)tolower((unsigned char)name[i]);
	text[i] = '\0';
	return text;
}

static int add_kernel_counters(const struct el_books *books, const struct el_sampler_counts *now,
			       struct el_profile *profile)
{
	const struct row rows[] = {
#define X(name, unit, sentence)                                                                    \
	{#name, unit, sentence, now->at[EL_COUNTER_##name] - books->sampler.at[EL_COUNTER_##name]},
		EL_COUNTERS(X)
#undef X
	};
	char name[64];
	int err = 0;

	for (size_t i = 0; i < N_OF(rows) && !err; i++) {
		struct row row = rows[i];

		row.name = readable(row.name, name, sizeof(name));
		err = add(profile, &row);
	}
	return err;
}

static int add_user_counters(const struct el_books *books, const struct el_books *now,
			     struct el_profile *profile)
{
	enum el_counter taken = books->clock ? EL_COUNTER_KEPT : EL_COUNTER_RAN_KEPT;
	const char *unit = books->clock ? "ns" : "n";
	uint64_t taken_before = books->clock ? books->join.weight : books->join.samples;
	uint64_t taken_now = books->clock ? now->join.weight : now->join.samples;
#define SINCE(member) (now->member - books->member)
	const struct row rows[] = {
		{"enabled", "ns", "time the events were on, over all CPUs",
		 SINCE(sampler.enabled_ns)},
		{"open tail", "ns", "time since each CPU's last tick", now->sampler.open_tail_ns},
		{"open head", "ns", "the open tail of the window before",
		 books->sampler.open_tail_ns},
		{"carried in", unit, "kept before this window, taken in it",
		 books->sampler.at[taken] - taken_before},
		{"carried out", unit, "kept in this window, taken in the next",
		 now->sampler.at[taken] - taken_now},
		{"side-band lost", "n", "lost records of processes and mappings",
		 SINCE(sampler.sideband_lost)},
		{"stacks missing", "n", "samples whose stack never came",
		 SINCE(join.stacks_missing)},
		{"images unread", "n", "processes gone before their mappings were read",
		 SINCE(join.images_unread)},
		{"mappings refused", "n", "mappings of processes that have too many",
		 SINCE(join.mappings_refused)},
		{"parser restarts", "n", "times the parser died on an input",
		 SINCE(parser.parser_restarts)},
		{"fetcher restarts", "n", "times reading another process hung",
		 SINCE(parser.fetcher_restarts)},
		{"quarantined", "n", "inputs that are not tried again", SINCE(parser.quarantined)},
		{"jit refused", "n", "images of JIT lists that were damaged, too large or no ELF",
		 SINCE(symbolizer.jit_refused)},
		{"jit lists cut", "n", "reads of JIT lists that met damage, a cycle or a change",
		 SINCE(symbolizer.jit_lists_cut)},
		{"perf maps refused", "n",
		 "perf maps that are links, too large, or not of their process's user",
		 SINCE(symbolizer.perf_maps_refused)},
		{"perf map bad lines", "n", "lines of perf maps that were no entries",
		 SINCE(symbolizer.perf_map_bad_lines)},
	};
#undef SINCE
	int err = 0;

	for (size_t i = 0; i < N_OF(rows) && !err; i++)
		err = add(profile, &rows[i]);
	return err;
}

int el_books_write(struct el_books *books, struct el_sampler *sampler, const struct el_join *join,
		   struct el_parser *parser, struct el_profile *profile)
{
	struct el_books now = *books;
	int err;

	el_sampler_counts(sampler, &now.sampler);
	el_join_counts(join, &now.join);
	el_parser_stats(parser, &now.parser);
	if (now.parser.parser_restarts != books->parser.parser_restarts)
		now.symbolizer = books->symbolizer = (struct el_symbolizer_stats){0};
	(void)el_parser_symbolizer_stats(parser, &now.symbolizer); /* a dead parser: as before */
	err = add_kernel_counters(books, &now.sampler, profile);
	if (!err)
		err = add_user_counters(books, &now, profile);
	*books = now;
	return err;
}
