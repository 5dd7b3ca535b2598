/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a profile, and what can be asked of it without a view. */
#include "user/profile/profile.h"

#include <stdlib.h>
#include <string.h>

/* Row 0 of every table is "none". */
static int add_none_rows(struct el_profile *profile)
{
	int err = el_vec_push(&profile->objects, (struct el_profile_object){0});

	if (!err)
		err = el_vec_push(&profile->mappings, (struct el_profile_mapping){0});
	if (!err)
		err = el_vec_push(&profile->functions, (struct el_profile_function){0});
	if (!err)
		err = el_vec_push(&profile->locations, (struct el_profile_location){0});
	if (!err)
		err = el_vec_push(&profile->stacks, (struct el_profile_stack){0});
	if (!err)
		err = el_vec_push(&profile->processes, (struct el_profile_process){0});
	return err;
}

int el_profile_new(struct el_profile **ret)
{
	struct el_profile *profile = calloc(1, sizeof(*profile));
	int err;

	if (!profile)
		return -ENOMEM;
	err = el_strings_init(&profile->strings);
	if (!err)
		err = add_none_rows(profile);
	if (err) {
		el_profile_free(profile);
		return err;
	}
	*ret = profile;
	return 0;
}

void el_profile_free(struct el_profile *profile)
{
	if (!profile)
		return;
	el_strings_deinit(&profile->strings);
	el_vec_deinit(&profile->comments);
	el_vec_deinit(&profile->objects);
	el_vec_deinit(&profile->mappings);
	el_vec_deinit(&profile->functions);
	el_vec_deinit(&profile->lines);
	el_vec_deinit(&profile->locations);
	el_vec_deinit(&profile->stack_locations);
	el_vec_deinit(&profile->stacks);
	el_vec_deinit(&profile->processes);
	el_vec_deinit(&profile->samples);
	el_vec_deinit(&profile->ticks);
	el_vec_deinit(&profile->counters);
	free(profile);
}

uint64_t el_profile_counter_value(const struct el_profile *profile, const char *name)
{
	uint64_t value = 0;

	for (size_t i = 0; i < profile->counters.n; i++) {
		const struct el_profile_counter *counter = &profile->counters.at[i];

		if (!strcmp(el_strings_get(&profile->strings, counter->name), name))
			value += counter->value;
	}
	return value;
}
