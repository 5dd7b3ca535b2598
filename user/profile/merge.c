/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merge is a remap: every row of one profile is built again in the other, and
 * its index there remembered. Values are added in a second pass that cannot
 * fail, so that a failed merge leaves at most rows without a value behind.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "user/profile/build.h"

/* Row in `from` -> row in `into`, by table. */
struct remap {
	const struct el_profile *from;
	struct el_profile_builder *builder;
	uint32_t *strings, *objects, *mappings, *functions, *locations, *stacks, *processes,
		*samples;
};

static void remap_deinit(struct remap *map)
{
	free(map->strings);
	free(map->objects);
	free(map->mappings);
	free(map->functions);
	free(map->locations);
	free(map->stacks);
	free(map->processes);
	free(map->samples);
}

/* Zeroed: row 0 is row 0 everywhere. */
static uint32_t *rows_of(size_t n)
{
	return calloc(n + 1, sizeof(uint32_t));
}

static int remap_init(struct remap *map, const struct el_profile *from)
{
	*map = (struct remap){.from = from};
	map->strings = rows_of(from->strings.start.n);
	map->objects = rows_of(from->objects.n);
	map->mappings = rows_of(from->mappings.n);
	map->functions = rows_of(from->functions.n);
	map->locations = rows_of(from->locations.n);
	map->stacks = rows_of(from->stacks.n);
	map->processes = rows_of(from->processes.n);
	map->samples = rows_of(from->samples.n);
	if (!map->strings || !map->objects || !map->mappings || !map->functions ||
	    !map->locations || !map->stacks || !map->processes || !map->samples)
		return -ENOMEM;
	return 0;
}

static int remap_names(struct remap *map)
{
	const struct el_profile *from = map->from;
	int err = 0;

	for (size_t i = 1; i < from->strings.start.n && !err; i++)
		err = el_profile_build_string(map->builder, el_strings_get(&from->strings, i),
					      &map->strings[i]);
	for (size_t i = 1; i < from->objects.n && !err; i++) {
		struct el_profile_object object = from->objects.at[i];

		object.path = map->strings[object.path];
		object.build_id = map->strings[object.build_id];
		err = el_profile_build_object(map->builder, &object, &map->objects[i]);
	}
	for (size_t i = 1; i < from->mappings.n && !err; i++) {
		struct el_profile_mapping mapping = from->mappings.at[i];

		mapping.object = map->objects[mapping.object];
		err = el_profile_build_mapping(map->builder, &mapping, &map->mappings[i]);
	}
	for (size_t i = 1; i < from->functions.n && !err; i++) {
		struct el_profile_function function = from->functions.at[i];

		function.name = map->strings[function.name];
		function.system_name = map->strings[function.system_name];
		function.file = map->strings[function.file];
		err = el_profile_build_function(map->builder, &function, &map->functions[i]);
	}
	for (size_t i = 1; i < from->processes.n && !err; i++) {
		struct el_profile_process process = from->processes.at[i];

		process.comm = map->strings[process.comm];
		process.cgroup = map->strings[process.cgroup];
		err = el_profile_build_process(map->builder, &process, &map->processes[i]);
	}
	return err;
}

static int remap_location(struct remap *map, size_t row)
{
	struct el_profile_location location = map->from->locations.at[row];
	el_auto_free struct el_profile_line *lines = calloc(location.n_lines + 1, sizeof(*lines));

	if (!lines)
		return -ENOMEM;
	for (size_t i = 0; i < location.n_lines; i++) {
		lines[i] = map->from->lines.at[location.first_line + i];
		lines[i].function = map->functions[lines[i].function];
	}
	location.mapping = map->mappings[location.mapping];
	return el_profile_build_location(map->builder, &location, lines, location.n_lines,
					 &map->locations[row]);
}

static int remap_stack(struct remap *map, size_t row)
{
	const struct el_profile_stack *stack = &map->from->stacks.at[row];
	el_auto_free uint32_t *locations = calloc(stack->n_locations + 1, sizeof(*locations));

	if (!locations)
		return -ENOMEM;
	for (size_t i = 0; i < stack->n_locations; i++)
		locations[i] =
			map->locations[map->from->stack_locations.at[stack->first_location + i]];
	return el_profile_build_stack(map->builder, locations, stack->n_locations, stack->end,
				      &map->stacks[row]);
}

/* Makes the rows and the room; adds no value yet. */
static int remap_samples(struct remap *map)
{
	const struct el_profile *from = map->from;
	struct el_profile *into = el_profile_builder_profile(map->builder);
	int err = 0;

	for (size_t i = 1; i < from->locations.n && !err; i++)
		err = remap_location(map, i);
	for (size_t i = 1; i < from->stacks.n && !err; i++)
		err = remap_stack(map, i);
	for (size_t i = 0; i < from->samples.n && !err; i++) {
		const struct el_profile_sample *sample = &from->samples.at[i];
		struct el_profile_sample row = {.stack = map->stacks[sample->stack],
						.process = map->processes[sample->process],
						.tid = sample->tid,
						.thread = map->strings[sample->thread]};

		err = el_profile_build_sample(map->builder, &row, &map->samples[i]);
	}
	if (!err)
		err = el_vec_reserve(&into->ticks, into->ticks.n + from->ticks.n);
	if (!err)
		err = el_vec_reserve(&into->counters, into->counters.n + from->counters.n);
	return err;
}

