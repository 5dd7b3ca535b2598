/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the kernel sample: opens the events, loads and attaches the BPF
 * programs, keeps the target set, jitters the period, and hands everything
 * that happened to a sink in time order: a sample is delivered after all
 * side-band events before it, and after its stacks.
 *
 * It knows nothing of symbols, profiles or files. Single-threaded; after
 * el_sampler_start() it makes no bpf(2) call. Free ends everything in the kernel.
 */
#ifndef EL_SAMPLER_H
#define EL_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "bpf/wire.h"
#include "symbolizer/symbolizer.h" /* struct el_mapping */

struct el_event_type; /* events.h: one row of the table of event sources */

struct el_sampler_options {
	const struct el_event_type *event; /* NULL: the cpu clock */
	uint64_t period;                   /* ns for the clock, count for others */
	const pid_t *pids;                 /* with their threads and future children */
	size_t n_pids;
	bool all;         /* the whole machine; n_pids is 0 then */
	bool await_exec;  /* pids[0] was forked by us: it becomes a target by its next exec */
	bool user_only;   /* no samples in kernel mode, no kernel stacks */
	bool short_run;   /* under 10 s: jitter every 25 periods instead of every second */
	size_t ring_size; /* bytes, 0: 256 KiB x CPUs, at least 4 MiB */
};

/*
 * Callbacks return 0 or -errno, which ends the drain; any may be NULL.
 * Pointers are valid during the call. Unless the whole machine is recorded,
 * events of processes that are no targets are not handed over.
 * exec, comm, exit and mmap name thread-group ids of the initial PID namespace.
 */
struct el_sampler_sink {
	void *context;
	int (*sample)(void *context, const struct el_record_sample *sample);
	int (*stack)(void *context, const struct el_record_stack *stack);
	int (*fork)(void *context, uint64_t time_ns, uint32_t parent, uint32_t child);
	int (*exec)(void *context, uint64_t time_ns, uint32_t pid, const char *comm);
	int (*comm)(void *context, uint64_t time_ns, uint32_t pid, uint32_t tid, const char *comm);
	/* The whole process: its last thread. Of a process whose threads were not counted from the
	 * start (it ran before a recording of the whole machine began): its leader. */
	int (*exit)(void *context, uint64_t time_ns, uint32_t pid);
	int (*mmap)(void *context, uint64_t time_ns, uint32_t pid,
		    const struct el_mapping *mapping); /* executable ones */
	int (*cgroup)(void *context, uint64_t cgroup_id, const char *path);
	/* n side-band records were lost: mappings must be read again. */
	int (*lost)(void *context, uint64_t time_ns, uint64_t n);
};

/* What the books say; see the laws in bpf/wire.h. */
struct el_sampler_counts {
	uint64_t at[EL_N_COUNTERS]; /* summed over CPUs */
	uint64_t enabled_ns;        /* summed over CPUs: enable to now (or disable) */
	uint64_t open_tail_ns;      /* summed: last tick to now: enabled = ELAPSED + open tail */
	uint64_t kernel_enabled_ns; /* perf's own total_time_enabled, a cross-check */
	uint64_t sideband_lost;     /* records */
	uint64_t delivered, delivered_weight; /* samples handed to the sink */
	uint64_t stacks_missing; /* samples that came without their new stack body: the ring was
				    full for it */
	uint64_t out_of_order; /* records that came later than one with a later time had been handed
				  over */
	uint32_t n_cpus;
	uint32_t n_cpus_offline_gap; /* times a CPU was found to have been offline; its event was
					enabled again */
};

struct el_sampler;

/* Errors carry a sentence: what failed, on what, why, what to do. */
int el_sampler_new(const struct el_sampler_options *options, struct el_sampler **ret,
		   struct el_error *error);
void el_sampler_free(struct el_sampler *sampler);

int el_sampler_start(struct el_sampler *sampler, struct el_error *error);
/* Stops the events; what is in the rings is still to be polled. */
int el_sampler_stop(struct el_sampler *sampler);

/* A descriptor that becomes readable when side-band waits; for poll(2). */
int el_sampler_fd(const struct el_sampler *sampler);
/* Delivers what is ripe; everything when `last` (after stop). Also does the jitter. */
int el_sampler_drain(struct el_sampler *sampler, bool last, const struct el_sampler_sink *sink);

/* Bodies of stacks will be sent again: for a sink that has forgotten those it was given. */
void el_sampler_forget_stacks(struct el_sampler *sampler);

/* Samples handed to the sink so far; unlike the counts, without asking any CPU. */
uint64_t el_sampler_delivered(const struct el_sampler *sampler);

void el_sampler_counts(struct el_sampler *sampler, struct el_sampler_counts *ret);

#endif
