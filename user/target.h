/* SPDX-License-Identifier: Apache-2.0 */
/* What to record, out of the arguments: checked, with a sentence for what makes no sense. */
#ifndef EL_TARGET_H
#define EL_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/vec.h"
#include "user/options.h"
#include "user/sampling/events.h"

struct el_target {
	const struct el_event_type *event;
	uint64_t frequency; /* of the clock; 0 for other events */
	uint64_t period;    /* ns for the clock, count for others */
	EL_VEC(pid_t) pids; /* thread-group leaders */
	bool all;
	char **command; /* or NULL */
};

int el_target_of(const struct el_arguments *arguments, struct el_target *ret, struct el_error *error);
void el_target_deinit(struct el_target *target);

#endif
