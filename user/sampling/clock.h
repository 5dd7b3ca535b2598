/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampling event of each online CPU: opened, attached, enabled, and its
 * period moved by ±20 % at random, because a fixed period reads 0 % or 100 %
 * of a program that keeps step with it. Also keeps each CPU's time books.
 */
#ifndef EL_CLOCK_H
#define EL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "user/sampling/programs.h"

struct el_clock_cpu {
	int cpu;
	int fd, link;
	uint64_t enabled_ns, stopped_ns; /* times; stopped 0: running */
	uint64_t kernel_ns, checked_ns;  /* the kernel's enabled time, and when it was read */
};

struct el_clock {
	const struct el_event_type *event;
	struct el_programs *programs;
	EL_VEC(struct el_clock_cpu) cpus;
	uint64_t period, every_ns; /* how often the period moves */
	uint64_t moved_ns, checked_ns;
	uint64_t random;
	uint32_t n_gaps; /* a CPU was offline for a while */
};

/* One event for each CPU listed. */
int el_clock_init(struct el_clock *clock, struct el_programs *programs,
		  const struct el_sampler_options *options, const int *cpus, size_t n_cpus,
		  struct el_error *error);
void el_clock_deinit(struct el_clock *clock);
int el_clock_start(struct el_clock *clock, struct el_error *error);
int el_clock_stop(struct el_clock *clock);
/* Moves the period and looks for CPUs that have been offline, when it is time to. */
void el_clock_tend(struct el_clock *clock, uint64_t now_ns);
/* Fills what the CPUs' books say: at[], enabled, open tail, the kernel's enabled time, CPUs, gaps.
 */
void el_clock_counts(struct el_clock *clock, struct el_sampler_counts *ret);

#endif
