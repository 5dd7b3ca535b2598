/* SPDX-License-Identifier: Apache-2.0 */
/* See delivery.h. */
#include "user/sampling/delivery.h"

#include <errno.h>
#include <string.h>

#include "user/sampling/sideband.h"

int el_delivery_init(struct el_delivery *delivery, bool all)
{
	*delivery = (struct el_delivery){.all = all};
	return el_threads_init(&delivery->threads);
}

void el_delivery_deinit(struct el_delivery *delivery)
{
	el_queue_deinit(&delivery->queue);
	el_threads_deinit(&delivery->threads);
}

int el_delivery_record(void *context, void *bytes, size_t size)
{
	struct el_delivery *delivery = context;
	const struct el_record_header *header = bytes;
	const struct el_record_sample *sample = bytes;
	const struct el_record_stack *stack = bytes;

	if (size < sizeof(*header) || header->size > size)
		return -EBADMSG;
	if (header->type == EL_RECORD_SAMPLE && header->size == sizeof(*sample))
		return el_queue_add(&delivery->queue, EL_ARRIVAL_SAMPLE, sample->time_ns, sample,
				    sizeof(*sample));
	if (header->type != EL_RECORD_STACK || header->size < sizeof(*stack) ||
	    header->size != sizeof(*stack) + stack->n_frames * sizeof(stack->frames[0]))
		return -EBADMSG;
	return delivery->sink->stack ? delivery->sink->stack(delivery->sink->context, stack) : 0;
}

int el_delivery_sideband(void *context, const void *record, size_t size)
{
	struct el_delivery *delivery = context;
	struct el_sideband event;

	if (el_sideband_parse(record, size, &event)) {
		delivery->sideband_bad++;
		return 0;
	}
	if (event.type == EL_SIDEBAND_OTHER)
		return 0;
	if (event.time_ns > delivery->newest_sideband_ns)
		delivery->newest_sideband_ns = event.time_ns;
	return el_queue_add(&delivery->queue, EL_ARRIVAL_SIDEBAND, event.time_ns, record, size);
}

static int hand_over_sample(struct el_delivery *delivery, const struct el_record_sample *sample)
{
	const struct el_sampler_sink *sink = delivery->sink;

	delivery->delivered++;
	delivery->delivered_weight += sample->weight;
	if (sample->flags & EL_SAMPLE_STACK_LOST)
		delivery->stacks_missing++;
	/* A child whose fork record was lost. */
	if (!el_threads_followed(&delivery->threads, sample->image.tgid) && !delivery->all)
		el_threads_follow(&delivery->threads, sample->image.tgid, 1);
	return sink->sample ? sink->sample(sink->context, sample) : 0;
}

static int hand_over_fork(struct el_delivery *delivery, const struct el_sideband *event)
{
	const struct el_sampler_sink *sink = delivery->sink;

	if (event->pid == event->parent_pid) {
		el_threads_started(&delivery->threads, event->pid);
		return 0;
	}
	if (!delivery->all && !el_threads_followed(&delivery->threads, event->parent_pid))
		return 0;
	el_threads_follow(&delivery->threads, event->pid, 1);
	return sink->fork ? sink->fork(sink->context, event->time_ns, event->parent_pid, event->pid)
			  : 0;
}

static int hand_over_lost(struct el_delivery *delivery, const struct el_sideband *event)
{
	const struct el_sampler_sink *sink = delivery->sink;

	delivery->sideband_lost += event->n;
	delivery->threads.uncertain = true;
	return sink->lost ? sink->lost(sink->context, event->time_ns, event->n) : 0;
}

/* What belongs to one followed process. */
static int hand_over_of_process(struct el_delivery *delivery, const struct el_sideband *event)
{
	const struct el_sampler_sink *sink = delivery->sink;

	switch (event->type) {
	case EL_SIDEBAND_MMAP:
		return sink->mmap ? sink->mmap(sink->context, event->time_ns, event->pid,
					       &event->mapping)
				  : 0;
	case EL_SIDEBAND_EXEC:
		el_threads_follow(&delivery->threads, event->pid, 1);
		return sink->exec
			       ? sink->exec(sink->context, event->time_ns, event->pid, event->text)
			       : 0;
	case EL_SIDEBAND_COMM:
		return sink->comm ? sink->comm(sink->context, event->time_ns, event->pid,
					       event->tid, event->text)
				  : 0;
	case EL_SIDEBAND_EXIT:
		if (!el_threads_ended(&delivery->threads, event->pid, event->tid))
			return 0;
		return sink->exit ? sink->exit(sink->context, event->time_ns, event->pid) : 0;
	default:
		return 0;
	}
}

static int hand_over_sideband(struct el_delivery *delivery, const struct el_sideband *event)
{
	const struct el_sampler_sink *sink = delivery->sink;

	switch (event->type) {
	case EL_SIDEBAND_FORK:
		return hand_over_fork(delivery, event);
	case EL_SIDEBAND_LOST:
		return hand_over_lost(delivery, event);
	case EL_SIDEBAND_CGROUP:
		return sink->cgroup ? sink->cgroup(sink->context, event->n, event->text) : 0;
	default:
		if (!delivery->all && !el_threads_followed(&delivery->threads, event->pid))
			return 0;
		return hand_over_of_process(delivery, event);
	}
}

static int hand_over(void *context, enum el_arrival_kind kind, const void *record, size_t size)
{
	struct el_delivery *delivery = context;
	struct el_sideband event;

	if (kind == EL_ARRIVAL_SAMPLE)
		return hand_over_sample(delivery, record);
	return el_sideband_parse(record, size, &event) ? 0 : hand_over_sideband(delivery, &event);
}

int el_delivery_hand_over(struct el_delivery *delivery, uint64_t until_ns)
{
	return el_queue_hand_over(&delivery->queue, until_ns, hand_over, delivery);
}
