/* SPDX-License-Identifier: Apache-2.0 */
/* What to record, out of the arguments: checked, with a sentence for what makes no sense. */
#ifndef EL_TARGETS_H
#define EL_TARGETS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/vec.h"
#include "user/options.h"
#include "user/sampling/events.h"

struct el_targets {
	const struct el_event_type *event;
	uint64_t frequency; /* of the clock; 0 for other events */
	uint64_t period;    /* ns for the clock, count for others */
	EL_VEC(pid_t) pids; /* thread-group leaders */
	bool all;
	char **command; /* or NULL */
};

int el_targets_of(const struct el_arguments *arguments, struct el_targets *ret,
		  struct el_error *error);
void el_targets_deinit(struct el_targets *targets);

#endif
