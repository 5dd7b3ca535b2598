/* SPDX-License-Identifier: Apache-2.0 */
/* See queue.h. */
#include "user/sampling/queue.h"

#include <stdlib.h>
#include <string.h>

void el_queue_deinit(struct el_queue *queue)
{
	el_vec_deinit(&queue->bytes);
	el_vec_deinit(&queue->arrivals);
}

int el_queue_add(struct el_queue *queue, enum el_arrival_kind kind, uint64_t time_ns,
		 const void *record, size_t size)
{
	struct el_arrival arrival = {time_ns, queue->bytes.n, size, kind};
	size_t padded = (size + 7) & ~(size_t)7;
	int err = el_vec_reserve(&queue->bytes, queue->bytes.n + padded);

	if (!err)
		err = el_vec_push(&queue->arrivals, arrival);
	if (err)
		return err;
	memcpy(queue->bytes.at + queue->bytes.n, record, size);
	queue->bytes.n += padded;
	if (time_ns < queue->handed_over_ns)
		queue->out_of_order++;
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct el_arrival *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
	if (a->kind != b->kind)
		return (a->kind > b->kind) - (a->kind < b->kind);
	return (a->at > b->at) - (a->at < b->at);
}

/* Arrivals are mostly in order already: insertion for a few, or the whole way. */
static void sort(struct el_queue *queue)
{
	for (size_t i = 1; i < queue->arrivals.n; i++) {
		if (compare(&queue->arrivals.at[i - 1], &queue->arrivals.at[i]) > 0) {
			qsort(queue->arrivals.at, queue->arrivals.n, sizeof(*queue->arrivals.at),
			      compare);
			return;
		}
	}
}

static int by_place(const void *left, const void *right)
{
	const struct el_arrival *a = left, *b = right;

	return (a->at > b->at) - (a->at < b->at);
}

/* Moves what is left, from the n-th arrival on, to the front. */
static void close_up(struct el_queue *queue, size_t n)
{
	struct el_arrival *left = queue->arrivals.at + n;
	size_t n_left = queue->arrivals.n - n, at = 0;

	if (n_left)
		qsort(left, n_left, sizeof(*left), by_place);
	for (size_t i = 0; i < n_left; i++) {
		memmove(queue->bytes.at + at, queue->bytes.at + left[i].at, left[i].size);
		left[i].at = at;
		at += (left[i].size + 7) & ~(size_t)7;
	}
	if (n_left)
		memmove(queue->arrivals.at, left, n_left * sizeof(*left));
	queue->arrivals.n = n_left;
	queue->bytes.n = at;
}

int el_queue_hand_over(struct el_queue *queue, uint64_t until_ns, el_queue_take *take,
		       void *context)
{
	size_t n = 0;
	int err = 0;

	sort(queue);
	while (!err && n < queue->arrivals.n && queue->arrivals.at[n].time_ns <= until_ns) {
		const struct el_arrival *arrival = &queue->arrivals.at[n++];

		if (arrival->time_ns > queue->handed_over_ns)
			queue->handed_over_ns = arrival->time_ns;
		err = take(context, arrival->kind, queue->bytes.at + arrival->at, arrival->size);
	}
	close_up(queue, n);
	return err;
}
