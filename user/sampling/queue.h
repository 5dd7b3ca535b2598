/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has arrived from several rings and waits to be handed over in time
 * order. It knows records as bytes with a time. A zeroed queue is empty.
 */
#ifndef EL_QUEUE_H
#define EL_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

/* At equal times side-band goes before the samples that depend on it. */
enum el_arrival_kind { EL_ARRIVAL_SIDEBAND, EL_ARRIVAL_SAMPLE };

struct el_arrival {
	uint64_t time_ns;
	uint64_t at; /* of the record in bytes; rises in the order of arrival */
	uint32_t size;
	uint32_t kind; /* enum el_arrival_kind */
};

struct el_queue {
	EL_VEC(uint8_t) bytes;
	EL_VEC(struct el_arrival) arrivals;
	uint64_t handed_over_ns; /* the latest time handed over */
	uint64_t out_of_order;   /* arrivals before it */
};

void el_queue_deinit(struct el_queue *queue);

/* Copies the record; 0 or -ENOMEM. */
int el_queue_add(struct el_queue *queue, enum el_arrival_kind kind, uint64_t time_ns,
		 const void *record, size_t size);

/* `record` is aligned to 8 bytes. Returns 0 or -errno, which ends the handing over. */
typedef int el_queue_take(void *context, enum el_arrival_kind kind, const void *record,
			  size_t size);

/* Hands over, in time order, what arrived with a time up to `until_ns`. A record is gone even when
 * `take` fails on it. */
int el_queue_hand_over(struct el_queue *queue, uint64_t until_ns, el_queue_take *take,
		       void *context);

#endif
