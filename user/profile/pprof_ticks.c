/* SPDX-License-Identifier: Apache-2.0 */
/* See pprof_ticks.h. Differences wrap around, so that any ticks survive, plausible or not. */
#include "user/profile/pprof_ticks.h"

#include <stdbool.h>
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
	struct el_buffer at[EL_PPROF_TICKS_END]; /* by field number; 0 unused */
};

static void columns_deinit(struct columns *columns)
{
	for (uint32_t i = 0; i < EL_PPROF_TICKS_END; i++)
		el_buffer_deinit(&columns->at[i]);
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

/* What is known of a CPU's ticks so far. */
struct before {
	uint64_t time, weight; /* of the last one */
	uint64_t next_row;     /* above all rows seen */
};

static void encode_tick(struct columns *columns, const struct el_profile_tick *tick,
			struct before *before)
{
	uint64_t change = zigzag(tick->weight - before->weight);
	uint64_t gap = tick->time_ns - before->time - tick->weight;
	uint64_t missed = 0, row = tick->sample;

	/* A negative gap is a huge one here: none missed, the zigzag holds it. */
	if (tick->weight && gap <= UINT64_MAX / 2)
		missed = (gap + tick->weight / 2) / tick->weight;
	el_buffer_add_u8(&columns->at[EL_PPROF_TICKS_WEIGHT_LOW], change);
	el_buffer_add_uleb(&columns->at[EL_PPROF_TICKS_WEIGHT_HIGH], change >> 8);
	el_buffer_add_uleb(&columns->at[EL_PPROF_TICKS_MISSED], missed);
	el_buffer_add_uleb(&columns->at[EL_PPROF_TICKS_GAP], zigzag(gap - missed * tick->weight));
	el_buffer_add_uleb(&columns->at[EL_PPROF_TICKS_SAMPLE],
			   row < before->next_row ? row << 1 | 1 : (row - before->next_row) << 1);
	before->time = tick->time_ns;
	before->weight = tick->weight;
	if (row >= before->next_row)
		before->next_row = row + 1;
}

/* The ticks of one CPU, `n` of them. */
static void encode_cpu(const struct el_profile *profile, const struct tick_order *order, size_t n,
		       struct columns *columns)
{
	struct before before = {0};

	el_buffer_add_uleb(&columns->at[EL_PPROF_TICKS_CPU], order->cpu);
	el_buffer_add_uleb(&columns->at[EL_PPROF_TICKS_CPU], n);
	for (size_t i = 0; i < n; i++)
		encode_tick(columns, &profile->ticks.at[order[i].tick], &before);
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
	for (uint32_t field = EL_PPROF_TICKS_CPU; field < EL_PPROF_TICKS_END; field++)
		el_protobuf_buffer(ret, field, &columns.at[field]);
	columns_deinit(&columns);
	return ret->err;
}

/* The CPU's next tick, `ret_row` of the file; false when a column is too short. */
static bool decode_tick(struct el_cursor *columns, struct before *before, uint64_t *ret_row)
{
	uint64_t change = el_cursor_u8(&columns[EL_PPROF_TICKS_WEIGHT_LOW]);
	uint64_t missed = el_cursor_uleb(&columns[EL_PPROF_TICKS_MISSED]);
	uint64_t gap = unzigzag(el_cursor_uleb(&columns[EL_PPROF_TICKS_GAP]));
	uint64_t code = el_cursor_uleb(&columns[EL_PPROF_TICKS_SAMPLE]);

	change |= el_cursor_uleb(&columns[EL_PPROF_TICKS_WEIGHT_HIGH]) << 8;
	for (uint32_t field = EL_PPROF_TICKS_CPU; field < EL_PPROF_TICKS_END; field++) {
		if (columns[field].failed)
			return false;
	}
	before->weight += unzigzag(change);
	before->time += before->weight + missed * before->weight + gap;
	*ret_row = (code >> 1) + (code & 1 ? 0 : before->next_row);
	if (*ret_row >= before->next_row)
		before->next_row = *ret_row + 1;
	return true;
}

int el_pprof_ticks_decode(const void *bytes, size_t size, const uint32_t *rows, size_t n_rows,
			  struct el_profile_builder *builder)
{
	struct el_cursor message = el_cursor_of(bytes, size);
	struct el_cursor columns[EL_PPROF_TICKS_END] = {0};
	struct el_protobuf_field field;

	while (el_protobuf_next(&message, &field)) {
		if (field.wire == EL_PROTOBUF_BYTES && field.number < EL_PPROF_TICKS_END)
			columns[field.number] = el_cursor_of(field.bytes, field.size);
	}
	if (message.failed)
		return -EINVAL;
	while (el_cursor_left(&columns[EL_PPROF_TICKS_CPU])) {
		uint64_t cpu = el_cursor_uleb(&columns[EL_PPROF_TICKS_CPU]);
		uint64_t n = el_cursor_uleb(&columns[EL_PPROF_TICKS_CPU]);
		struct before before = {0};

		if (cpu > UINT32_MAX)
			return -EINVAL;
		for (; n; n--) {
			struct el_profile_tick tick = {.cpu = cpu};
			uint64_t row;
			uint32_t position;
			int err;

			if (!decode_tick(columns, &before, &row) || row >= n_rows)
				return -EINVAL;
			tick.time_ns = before.time;
			tick.weight = before.weight;
			tick.sample = rows[row];
			err = el_profile_build_tick(builder, &tick, &position);
			if (err)
				return err;
		}
	}
	return columns[EL_PPROF_TICKS_CPU].failed ? -EINVAL : 0;
}
