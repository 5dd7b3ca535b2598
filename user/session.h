/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One recording from start to end: what record, annotate and top share. Takes
 * the target part of the arguments, runs the sampler, the join and the program,
 * and hands over a profile at the end of each window.
 */
#ifndef EL_SESSION_H
#define EL_SESSION_H

#include "base/error.h"
#include "user/options.h"
#include "user/profile/profile.h"

/*
 * Called at the end of each window (once, when there is one only); the profile is the callee's. 0
 * or -errno with a sentence, which ends the session.
 */
typedef int el_session_sink(void *context, struct el_profile *profile, struct el_error *error);

struct el_session_result {
	int exit_code; /* of the command; 0 when none was run or it goes on */
};

/* Whether the arguments name something to record. */
bool el_session_wanted(const struct el_arguments *arguments);

int el_session_run(const struct el_arguments *arguments, el_session_sink *sink, void *context,
		   struct el_session_result *ret, struct el_error *error);

#endif
