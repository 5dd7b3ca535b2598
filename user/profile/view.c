/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See view.h. Samples are summed by stack first, then each stack is walked
 * once, so the cost is that of the distinct stacks, not of the samples.
 */
#include "user/profile/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/index.h"

/* What makes a row: the members of el_view_row up to `miss`, as far as the view uses them. */
#define ROW_KEY_SIZE offsetof(struct el_view_row, mine)

struct inlined_key {
	uint32_t row, from;
};

struct walk {
	struct el_view *view;
	const struct el_profile *profile;
	struct el_index rows, inlined;
	uint32_t *seen; /* by row: the walk number of the stack that counted it last */
	size_t seen_room;
	uint32_t walk;       /* number of the stack being walked */
	bool *mine;          /* by function */
	uint64_t *value;     /* by stack */
	uint64_t *n_samples; /* by stack */
};

static bool row_equal(const void *owner, uint32_t position, const void *wanted)
{
	const struct el_view *view = owner;

	return !memcmp(&view->rows.at[position], wanted, ROW_KEY_SIZE);
}

/* The row of that key, made when new. `key` must be zeroed where it says nothing. */
static int find_row(struct walk *walk, const struct el_view_row *key, uint32_t *ret)
{
	struct el_view *view = walk->view;
	uint64_t hash = el_hash_bytes(0, key, ROW_KEY_SIZE);
	size_t room = walk->seen_room;
	int err;

	*ret = el_index_find(&walk->rows, hash, row_equal, view, key);
	if (*ret != EL_INDEX_NONE)
		return 0;
	err = el_vec_reserve(&view->rows, view->rows.n + 1);
	if (!err)
		err = el_vec_grow((void **)&walk->seen, &walk->seen_room, sizeof(*walk->seen),
				  view->rows.n + 1);
	if (!err)
		err = el_index_add(&walk->rows, hash, view->rows.n);
	if (err)
		return err;
	memset(walk->seen + room, 0, (walk->seen_room - room) * sizeof(*walk->seen));
	*ret = view->rows.n++;
	view->rows.at[*ret] = *key;
	view->rows.at[*ret].mine = walk->mine[key->function];
	return 0;
}

/* --- keys --- */

static uint32_t object_of(const struct el_profile *profile,
			  const struct el_profile_location *location)
{
	return profile->mappings.at[location->mapping].object;
}

/* The key of a frame: of one line of a location, or of a location without lines (line NULL). */
static struct el_view_row frame_key(const struct el_view *view, uint32_t location_row,
				    const struct el_profile_line *line)
{
	const struct el_profile *profile = view->profile;
	const struct el_profile_location *location = &profile->locations.at[location_row];
	uint32_t function = line ? line->function : 0;
	struct el_view_row key;

	memset(&key, 0, sizeof(key)); /* padding is compared */
	switch (view->by) {
	case EL_VIEW_BY_LINE:
		key.line = line ? line->line : 0;
		key.function = function;
		break;
	case EL_VIEW_BY_FUNCTION:
		key.function = function;
		break;
	case EL_VIEW_BY_ADDRESS:
		key.line = line ? line->line : 0;
		key.function = function;
		key.location = location_row;
		break;
	default:
		break;
	}
	if (view->by == EL_VIEW_BY_MODULE) {
		key.object = object_of(profile, location);
		return key;
	}
	key.file = profile->functions.at[function].file;
	if (view->by == EL_VIEW_BY_ADDRESS || !(view->by == EL_VIEW_BY_FILE ? key.file : function))
		key.object = object_of(profile, location);
	if (!function)
		key.miss = location->miss;
	else if (view->by == EL_VIEW_BY_FILE && !key.file)
		key.miss = EL_MISS_NO_LINE;
	return key;
}

/* --- one stack --- */

static void count_cum(struct walk *walk, uint32_t row, uint64_t value, uint64_t n)
{
	if (walk->seen[row] == walk->walk)
		return;
	walk->seen[row] = walk->walk;
	walk->view->rows.at[row].cum += value;
	walk->view->rows.at[row].n_cum += n;
}

static bool inlined_equal(const void *owner, uint32_t position, const void *wanted)
{
	const struct el_view *view = owner;
	const struct inlined_key *key = wanted;

	return view->inlined.at[position].row == key->row &&
	       view->inlined.at[position].from == key->from;
}

static int count_inlined(struct walk *walk, uint32_t row, uint32_t from, uint64_t value)
{
	struct el_view *view = walk->view;
	struct inlined_key key = {row, from};
	uint64_t hash = el_hash_bytes(0, &key, sizeof(key));
	uint32_t found = el_index_find(&walk->inlined, hash, inlined_equal, view, &key);
	int err;

	if (found == EL_INDEX_NONE) {
		found = view->inlined.n;
		err = el_vec_push(&view->inlined, ((struct el_view_inlined){row, from, 0}));
		if (!err)
			err = el_index_add(&walk->inlined, hash, found);
		if (err)
			return err;
	}
	view->inlined.at[found].flat += value;
	return 0;
}

