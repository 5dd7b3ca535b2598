/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of /proc/PID/maps (proc(5), fs/proc/task_mmu.c), piece by piece as
 * it is read. Paths are the process's choice: any byte, a newline written as
 * \012. Lines that are not of the form are counted, not fatal.
 */
#ifndef EL_PROC_MAPS_H
#define EL_PROC_MAPS_H

#include "base/buffer.h"
#include "symbolizer/symbolizer.h"

struct el_proc_maps {
	/* Each executable mapping; its path is valid during the call. An answer other than 0 ends
	 * the parse. */
	int (*mapping)(void *context, const struct el_mapping *mapping);
	void *context;
	struct el_buffer line; /* the last one, while its end is missing */
	bool skipping;         /* a line too long to be one */
	uint64_t read_to;      /* end of the last good line's range, executable or not */
	size_t n_bad_lines;
};

void el_proc_maps_deinit(struct el_proc_maps *maps);
/* The next bytes of the text. 0, -ENOMEM, or what mapping() said. */
int el_proc_maps_feed(struct el_proc_maps *maps, const char *text, size_t size);

/* What a mapping with that path (side-band or maps) is: enum el_mapping_flags. */
uint32_t el_mapping_kind(const char *path, uint64_t inode);

#endif
