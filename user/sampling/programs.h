/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The BPF programs, loaded and with their shared arrays mapped. The only file
 * that sees the skeleton. Nothing here is called after the start but
 * el_programs_consume(), which makes no system call.
 */
#ifndef EL_PROGRAMS_H
#define EL_PROGRAMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bpf/wire.h"
#include "user/sampling/sampler.h"

struct el_programs {
	struct profile_bpf *skeleton;
	struct ring_buffer *ring;
	struct el_cpu_counters *counters; /* by CPU */
	struct el_cpu_clock *clocks;      /* by CPU */
	uint64_t *known;                  /* EL_KNOWN_STACKS slots */
	size_t counters_size, clocks_size, known_size;
};

/* A record of the ring, of its header's size at least. Returns 0 or -errno, which ends the
 * consuming. */
typedef int el_record_take(void *context, void *record, size_t size);

/* Loads; with targets to follow, follows from here on. */
int el_programs_init(struct el_programs *programs, const struct el_sampler_options *options,
		     el_record_take *take, void *context, struct el_error *error);
void el_programs_deinit(struct el_programs *programs);

/* A descriptor that holds the attachment, or -errno. */
int el_programs_attach(struct el_programs *programs, int perf_fd);
int el_programs_add_target(struct el_programs *programs, uint32_t pid, enum el_target_state state);
/* Readable when the ring is half full. */
int el_programs_ring_fd(const struct el_programs *programs);
/* Hands over all complete records: 0 or -errno. */
int el_programs_consume(struct el_programs *programs);

#endif
