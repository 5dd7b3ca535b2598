/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose code a function is: the user's own, or a library's. Decided by globs
 * over the source file, over the object's path where no file is known (over
 * both when the file's path is relative), and over the function's name for JIT
 * code without a file. The last rule that
 * matches wins; what none matches is the user's own. Kernel code never is.
 */
#ifndef EL_REPORT_OWNERSHIP_H
#define EL_REPORT_OWNERSHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/profile/profile.h"

struct el_ownership_rule {
	const char *glob; /* fnmatch(3); '*' also matches '/' */
	bool mine;
};

struct el_ownership;

/* `rules` come after the built-in ones and must outlive the result, as must the profile. */
int el_ownership_new(const struct el_profile *profile, const struct el_ownership_rule *rules,
		     size_t n_rules, struct el_ownership **ret);
void el_ownership_free(struct el_ownership *ownership);

/* Whether a function of the profile is the user's own; 0 (nothing known) is not. */
bool el_ownership_is_mine(const struct el_ownership *ownership, uint32_t function);

/* The same for a path, by the rules alone. */
bool el_ownership_path_is_mine(const struct el_ownership_rule *rules, size_t n_rules,
			       const char *path);

/* Whether one of the globs matches the whole text; see fnmatch(3). */
bool el_any_glob_matches(const char *const *globs, size_t n, const char *text);

#endif