static int remap_counters(struct remap *map)
{
	const struct el_profile *from = map->from;
	uint32_t row;
	int err = 0;

	for (size_t i = 0; i < from->counters.n && !err; i++) {
		struct el_profile_counter counter = from->counters.at[i];

		counter.name = map->strings[counter.name];
		counter.unit = map->strings[counter.unit];
		counter.sentence = map->strings[counter.sentence];
		err = el_profile_build_counter(map->builder, &counter, &row);
	}
	for (size_t i = 0; i < from->comments.n && !err; i++)
		err = el_profile_build_comment(
			map->builder, el_strings_get(&from->strings, from->comments.at[i]), &row);
	return err;
}

static void add_values(struct remap *map, uint64_t into_shift, uint64_t from_shift)
{
	const struct el_profile *from = map->from;
	struct el_profile *into = el_profile_builder_profile(map->builder);

	for (size_t i = 0; i < from->samples.n; i++) {
		for (size_t v = 0; v < EL_MAX_VALUES; v++)
			into->samples.at[map->samples[i]].values[v] +=
				from->samples.at[i].values[v];
	}
	for (size_t i = 0; i < into->ticks.n; i++)
		into->ticks.at[i].time_ns += into_shift;
	for (size_t i = 0; i < from->ticks.n; i++) {
		struct el_profile_tick tick = from->ticks.at[i];

		tick.time_ns += from_shift;
		tick.sample = map->samples[tick.sample];
		into->ticks.at[into->ticks.n++] = tick; /* room was made */
	}
}

/*
 * The span of both, and how far each one's ticks move. Files without a start
 * (other tools') have no place in time: their durations are added.
 */
static void join_times(struct el_profile *into, const struct el_profile *from, uint64_t *ret_into,
		       uint64_t *ret_from)
{
	int64_t start = into->start_wall_ns < from->start_wall_ns ? into->start_wall_ns
								  : from->start_wall_ns;
	uint64_t into_end, from_end;

	*ret_into = *ret_from = 0;
	if (!into->start_wall_ns || !from->start_wall_ns) {
		into->start_wall_ns += from->start_wall_ns; /* one of them is 0 */
		into->duration_ns += from->duration_ns;
		return;
	}
	*ret_into = (uint64_t)into->start_wall_ns - (uint64_t)start;
	*ret_from = (uint64_t)from->start_wall_ns - (uint64_t)start;
	into_end = *ret_into + into->duration_ns;
	from_end = *ret_from + from->duration_ns;
	into->duration_ns = into_end > from_end ? into_end : from_end;
	into->start_wall_ns = start;
}

static void join_heads(struct remap *map, struct el_profile *into)
{
	const struct el_profile *from = map->from;

	if (!into->period) {
		into->period = from->period;
		into->period_type.type = map->strings[from->period_type.type];
		into->period_type.unit = map->strings[from->period_type.unit];
	}
	if (!into->command)
		into->command = map->strings[from->command];
	if (!into->event)
		into->event = map->strings[from->event];
	if (into->n_cpus < from->n_cpus)
		into->n_cpus = from->n_cpus;
}

static bool same_string(const struct el_profile *a, uint32_t in_a, const struct el_profile *b,
			uint32_t in_b)
{
	return !strcmp(el_strings_get(&a->strings, in_a), el_strings_get(&b->strings, in_b));
}

static int check_value_types(const struct el_profile *into, const struct el_profile *from,
			     struct el_error *error)
{
	uint64_t totals[EL_MAX_VALUES] = {0};
	bool same = into->n_value_types == from->n_value_types;

	for (uint32_t i = 0; same && i < into->n_value_types; i++)
		same = same_string(into, into->value_types[i].type, from,
				   from->value_types[i].type) &&
		       same_string(into, into->value_types[i].unit, from,
				   from->value_types[i].unit);
	if (!same)
		return el_error_set(error, -EINVAL,
				    "the profiles hold different values and cannot be merged");
	for (uint32_t v = 0; v < into->n_value_types; v++) {
		for (size_t i = 0; i < into->samples.n; i++)
			totals[v] += into->samples.at[i].values[v];
		for (size_t i = 0; i < from->samples.n; i++)
			totals[v] += from->samples.at[i].values[v];
		/* each half is at most INT64_MAX, so the sum did not wrap */
		if (totals[v] > INT64_MAX)
			return el_error_set(error, -EINVAL,
					    "the merged profile's total would be too large");
	}
	return 0;
}

static int merge(struct el_profile_builder *builder, const struct el_profile *from)
{
	struct el_profile *into = el_profile_builder_profile(builder);
	uint64_t into_shift, from_shift;
	struct remap map;
	int err = remap_init(&map, from);

	map.builder = builder;
	if (!err)
		err = remap_names(&map);
	if (!err)
		err = remap_samples(&map);
	if (!err)
		err = remap_counters(&map);
	if (!err) {
		join_times(into, from, &into_shift, &from_shift);
		join_heads(&map, into);
		add_values(&map, into_shift, from_shift);
	}
	remap_deinit(&map);
	return err;
}

int el_profile_merge(struct el_profile *into, const struct el_profile *from, struct el_error *error)
{
	struct el_profile_builder *builder;
	int err = check_value_types(into, from, error);

	if (err)
		return err;
	err = el_profile_builder_adopt(into, &builder);
	if (!err) {
		err = merge(builder, from);
		el_profile_builder_release(builder);
	}
	if (err)
		return el_error_set(error, err, "not enough memory to merge the profiles");
	return el_profile_check(into, error);
}
