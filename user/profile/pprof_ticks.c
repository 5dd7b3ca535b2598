/* SPDX-License-Identifier: Apache-2.0 */
/* See pprof_ticks.h. Differences wrap around, so that any ticks survive, plausible or not. */
#include "user/profile/pprof_ticks.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/cursor.h"
#include "user/profile/pprof_fields.h"
#include "user/profile/protobuf.h"

static uint64_t zigzag(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static uint64_t unzigzag(uint64_t value)
{
	return value >> 1 ^ -(value & 1);
}

struct columns {
	struct el_buffer cpu, weight, gap, sample;
};

static void columns_deinit(struct columns *columns)
{
	el_buffer_deinit(&columns->cpu);
	el_buffer_deinit(&columns->weight);
	el_buffer_deinit(&columns->gap);
	el_buffer_deinit(&columns->sample);
}

struct tick_order {
	uint32_t cpu;
	uint32_t tick;
};

static int compare_order(const void *left, const void *right)
{
	const struct tick_order *a = left, *b = right;

	if (a->cpu != b->cpu)
		return (a->cpu > b->cpu) - (a->cpu < b->cpu);
	return (a->tick > b->tick) - (a->tick < b->tick);
}

/* The ticks of one CPU, `n` of them. */
static void encode_cpu(const struct el_profile *profile, const struct tick_order *order, size_t n,
		       struct columns *columns)
{
	uint64_t time = 0, weight = 0;

	el_buffer_add_uleb(&columns->cpu, order->cpu);
	el_buffer_add_uleb(&columns->cpu, n);
	for (size_t i = 0; i < n; i++) {
		const struct el_profile_tick *tick = &profile->ticks.at[order[i].tick];

		el_buffer_add_uleb(&columns->weight, zigzag(tick->weight - weight));
		el_buffer_add_uleb(&columns->gap, zigzag(tick->time_ns - time - tick->weight));
		el_buffer_add_uleb(&columns->sample, tick->sample);
		time = tick->time_ns;
		weight = tick->weight;
	}
}

int el_pprof_ticks_encode(const struct el_profile *profile, struct el_buffer *ret)
{
	size_t n = profile->ticks.n;
	el_auto_free struct tick_order *order = calloc(n + 1, sizeof(*order));
	struct columns columns = {0};
	size_t first, next;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		order[i] = (struct tick_order){profile->ticks.at[i].cpu, i};
	qsort(order, n, sizeof(*order), compare_order);
	for (first = 0; first < n; first = next) {
		for (next = first; next < n && order[next].cpu == order[first].cpu; next++)
			;
		encode_cpu(profile, order + first, next - first, &columns);
	}
	el_protobuf_buffer(ret, EL_PPROF_TICKS_CPU, &columns.cpu);
	el_protobuf_buffer(ret, EL_PPROF_TICKS_WEIGHT, &columns.weight);
	el_protobuf_buffer(ret, EL_PPROF_TICKS_GAP, &columns.gap);
	el_protobuf_buffer(ret, EL_PPROF_TICKS_SAMPLE, &columns.sample);
	columns_deinit(&columns);
	return ret->err;
}

int el_pprof_ticks_decode(const void *bytes, size_t size, const uint32_t *rows, size_t n_rows,
			  struct el_profile_builder *builder)
{
	struct el_cursor message = el_cursor_of(bytes, size);
	struct el_cursor columns[EL_PPROF_TICKS_SAMPLE + 1] = {0};
	struct el_protobuf_field field;

	while (el_protobuf_next(&message, &field)) {
		if (field.wire == EL_PROTOBUF_BYTES && field.number <= EL_PPROF_TICKS_SAMPLE)
			columns[field.number] = el_cursor_of(field.bytes, field.size);
	}
	if (message.failed)
		return -EINVAL;
	while (el_cursor_left(&columns[EL_PPROF_TICKS_CPU])) {
		uint64_t cpu = el_cursor_uleb(&columns[EL_PPROF_TICKS_CPU]);
		uint64_t n = el_cursor_uleb(&columns[EL_PPROF_TICKS_CPU]);
		struct el_profile_tick tick = {.cpu = cpu};

		if (columns[EL_PPROF_TICKS_CPU].failed || cpu > UINT32_MAX)
			return -EINVAL;
		for (; n; n--) {
			uint64_t weight = el_cursor_uleb(&columns[EL_PPROF_TICKS_WEIGHT]);
			uint64_t gap = el_cursor_uleb(&columns[EL_PPROF_TICKS_GAP]);
			uint64_t sample = el_cursor_uleb(&columns[EL_PPROF_TICKS_SAMPLE]);
			uint32_t position;
			int err;

			if (columns[EL_PPROF_TICKS_WEIGHT].failed ||
			    columns[EL_PPROF_TICKS_GAP].failed ||
			    columns[EL_PPROF_TICKS_SAMPLE].failed || sample >= n_rows)
				return -EINVAL;
			tick.weight += unzigzag(weight);
			tick.time_ns += unzigzag(gap) + tick.weight;
			tick.sample = rows[sample];
			err = el_profile_build_tick(builder, &tick, &position);
			if (err)
				return err;
		}
	}
	return 0;
}
