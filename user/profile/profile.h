/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THE model: what every renderer, the file and later the store read. Index
 * tables, no pointers between them; index 0 of each table is "none" and
 * zeroed, except strings, where 0 is "". Built through build.h, checked by
 * el_profile_check() after build, merge and load; read-only afterwards.
 * A leaf: knows nothing of BPF, other processes or ELF. Shares the lists
 * EL_CODES and EL_MISSES with symbolizer.h (constants only).
 *
 * Units: times are ns; `values` have the unit their value type says.
 * Ownership: the profile owns everything in it; el_profile_free() releases it.
 */
#ifndef EL_PROFILE_H
#define EL_PROFILE_H

#include <stdint.h>

#include "base/error.h"
#include "base/strings.h"
#include "base/vec.h"
#include "symbolizer/symbolizer.h" /* enum el_code, enum el_miss: the shared lists */

#define EL_MAX_VALUES 4

struct el_value_type {
	uint32_t type; /* string: "samples", "cpu", "page-faults" */
	uint32_t unit; /* string: "count", "nanoseconds" */
};

/* A file, JIT image or the kernel that code came from. */
struct el_profile_object {
	uint32_t path;     /* string */
	uint32_t build_id; /* string, lower-case hex; 0 unknown */
	uint64_t built_ns; /* wall clock of the file's last change, 0 unknown */
	uint8_t code;      /* enum el_code */
	uint8_t has_lines;
	uint16_t reserved;
	uint32_t reserved2;
};

/* Where an object lay in an image; pprof's Mapping. */
struct el_profile_mapping {
	uint32_t object;
	uint32_t reserved;
	uint64_t start, limit, offset;
};

struct el_profile_function {
	uint32_t name, system_name, file; /* strings */
	uint32_t start_line;
	uint8_t code; /* enum el_code */
	uint8_t wrapper;
	uint16_t reserved;
};

struct el_profile_line {
	uint32_t function, line, column;
};

/* One address, call sites already moved onto the call; innermost inline first. */
struct el_profile_location {
	uint32_t mapping;
	uint32_t first_line, n_lines;
	uint16_t miss;  /* enum el_miss */
	uint16_t flags; /* enum el_location_flags */
	uint64_t addr;  /* as sampled: run-time address of leaf, call site of callers */
};

/* Leaf first; kernel frames come before user frames. */
struct el_profile_stack {
	uint32_t first_location, n_locations; /* into stack_locations */
	uint8_t end;                          /* enum el_stack_end of bpf/wire.h */
	uint8_t reserved[3];
};

/* A process between two execs. */
struct el_profile_process {
	uint32_t pid, exec_id;
	uint64_t start_ns; /* ns since boot */
	uint32_t comm;     /* string: of the process */
	uint32_t cgroup;   /* string: path */
};

/* Aggregated: one row per (stack, process, thread). */
struct el_profile_sample {
	uint32_t stack;
	uint32_t process;
	uint32_t tid;
	uint32_t thread; /* string: the thread's name */
	uint64_t values[EL_MAX_VALUES];
};

/* Optional column: when each of the samples behind a row was taken. In time order. */
struct el_profile_tick {
	uint64_t time_ns; /* since the profile's start */
	uint32_t sample;  /* row */
	uint32_t cpu;
	uint64_t weight; /* of the row's last value type */
};

/* A counter of the laws or of a loss, as measured over the profile. */
struct el_profile_counter {
	uint32_t name;     /* string: "kept", "lost ring" */
	uint32_t unit;     /* string: "ns" or "n" */
	uint32_t sentence; /* string */
	uint32_t reserved;
	uint64_t value;
};

struct el_profile {
	struct el_strings strings;
	uint32_t n_value_types;
	struct el_value_type value_types[EL_MAX_VALUES]; /* [0] is a count, the last is what reports
							    show by default */
	struct el_value_type period_type;
	uint64_t period;

	int64_t start_wall_ns; /* wall clock at the start */
	uint64_t duration_ns;
	uint32_t n_cpus;           /* online ones */
	uint32_t command;          /* string: what was run, "" when attached */
	uint32_t event;            /* string: "cpu", "page-faults", ... */
	EL_VEC(uint32_t) comments; /* strings: sentences for the reader */

	EL_VEC(struct el_profile_object) objects;
	EL_VEC(struct el_profile_mapping) mappings;
	EL_VEC(struct el_profile_function) functions;
	EL_VEC(struct el_profile_line) lines;
	EL_VEC(struct el_profile_location) locations;
	EL_VEC(uint32_t) stack_locations;
	EL_VEC(struct el_profile_stack) stacks;
	EL_VEC(struct el_profile_process) processes;
	EL_VEC(struct el_profile_sample) samples; /* row 0 is a real row */
	EL_VEC(struct el_profile_tick) ticks;
	EL_VEC(struct el_profile_counter) counters; /* 0 is a real counter */
};

int el_profile_new(struct el_profile **ret);
void el_profile_free(struct el_profile *profile);

/* Every cross-reference, every law that can be checked from the tables. 0 or -EINVAL with the first
 * fault found. */
int el_profile_check(const struct el_profile *profile, struct el_error *error);

/* Adds everything in `from` to `into`; value types must agree (-EINVAL). */
int el_profile_merge(struct el_profile *into, const struct el_profile *from,
		     struct el_error *error);

/* The counter of that name, or 0. */
uint64_t el_profile_counter_value(const struct el_profile *profile, const char *name);

#endif
