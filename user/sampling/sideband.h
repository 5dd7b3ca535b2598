/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One side-band record of the kernel, PERF_RECORD_* of linux/perf_event.h, as
 * the sampler's dummy events produce it: sample_id_all with PERF_SAMPLE_TIME
 * alone, so every record ends with its time. A leaf of pure parsing: it opens
 * nothing and keeps nothing; an event points into the bytes it was parsed from.
 */
#ifndef EL_SIDEBAND_H
#define EL_SIDEBAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/symbolizer.h" /* struct el_mapping */

enum el_sideband_type {
	EL_SIDEBAND_OTHER, /* nothing that anyone asks for */
	EL_SIDEBAND_MMAP,  /* of an executable mapping */
	EL_SIDEBAND_COMM,
	EL_SIDEBAND_EXEC, /* a comm that an exec has set */
	EL_SIDEBAND_FORK,
	EL_SIDEBAND_EXIT,
	EL_SIDEBAND_LOST,
	EL_SIDEBAND_CGROUP,
};

struct el_sideband {
	enum el_sideband_type type;
	uint64_t time_ns;
	uint32_t pid, tid;         /* pid: the thread group's; fork: the child's */
	uint32_t parent_pid;       /* fork */
	uint64_t n;                /* lost records, or the cgroup's id */
	const char *text;          /* comm or cgroup path */
	struct el_mapping mapping; /* id 0 */
};

/* 0, or -EBADMSG when a length does not fit; `size` is that of the whole record with its header. */
int el_sideband_parse(const void *bytes, size_t size, struct el_sideband *ret);

#endif
