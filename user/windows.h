/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Periodic dumps: one folder for each window inside FOLDER, named by its start
 * in UTC, with profile.pb.gz and the wanted text reports. A window appears
 * whole (written aside, then renamed), the oldest beyond `keep` go, and the
 * link `latest` leads to the newest. A window that cannot be written is
 * reported and skipped: recording goes on.
 */
#ifndef EL_WINDOWS_H
#define EL_WINDOWS_H

#include <stdint.h>

#include "base/error.h"
#include "user/profile/profile.h"

struct el_windows {
	const char *folder;
	uint64_t keep;       /* windows; 0: all */
	const char *reports; /* "lines,functions", NULL: none */
	uint64_t written, failed;
};

/* Makes the folder if need be and checks the list of reports; -errno with a sentence. */
int el_windows_open(struct el_windows *windows, struct el_error *error);
/* -errno with a sentence when this window could not be kept. */
int el_windows_write(struct el_windows *windows, const struct el_profile *profile,
		     struct el_error *error);

#endif