/* What one stack has seen so far on the way from its leaf. */
struct progress {
	uint64_t value, n;
	uint32_t leaf; /* row of the leaf frame */
	bool leaf_is_mine;
	bool has_leaf;
	bool has_own; /* a frame of the user's own was met */
};

static int walk_frame(struct walk *walk, struct progress *progress, uint32_t location,
		      const struct el_profile_line *line, bool of_leaf)
{
	struct el_view_row key = frame_key(walk->view, location, line);
	bool mine = line && walk->mine[line->function];
	struct el_view_row *row;
	uint32_t position;
	int err = find_row(walk, &key, &position);

	if (err)
		return err;
	row = &walk->view->rows.at[position];
	count_cum(walk, position, progress->value, progress->n);
	if (!progress->has_leaf) {
		progress->has_leaf = true;
		progress->leaf = position;
		progress->leaf_is_mine = mine;
		row->flat += progress->value;
		row->n_flat += progress->n;
	}
	if (!mine || progress->has_own)
		return 0;
	progress->has_own = true;
	row->own += progress->value;
	walk->view->own_total += progress->value;
	if (!of_leaf || progress->leaf_is_mine)
		return 0;
	/* same location as the leaf, so inlined, not called */
	walk->view->rows.at[progress->leaf].into_mine += progress->value;
	return walk->view->by == EL_VIEW_BY_LINE
		       ? count_inlined(walk, position, progress->leaf, progress->value)
		       : 0;
}

static int walk_stack(struct walk *walk, uint32_t stack_row)
{
	const struct el_profile *profile = walk->profile;
	const struct el_profile_stack *stack = &profile->stacks.at[stack_row];
	struct progress progress = {.value = walk->value[stack_row],
				    .n = walk->n_samples[stack_row]};
	int err = 0;

	walk->walk++;
	for (uint32_t i = 0; i < stack->n_locations && !err; i++) {
		uint32_t row = profile->stack_locations.at[stack->first_location + i];
		const struct el_profile_location *location = &profile->locations.at[row];

		if (!location->n_lines)
			err = walk_frame(walk, &progress, row, NULL, !i);
		for (uint32_t l = 0; l < location->n_lines && !err; l++)
			err = walk_frame(walk, &progress, row,
					 &profile->lines.at[location->first_line + l], !i);
	}
	if (!stack->n_locations)
		err = walk_frame(walk, &progress, 0, NULL, true);
	return err;
}

/* --- kinds --- */

/* The kind of a stack's leaf; -1 when nothing is known of it. */
static int code_of_stack(const struct el_profile *profile, uint32_t stack_row, uint16_t *ret_miss)
{
	const struct el_profile_stack *stack = &profile->stacks.at[stack_row];
	const struct el_profile_location *location;
	uint32_t function;

	if (!stack->n_locations)
		return -1;
	location = &profile->locations.at[profile->stack_locations.at[stack->first_location]];
	function = location->n_lines ? profile->lines.at[location->first_line].function : 0;
	*ret_miss = location->miss;
	if (profile->functions.at[function].code)
		return profile->functions.at[function].code;
	return profile->objects.at[object_of(profile, location)].code;
}

static bool is_known(uint16_t miss)
{
	return miss == EL_MISS_NONE || miss == EL_MISS_NO_LINE || miss == EL_MISS_NO_SYMBOL;
}

static void count_kind(struct el_view *view, uint32_t stack, uint64_t value)
{
	uint16_t miss = EL_MISS_NONE;
	int code = code_of_stack(view->profile, stack, &miss);

	if (code < 0)
		view->no_stack += value;
	else if (is_known(miss))
		view->code[code] += value;
	else
		view->miss[miss] += value;
}

/* --- samples --- */

static bool passes(const struct el_view *view, const struct el_view_options *options,
		   const struct el_profile_sample *sample)
{
	uint16_t miss;
	int code;

	if (options->pid && view->profile->processes.at[sample->process].pid != options->pid)
		return false;
	if (options->tid && sample->tid != options->tid)
		return false;
	if (!options->codes)
		return true;
	code = code_of_stack(view->profile, sample->stack, &miss);
	return code >= 0 && (options->codes & 1u << code);
}

/* By process and thread a sample is its own row. */
static int count_sample(struct walk *walk, const struct el_profile_sample *sample, uint64_t value,
			uint64_t n)
{
	struct el_view *view = walk->view;
	struct el_view_row key;
	uint32_t position;
	int err;

	memset(&key, 0, sizeof(key));
	key.process = sample->process;
	if (view->by == EL_VIEW_BY_THREAD) {
		key.tid = sample->tid;
		key.thread = sample->thread;
	}
	err = find_row(walk, &key, &position);
	if (err)
		return err;
	view->rows.at[position].flat += value;
	view->rows.at[position].cum += value;
	view->rows.at[position].n_flat += n;
	view->rows.at[position].n_cum += n;
	return 0;
}

