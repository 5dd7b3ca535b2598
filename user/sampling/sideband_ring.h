/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CPU's side-band: a dummy perf event (it never counts) that reports exec,
 * fork, exit, executable mappings, names and cgroups of everything on that
 * CPU, and its ring of records. The kernel wakes whoever polls `fd` at every
 * record, so that a process of 50 ms is seen while it lives.
 */
#ifndef EL_SIDEBAND_RING_H
#define EL_SIDEBAND_RING_H

#include <stddef.h>
#include <stdint.h>

struct el_sideband_ring {
	int fd;
	void *memory;    /* one page of the kernel's, then `size` bytes of records */
	size_t size;     /* a power of two */
	uint8_t *record; /* of one record that wraps around the end */
};

/* Where records go; `bytes` are valid during the call. Returns 0 or -errno, which ends the reading.
 */
typedef int el_sideband_take(void *context, const void *bytes, size_t size);

/* -errno of perf_event_open(2) or mmap(2); *ret_step names which. */
int el_sideband_ring_init(struct el_sideband_ring *ring, int cpu, size_t size,
			  const char **ret_step);
void el_sideband_ring_deinit(struct el_sideband_ring *ring);
int el_sideband_ring_enable(struct el_sideband_ring *ring);

/*
 * Hands over what the ring holds. A record whose length cannot be true makes
 * the rest of the ring unreadable: it is dropped and *ret_broken counts one.
 */
int el_sideband_ring_read(struct el_sideband_ring *ring, el_sideband_take *take, void *context,
			  uint64_t *ret_broken);

#endif
