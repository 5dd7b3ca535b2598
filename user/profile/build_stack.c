/* SPDX-License-Identifier: Apache-2.0 */
/* See build.h: rows with a tail in a pool, which are locations with their lines and stacks with
 * their locations. */
#include <stdbool.h>
#include <string.h>

#include "base/hash.h"
#include "user/profile/builder.h"

struct location_key {
	const struct el_profile_location *location;
	const struct el_profile_line *lines;
	size_t n_lines;
};

static uint64_t location_hash(uint64_t seed, const struct location_key *key)
{
	uint64_t hash = el_hash_u64(seed, key->location->addr);

	hash = el_hash_u64(hash, key->location->mapping | (uint64_t)key->location->miss << 32 |
					 (uint64_t)key->location->flags << 48);
	return key->n_lines ? el_hash_bytes(hash, key->lines, key->n_lines * sizeof(*key->lines))
			    : hash;
}

static bool location_equal(const void *owner, uint32_t position, const void *wanted)
{
	const struct el_profile *profile = owner;
	const struct el_profile_location *have = &profile->locations.at[position];
	const struct location_key *key = wanted;

	return have->addr == key->location->addr && have->mapping == key->location->mapping &&
	       have->miss == key->location->miss && have->flags == key->location->flags &&
	       have->n_lines == key->n_lines &&
	       (!key->n_lines || !memcmp(&profile->lines.at[have->first_line], key->lines,
					 key->n_lines * sizeof(*key->lines)));
}

struct stack_key {
	const uint32_t *locations;
	size_t n_locations;
	uint8_t end;
};

static uint64_t stack_hash(uint64_t seed, const struct stack_key *key)
{
	uint64_t hash = el_hash_u64(seed, key->end);

	return key->n_locations ? el_hash_bytes(hash, key->locations,
						key->n_locations * sizeof(*key->locations))
				: hash;
}

static bool stack_equal(const void *owner, uint32_t position, const void *wanted)
{
	const struct el_profile *profile = owner;
	const struct el_profile_stack *have = &profile->stacks.at[position];
	const struct stack_key *key = wanted;

	return have->end == key->end && have->n_locations == key->n_locations &&
	       (!key->n_locations ||
		!memcmp(&profile->stack_locations.at[have->first_location], key->locations,
			key->n_locations * sizeof(*key->locations)));
}

int el_profile_builder_index_tails(struct el_profile_builder *builder)
{
	const struct el_profile *profile = builder->profile;
	int err = 0;

	for (size_t i = 1; i < profile->locations.n && !err; i++) {
		const struct el_profile_location *location = &profile->locations.at[i];
		struct location_key key = {
			location,
			location->n_lines ? &profile->lines.at[location->first_line] : NULL,
			location->n_lines};

		err = el_index_add(&builder->locations, location_hash(builder->seed, &key), i);
	}
	for (size_t i = 0; i < profile->stacks.n && !err; i++) {
		const struct el_profile_stack *stack = &profile->stacks.at[i];
		struct stack_key key = {
			stack->n_locations ? &profile->stack_locations.at[stack->first_location]
					   : NULL,
			stack->n_locations, stack->end};

		err = el_index_add(&builder->stacks, stack_hash(builder->seed, &key), i);
	}
	return err;
}

int el_profile_build_location(struct el_profile_builder *builder,
			      const struct el_profile_location *location,
			      const struct el_profile_line *lines, size_t n_lines, uint32_t *ret)
{
	struct el_profile *profile = builder->profile;
	struct location_key key = {location, lines, n_lines};
	struct el_profile_location row = *location;
	uint64_t hash;
	uint32_t found;
	int err;

	if (location->mapping >= profile->mappings.n || location->miss >= EL_N_MISSES)
		return -EINVAL;
	for (size_t i = 0; i < n_lines; i++) {
		if (lines[i].function >= profile->functions.n)
			return -EINVAL;
	}
	hash = location_hash(builder->seed, &key);
	found = el_index_find(&builder->locations, hash, location_equal, profile, &key);
	if (found != EL_INDEX_NONE) {
		*ret = found;
		return 0;
	}
	if (profile->locations.n >= EL_INDEX_NONE || n_lines > UINT32_MAX - profile->lines.n)
		return -EOVERFLOW;
	row.first_line = profile->lines.n;
	row.n_lines = n_lines;
	err = el_vec_reserve(&profile->lines, profile->lines.n + n_lines);
	if (!err)
		err = el_vec_reserve(&profile->locations, profile->locations.n + 1);
	if (!err)
		err = el_index_add(&builder->locations, hash, profile->locations.n);
	if (err)
		return err;
	if (n_lines)
		memcpy(profile->lines.at + profile->lines.n, lines, n_lines * sizeof(*lines));
	profile->lines.n += n_lines;
	profile->locations.at[profile->locations.n] = row;
	*ret = profile->locations.n++;
	return 0;
}

int el_profile_build_stack(struct el_profile_builder *builder, const uint32_t *locations,
			   size_t n_locations, uint8_t end, uint32_t *ret)
{
	struct el_profile *profile = builder->profile;
	struct stack_key key = {locations, n_locations, end};
	uint64_t hash = stack_hash(builder->seed, &key);
	uint32_t found;
	int err;

	for (size_t i = 0; i < n_locations; i++) {
		if (!locations[i] || locations[i] >= profile->locations.n)
			return -EINVAL;
	}
	found = el_index_find(&builder->stacks, hash, stack_equal, profile, &key);
	if (found != EL_INDEX_NONE) {
		*ret = found;
		return 0;
	}
	if (profile->stacks.n >= EL_INDEX_NONE ||
	    n_locations > UINT32_MAX - profile->stack_locations.n)
		return -EOVERFLOW;
	err = el_vec_reserve(&profile->stack_locations, profile->stack_locations.n + n_locations);
	if (!err)
		err = el_vec_reserve(&profile->stacks, profile->stacks.n + 1);
	if (!err)
		err = el_index_add(&builder->stacks, hash, profile->stacks.n);
	if (err)
		return err;
	if (n_locations)
		memcpy(profile->stack_locations.at + profile->stack_locations.n, locations,
		       n_locations * sizeof(*locations));
	profile->stacks.at[profile->stacks.n] =
		(struct el_profile_stack){.first_location = profile->stack_locations.n,
					  .n_locations = n_locations,
					  .end = end};
	profile->stack_locations.n += n_locations;
	*ret = profile->stacks.n++;
	return 0;
}
