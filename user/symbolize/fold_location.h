/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the profile for one place in the code: its location with functions,
 * lines, mapping and object, made from the answer to the question about it.
 */
#ifndef EL_FOLD_LOCATION_H
#define EL_FOLD_LOCATION_H

#include "user/profile/build.h"
#include "user/symbolize/questions.h"

/* Rows of the profile by rows of one answer; 0: not made yet. Grows with the answer. */
struct el_fold_made {
	EL_VEC(uint32_t) objects, functions;
};

struct el_fold_locations {
	struct el_profile_builder *builder;
	const struct el_questions *questions;
	struct el_fold_made lasting, timed;
	EL_VEC(struct el_profile_line) lines; /* of the location in the making */
};

struct el_fold_place {
	uint64_t addr, time_ns;
	uint32_t image; /* 0: the kernel */
	enum el_pc pc;
};

void el_fold_locations_deinit(struct el_fold_locations *locations);
/* 0 or -errno. */
int el_fold_location(struct el_fold_locations *locations, const struct el_fold_place *place,
		     uint32_t *ret);
/* The one location of a sample whose stacks are not known. */
int el_fold_no_stack(struct el_fold_locations *locations, uint32_t *ret);

#endif
