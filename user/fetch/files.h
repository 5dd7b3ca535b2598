/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that the fetcher finds: one function for each kind, each a
 * descriptor for reading or -errno (see struct el_source for which).
 */
#ifndef EL_FETCH_FILES_H
#define EL_FETCH_FILES_H

#include "symbolizer/symbolizer.h"
#include "user/fetch/targets.h"

/*
 * The file behind a mapping: through the mapping itself while the process
 * lives (also a deleted or replaced file), else by its path in the process's
 * root. -ESTALE: the path leads to another file now. Of mapping->build_id only
 * the size is looked at: with one, the caller can tell a wrong file.
 */
int el_fetch_mapping_file(const struct el_fetch_targets *targets,
			  const struct el_fetch_target *target, const struct el_mapping *mapping);
/* A separate debug file, of the process's root or else of ours. */
int el_fetch_debug_file(const struct el_fetch_targets *targets,
			const struct el_fetch_target *target,
			const struct el_debug_request *request);
/* /tmp/perf-PID.map of the process, written by it or by root since its start. */
int el_fetch_perf_map(const struct el_fetch_target *target);

#endif
