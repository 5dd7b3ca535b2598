/* SPDX-License-Identifier: Apache-2.0 */
/* See advice.h. Each rule looks at what the profile holds, never at how it was asked for. */
#include "user/advice.h"

#include <stdbool.h>

#include "base/vec.h"

struct seen {
	bool numba, numba_without_lines;
	bool jit_unknown, kernel_hidden;
};

static void look(const struct el_profile *profile, struct seen *ret)
{
	*ret = (struct seen){0};
	for (size_t i = 1; i < profile->locations.n; i++) {
		const struct el_profile_location *location = &profile->locations.at[i];

		ret->jit_unknown |= location->miss == EL_MISS_JIT_UNKNOWN;
		ret->kernel_hidden |= location->miss == EL_MISS_KERNEL_HIDDEN;
		for (uint32_t j = 0; j < location->n_lines; j++) {
			const struct el_profile_line *line =
				&profile->lines.at[location->first_line + j];
			const struct el_profile_function *function =
				&profile->functions.at[line->function];

			if (function->code != EL_CODE_NUMBA || function->wrapper)
				continue;
			ret->numba = true;
			ret->numba_without_lines |= location->miss == EL_MISS_NO_LINE;
		}
	}
}

static int add(struct el_profile *profile, const char *sentence)
{
	uint32_t comment;
	int err = el_strings_add(&profile->strings, sentence, &comment);

	return err ? err : el_vec_push(&profile->comments, comment);
}

int el_advice_add(const struct el_numba *numba, struct el_profile *profile)
{
	const char *cost = numba ? el_numba_sentence(numba) : "";
	struct seen seen;
	int err = 0;

	look(profile, &seen);
	if (seen.numba && *cost)
		err = add(profile, cost);
	if (!err && seen.numba_without_lines && !*cost)
		err = add(profile, "Numba functions show no lines because their process was "
				   "started without line "
				   "information: start it with NUMBA_DEBUGINFO=1, or through "
				   "everline annotate -- ...");
	if (!err && seen.jit_unknown)
		err = add(profile,
			  "some code was made at run time by a program that says nothing about it: "
			  "start "
			  "node with --perf-basic-prof, for Java run jcmd PID Compiler.perfmap");
	if (!err && seen.kernel_hidden)
		err = add(profile, "the kernel hides its symbols: as root, sysctl "
				   "kernel.kptr_restrict=0 shows them");
	return err;
}
