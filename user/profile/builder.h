/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of a builder: the profile's tables, each with a hash index over its rows. Private to
 * build*.c. */
#ifndef EL_PROFILE_BUILDER_H
#define EL_PROFILE_BUILDER_H

#include "base/index.h"
#include "user/profile/build.h"

struct el_profile_builder {
	struct el_profile *profile;
	uint64_t seed; /* nobody can prepare names that collide */
	struct el_index objects, mappings, functions, locations, stacks, processes, samples,
		counters, comments;
};

/* Indexes the locations and stacks that are there. 0 or -ENOMEM. */
int el_profile_builder_index_tails(struct el_profile_builder *builder);

#endif
