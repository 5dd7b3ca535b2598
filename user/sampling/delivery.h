/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the rings and the sink: takes records of the BPF ring and of the
 * side-band as they are read, and hands them over in time order. Stack bodies
 * go straight to the sink, so they are always before their samples.
 */
#ifndef EL_DELIVERY_H
#define EL_DELIVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "user/sampling/queue.h"
#include "user/sampling/sampler.h"
#include "user/sampling/threads.h"

struct el_delivery {
	const struct el_sampler_sink *sink; /* during a drain */
	bool all;                           /* hand over side-band of every process */
	struct el_queue queue;
	struct el_threads threads;
	uint64_t newest_sideband_ns;
	uint64_t sideband_lost, sideband_bad; /* records */
	uint64_t delivered, delivered_weight, stacks_missing;
};

int el_delivery_init(struct el_delivery *delivery, bool all); /* 0 or -ENOMEM */
void el_delivery_deinit(struct el_delivery *delivery);

/* For el_programs_init() and el_sideband_ring_read(); the context is the delivery. */
int el_delivery_record(void *delivery, void *record, size_t size);
int el_delivery_sideband(void *delivery, const void *record, size_t size);

/* Hands over everything with a time up to `until_ns`. */
int el_delivery_hand_over(struct el_delivery *delivery, uint64_t until_ns);

#endif
