/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a profile is one: every index inside its table, every law that the
 * tables alone can show. What passes here can be read without further checks.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "bpf/wire.h"
#include "user/profile/profile.h"

/* One fault, said once: which row of which table has what. */
#define REQUIRE(condition, table, row, fault)                                                      \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return el_error_set(error, -EINVAL, "the profile is damaged: %s %zu %s",   \
					    (table), (size_t)(row), (fault));                      \
	} while (0)

static bool is_string(const struct el_profile *profile, uint32_t string)
{
	return string < profile->strings.start.n;
}

static bool is_range(size_t first, size_t n, size_t all)
{
	return first <= all && n <= all - first;
}

static int check_heads(const struct el_profile *profile, struct el_error *error)
{
	REQUIRE(profile->strings.start.n, "string", 0, "is missing");
	REQUIRE(profile->n_value_types >= 1 && profile->n_value_types <= EL_MAX_VALUES,
		"value type", profile->n_value_types, "is not a possible number of them");
	for (uint32_t i = 0; i < profile->n_value_types; i++)
		REQUIRE(is_string(profile, profile->value_types[i].type) &&
				is_string(profile, profile->value_types[i].unit),
			"value type", i, "names a string that is not there");
	REQUIRE(is_string(profile, profile->period_type.type) &&
			is_string(profile, profile->period_type.unit),
		"period type", 0, "names a string that is not there");
	REQUIRE(is_string(profile, profile->command) && is_string(profile, profile->event),
		"command or event", 0, "is a string that is not there");
	for (size_t i = 0; i < profile->comments.n; i++)
		REQUIRE(is_string(profile, profile->comments.at[i]), "comment", i,
			"is a string that is not there");
	for (size_t i = 0; i < profile->counters.n; i++)
		REQUIRE(is_string(profile, profile->counters.at[i].name) &&
				is_string(profile, profile->counters.at[i].unit) &&
				is_string(profile, profile->counters.at[i].sentence),
			"counter", i, "names a string that is not there");
	return 0;
}

static int check_none_rows(const struct el_profile *profile, struct el_error *error)
{
	static const struct el_profile_object none_object;
	static const struct el_profile_mapping none_mapping;
	static const struct el_profile_function none_function;
	static const struct el_profile_location none_location;
	static const struct el_profile_stack none_stack;
	static const struct el_profile_process none_process;

#define IS_NONE(table, none)                                                                       \
	REQUIRE(profile->table.n && !memcmp(&profile->table.at[0], &(none), sizeof(none)), #table, \
		0, "is not the empty row")
	IS_NONE(objects, none_object);
	IS_NONE(mappings, none_mapping);
	IS_NONE(functions, none_function);
	IS_NONE(locations, none_location);
	IS_NONE(stacks, none_stack);
	IS_NONE(processes, none_process);
#undef IS_NONE
	return 0;
}

static int check_code_tables(const struct el_profile *profile, struct el_error *error)
{
	for (size_t i = 1; i < profile->objects.n; i++) {
		const struct el_profile_object *object = &profile->objects.at[i];

		REQUIRE(is_string(profile, object->path) && is_string(profile, object->build_id),
			"object", i, "names a string that is not there");
		REQUIRE(object->code < EL_N_CODES, "object", i, "has an unknown kind of code");
	}
	for (size_t i = 1; i < profile->mappings.n; i++) {
		const struct el_profile_mapping *mapping = &profile->mappings.at[i];

		REQUIRE(mapping->object < profile->objects.n, "mapping", i,
			"names an object that is not there");
		REQUIRE(mapping->start <= mapping->limit, "mapping", i, "ends before it starts");
	}
	for (size_t i = 1; i < profile->functions.n; i++) {
		const struct el_profile_function *function = &profile->functions.at[i];

		REQUIRE(is_string(profile, function->name) &&
				is_string(profile, function->system_name) &&
				is_string(profile, function->file),
			"function", i, "names a string that is not there");
		REQUIRE(function->code < EL_N_CODES, "function", i, "has an unknown kind of code");
	}
	for (size_t i = 0; i < profile->lines.n; i++)
		REQUIRE(profile->lines.at[i].function < profile->functions.n, "line", i,
			"names a function that is not there");
	for (size_t i = 1; i < profile->locations.n; i++) {
		const struct el_profile_location *location = &profile->locations.at[i];

		REQUIRE(location->mapping < profile->mappings.n, "location", i,
			"names a mapping that is not there");
		REQUIRE(is_range(location->first_line, location->n_lines, profile->lines.n),
			"location", i, "has lines that are not there");
		REQUIRE(location->miss < EL_N_MISSES, "location", i, "has an unknown cause");
	}
	return 0;
}

