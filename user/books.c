/* SPDX-License-Identifier: Apache-2.0 */
/* See books.h. Names are those of bpf/wire.h in lower case: one list feeds both sides. */
#include "user/books.h"

#include <ctype.h>
#include <stdio.h>

static int add(struct el_profile *profile, const char *name, const char *unit, const char *sentence,
	       uint64_t value)
{
	struct el_profile_counter counter = {.value = value};
	int err = el_strings_add(&profile->strings, name, &counter.name);

	if (!err)
		err = el_strings_add(&profile->strings, unit, &counter.unit);
	if (!err)
		err = el_strings_add(&profile->strings, sentence, &counter.sentence);
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

static int add_kernel_counters(struct el_books *books, const struct el_sampler_counts *now,
			       struct el_profile *profile)
{
	static const struct {
		const char *name, *unit, *sentence;
	} list[] = {
#define X(name, unit, sentence) {#name, unit, sentence},
		EL_COUNTERS(X)
#undef X
	};
	char name[64];
	int err = 0;

	for (int i = 0; i < EL_N_COUNTERS && !err; i++)
		err = add(profile, readable(list[i].name, name, sizeof(name)), list[i].unit,
			  list[i].sentence, now->at[i] - books->sampler.at[i]);
	return err;
}

int el_books_write(struct el_books *books, struct el_sampler *sampler, const struct el_join *join,
		   const struct el_parser *parser, struct el_profile *profile)
{
	enum el_counter taken = books->clock ? EL_COUNTER_KEPT : EL_COUNTER_RAN_KEPT;
	struct el_sampler_counts now;
	struct el_join_counts joined;
	struct el_parser_stats parsed;
	uint64_t in, out;
	int err;

	el_sampler_counts(sampler, &now);
	el_join_counts(join, &joined);
	el_parser_stats(parser, &parsed);
	in = books->sampler.at[taken] - (books->clock ? books->join.weight : books->join.samples);
	out = now.at[taken] - (books->clock ? joined.weight : joined.samples);

	err = add_kernel_counters(books, &now, profile);
	if (!err)
		err = add(profile, "enabled", "ns", "time the events were on, over all CPUs",
			  now.enabled_ns - books->sampler.enabled_ns);
	if (!err)
		err = add(profile, "open tail", "ns", "time since each CPU's last tick",
			  now.open_tail_ns);
	if (!err)
		err = add(profile, "open head", "ns", "the open tail of the window before",
			  books->sampler.open_tail_ns);
	if (!err)
		err = add(profile, "carried in", books->clock ? "ns" : "n",
			  "kept before this window, taken in it", in);
	if (!err)
		err = add(profile, "carried out", books->clock ? "ns" : "n",
			  "kept in this window, taken in the next", out);
	if (!err)
		err = add(profile, "side-band lost", "n", "lost records of processes and mappings",
			  now.sideband_lost - books->sampler.sideband_lost);
	if (!err)
		err = add(profile, "stacks missing", "n", "samples whose stack never came",
			  joined.stacks_missing - books->join.stacks_missing);
	if (!err)
		err = add(profile, "images unread", "n",
			  "processes gone before their mappings were read",
			  joined.images_unread - books->join.images_unread);
	if (!err)
		err = add(profile, "parser restarts", "n", "times the parser died on an input",
			  parsed.parser_restarts - books->parser.parser_restarts);
	if (!err)
		err = add(profile, "fetcher restarts", "n", "times reading another process hung",
			  parsed.fetcher_restarts - books->parser.fetcher_restarts);
	if (!err)
		err = add(profile, "quarantined", "n", "inputs that are not tried again",
			  parsed.quarantined - books->parser.quarantined);
	books->sampler = now;
	books->join = joined;
	books->parser = parsed;
	return err;
}
