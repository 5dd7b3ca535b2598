/* SPDX-License-Identifier: Apache-2.0 */
/* A profile from its file, and a report to standard output, as the arguments and the terminal want
 * it. */
#ifndef EL_SHOW_H
#define EL_SHOW_H

#include "base/error.h"
#include "user/options.h"
#include "user/profile/profile.h"

/* The profile in a file. A damaged one is -EBADMSG: the file is at fault, not the options. */
int el_show_load(const char *path, struct el_profile **ret, struct el_error *error);

/* `report` is a name of el_reports. */
int el_show(const char *report, const struct el_arguments *arguments,
	    const struct el_profile *profile, struct el_error *error);

#endif