static int check_stacks(const struct el_profile *profile, struct el_error *error)
{
	for (size_t i = 0; i < profile->stack_locations.n; i++)
		REQUIRE(profile->stack_locations.at[i] &&
				profile->stack_locations.at[i] < profile->locations.n,
			"stack location", i, "is a location that is not there");
	for (size_t i = 1; i < profile->stacks.n; i++) {
		const struct el_profile_stack *stack = &profile->stacks.at[i];

		REQUIRE(is_range(stack->first_location, stack->n_locations,
				 profile->stack_locations.n),
			"stack", i, "has locations that are not there");
		REQUIRE(stack->end < EL_N_STACK_ENDS, "stack", i, "has an unknown end");
	}
	return 0;
}

static int check_samples(const struct el_profile *profile, struct el_error *error)
{
	uint64_t totals[EL_MAX_VALUES] = {0};

	for (size_t i = 1; i < profile->processes.n; i++)
		REQUIRE(is_string(profile, profile->processes.at[i].comm) &&
				is_string(profile, profile->processes.at[i].cgroup),
			"process", i, "names a string that is not there");
	for (size_t i = 0; i < profile->samples.n; i++) {
		const struct el_profile_sample *sample = &profile->samples.at[i];

		REQUIRE(sample->stack < profile->stacks.n, "sample", i,
			"names a stack that is not there");
		REQUIRE(sample->process < profile->processes.n, "sample", i,
			"names a process that is not there");
		REQUIRE(is_string(profile, sample->thread), "sample", i,
			"names a string that is not there");
		for (uint32_t v = 0; v < EL_MAX_VALUES; v++) {
			REQUIRE(v < profile->n_value_types || !sample->values[v], "sample", i,
				"has more values than there are value types");
			REQUIRE(!__builtin_add_overflow(totals[v], sample->values[v], &totals[v]) &&
					totals[v] <= INT64_MAX,
				"sample", i, "makes the total too large");
		}
	}
	return 0;
}

/* The ticks of a row are a part of it (all of it, unless a profile without ticks was merged in). */
static int check_ticks(const struct el_profile *profile, struct el_error *error)
{
	uint32_t last = profile->n_value_types - 1;
	el_auto_free uint64_t *weights = NULL;
	el_auto_free uint64_t *counts = NULL;

	if (!profile->ticks.n)
		return 0;
	weights = calloc(profile->samples.n + 1, sizeof(*weights));
	counts = calloc(profile->samples.n + 1, sizeof(*counts));
	if (!weights || !counts)
		return el_error_set(error, -ENOMEM, "not enough memory to check the profile");
	for (size_t i = 0; i < profile->ticks.n; i++) {
		const struct el_profile_tick *tick = &profile->ticks.at[i];
		uint32_t row = tick->sample;

		REQUIRE(row < profile->samples.n, "tick", i, "names a sample that is not there");
		REQUIRE(!i || tick[-1].time_ns <= tick->time_ns, "tick", i, "is out of order");
		REQUIRE(!__builtin_add_overflow(weights[row], tick->weight, &weights[row]), "tick",
			i, "has an impossible weight");
		counts[row]++;
	}
	for (size_t i = 0; i < profile->samples.n; i++) {
		const struct el_profile_sample *sample = &profile->samples.at[i];

		REQUIRE(weights[i] <= sample->values[last], "sample", i,
			"weighs less than its ticks");
		REQUIRE(!last || counts[i] <= sample->values[0], "sample", i,
			"counts fewer samples than it has ticks");
	}
	return 0;
}

int el_profile_check(const struct el_profile *profile, struct el_error *error)
{
	int err = check_heads(profile, error);

	if (!err)
		err = check_none_rows(profile, error);
	if (!err)
		err = check_code_tables(profile, error);
	if (!err)
		err = check_stacks(profile, error);
	if (!err)
		err = check_samples(profile, error);
	if (!err)
		err = check_ticks(profile, error);
	return err;
}