/* Sum of squared weights: from the ticks as far as there are any, else samples of a row weigh the
 * same. */
static int sum_squares(const struct el_view *view, const bool *passing, double *ret)
{
	const struct el_profile *profile = view->profile;
	bool last = view->value == profile->n_value_types - 1;
	size_t n = profile->samples.n;
	el_auto_free uint64_t *ticks = calloc(n + 1, sizeof(*ticks));
	el_auto_free uint64_t *weights = calloc(n + 1, sizeof(*weights));
	double sum = 0;

	if (!ticks || !weights)
		return -ENOMEM;
	for (size_t i = 0; last && i < profile->ticks.n; i++) {
		const struct el_profile_tick *tick = &profile->ticks.at[i];

		if (!passing[tick->sample])
			continue;
		sum += (double)tick->weight * tick->weight;
		weights[tick->sample] += tick->weight;
		ticks[tick->sample]++;
	}
	for (size_t i = 0; i < n; i++) {
		const struct el_profile_sample *sample = &profile->samples.at[i];
		double weight = sample->values[view->value] - weights[i];
		double count = sample->values[0] > ticks[i] ? sample->values[0] - ticks[i] : 1;

		if (passing[i])
			sum += weight * weight / count;
	}
	*ret = sum;
	return 0;
}

static int count_samples(struct walk *walk, const struct el_view_options *options)
{
	const struct el_profile *profile = walk->profile;
	struct el_view *view = walk->view;
	el_auto_free bool *passing = calloc(profile->samples.n + 1, sizeof(*passing));
	bool by_sample = view->by == EL_VIEW_BY_PROCESS || view->by == EL_VIEW_BY_THREAD;
	double squares;
	int err = 0;

	if (!passing)
		return -ENOMEM;
	for (size_t i = 0; i < profile->samples.n && !err; i++) {
		const struct el_profile_sample *sample = &profile->samples.at[i];
		uint64_t value = sample->values[view->value];

		passing[i] = passes(view, options, sample);
		if (!passing[i])
			continue;
		view->total += value;
		view->n_samples += sample->values[0];
		count_kind(view, sample->stack, value);
		walk->value[sample->stack] += value;
		walk->n_samples[sample->stack] += sample->values[0];
		if (by_sample && (value || sample->values[0]))
			err = count_sample(walk, sample, value, sample->values[0]);
	}
	for (size_t i = 0; i < profile->stacks.n && !err && !by_sample; i++) {
		if (walk->value[i] || walk->n_samples[i])
			err = walk_stack(walk, i);
	}
	if (!err)
		err = sum_squares(view, passing, &squares);
	if (!err && squares > 0)
		view->n_effective = (double)view->total * view->total / squares;
	return err;
}

static int walk_init(struct walk *walk, struct el_view *view, const struct el_view_options *options)
{
	const struct el_profile *profile = view->profile;

	*walk = (struct walk){.view = view, .profile = profile};
	walk->mine = calloc(profile->functions.n, sizeof(*walk->mine));
	walk->value = calloc(profile->stacks.n, sizeof(*walk->value));
	walk->n_samples = calloc(profile->stacks.n, sizeof(*walk->n_samples));
	if (!walk->mine || !walk->value || !walk->n_samples)
		return -ENOMEM;
	for (size_t i = 1; options->mine && i < profile->functions.n; i++)
		walk->mine[i] = options->mine(options->mine_context, profile, i);
	return 0;
}

static void walk_deinit(struct walk *walk)
{
	el_index_deinit(&walk->rows);
	el_index_deinit(&walk->inlined);
	free(walk->seen);
	free(walk->mine);
	free(walk->value);
	free(walk->n_samples);
}

int el_view_new(const struct el_profile *profile, const struct el_view_options *options,
		struct el_view **ret)
{
	struct el_view *view;
	struct walk walk;
	int err;

	if (options->value > profile->n_value_types || !profile->n_value_types ||
	    options->by >= EL_N_VIEWS)
		return -EINVAL;
	view = calloc(1, sizeof(*view));
	if (!view)
		return -ENOMEM;
	view->profile = profile;
	view->by = options->by;
	view->value = (options->value ? options->value : profile->n_value_types) - 1;
	err = walk_init(&walk, view, options);
	if (!err)
		err = count_samples(&walk, options);
	walk_deinit(&walk);
	if (!err)
		err = el_view_sort(view, options->sort_cum);
	if (err) {
		el_view_free(view);
		return err;
	}
	*ret = view;
	return 0;
}

void el_view_free(struct el_view *view)
{
	if (!view)
		return;
	el_vec_deinit(&view->rows);
	el_vec_deinit(&view->inlined);
	free(view);
}
