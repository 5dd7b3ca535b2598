/* SPDX-License-Identifier: Apache-2.0 */
/* See raw.h. */
#include "user/symbolize/raw.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"

/* The slot of bpf/: kept in step with its array of known stacks. */
static uint64_t *slot_of(const struct el_raw *raw, uint64_t id)
{
	return &raw->newest[id % EL_KNOWN_STACKS];
}

int el_raw_init(struct el_raw *raw)
{
	int err;

	*raw = (struct el_raw){0};
	raw->newest = calloc(EL_KNOWN_STACKS, sizeof(*raw->newest));
	err = raw->newest ? el_strings_init(&raw->threads) : -ENOMEM;
	if (!err)
		err = el_vec_push(&raw->stacks, (struct el_raw_stack){0});
	if (err)
		el_raw_deinit(raw);
	return err;
}

void el_raw_deinit(struct el_raw *raw)
{
	el_vec_deinit(&raw->samples);
	el_vec_deinit(&raw->stacks);
	el_vec_deinit(&raw->frames);
	el_index_deinit(&raw->by_id);
	el_strings_deinit(&raw->threads);
	free(raw->newest);
	raw->newest = NULL;
}

static bool has_id(const void *owner, uint32_t position, const void *wanted)
{
	const struct el_raw *raw = owner;

	return raw->stacks.at[position].id == *(const uint64_t *)wanted;
}

/* IDs come from a kernel program that hashes with a secret seed, but are hashed again for spread.
 */
static uint32_t find(const struct el_raw *raw, uint64_t id)
{
	uint32_t at = el_index_find(&raw->by_id, el_hash_u64(0, id), has_id, raw, &id);

	return at == EL_INDEX_NONE ? 0 : at;
}

static int append(struct el_raw *raw, const struct el_raw_stack *stack,
		  const struct el_frame *frames)
{
	struct el_raw_stack row = *stack;
	int err;

	row.first_frame = raw->frames.n;
	if (raw->frames.n + row.n_frames > UINT32_MAX)
		return -ENOMEM;
	err = el_vec_reserve(&raw->frames, raw->frames.n + row.n_frames);
	if (!err)
		err = el_vec_reserve(&raw->stacks, raw->stacks.n + 1);
	if (!err)
		err = el_index_add(&raw->by_id, el_hash_u64(0, row.id), raw->stacks.n);
	if (err)
		return err;
	if (row.n_frames)
		memcpy(raw->frames.at + raw->frames.n, frames, row.n_frames * sizeof(*frames));
	raw->frames.n += row.n_frames;
	return el_vec_push(&raw->stacks, row);
}

int el_raw_add_stack(struct el_raw *raw, const struct el_record_stack *record)
{
	struct el_raw_stack stack = {
		.id = record->id,
		.n_frames = record->n_frames,
		.end = record->end,
		.kernel = record->kernel,
	};
	uint32_t at;
	int err;

	if (record->header.size <
	    offsetof(struct el_record_stack, frames) + record->n_frames * sizeof(struct el_frame))
		return -EBADMSG;
	at = find(raw, record->id);
	err = at ? 0 : append(raw, &stack, record->frames);
	if (err)
		return err;
	/* Its sample is yet to come: it waits for the side-band before it. */
	raw->stacks.at[at ? at : raw->stacks.n - 1].used = true;
	*slot_of(raw, record->id) = record->id;
	return 0;
}

static uint32_t use(struct el_raw *raw, uint64_t id, struct el_raw_sample *sample)
{
	uint32_t stack = id ? find(raw, id) : 0;

	if (stack)
		raw->stacks.at[stack].used = true;
	else if (id)
		sample->flags |= EL_RAW_STACK_MISSING;
	return stack;
}

int el_raw_add_sample(struct el_raw *raw, const struct el_record_sample *record, uint32_t image)
{
	struct el_raw_sample sample = {
		.time_ns = record->time_ns,
		.weight = record->weight,
		.image = image,
		.tid = record->tid,
		.cpu = record->cpu,
	};
	int err = el_strings_add_bytes(&raw->threads, record->comm, sizeof(record->comm),
				       &sample.thread);

	if (err)
		return err;
	sample.user_stack = use(raw, record->user_stack, &sample);
	sample.kernel_stack = use(raw, record->kernel_stack, &sample);
	err = el_vec_push(&raw->samples, sample);
	if (!err)
		raw->n_missing += !!(sample.flags & EL_RAW_STACK_MISSING);
	return err;
}

/* Copies what stays into `kept`, and says in new_index where each stack went (0: nowhere). */
static int copy_stacks(struct el_raw *raw, struct el_raw *kept, uint32_t *new_index)
{
	int err = 0;

	for (size_t i = 1; !err && i < raw->stacks.n; i++) {
		struct el_raw_stack stack = raw->stacks.at[i];

		/* The used ones stay a window longer: two CPUs can fill one of the kernel's
		 * slots in another order than their bodies arrive. */
		if (!new_index[i] && !stack.used && *slot_of(raw, stack.id) != stack.id)
			continue;
		new_index[i] = kept->stacks.n;
		stack.used = false;
		err = append(kept, &stack, raw->frames.at + stack.first_frame);
	}
	return err;
}

static int copy_samples(struct el_raw *raw, uint64_t to_ns, struct el_raw *kept,
			const uint32_t *new_index)
{
	int err = 0;

	for (size_t i = 0; !err && i < raw->samples.n; i++) {
		struct el_raw_sample sample = raw->samples.at[i];
		const char *thread = el_strings_get(&raw->threads, sample.thread);

		if (sample.time_ns < to_ns)
			continue;
		sample.user_stack = new_index[sample.user_stack];
		sample.kernel_stack = new_index[sample.kernel_stack];
		kept->stacks.at[sample.user_stack].used = true;
		kept->stacks.at[sample.kernel_stack].used = true;
		err = el_strings_add(&kept->threads, thread, &sample.thread);
		if (!err)
			err = el_vec_push(&kept->samples, sample);
	}
	return err;
}

int el_raw_forget(struct el_raw *raw, uint64_t to_ns)
{
	el_auto_free uint32_t *new_index = calloc(raw->stacks.n, sizeof(*new_index));
	struct el_raw kept = {0};
	int err = new_index ? 0 : -ENOMEM;

	if (!err)
		err = el_strings_init(&kept.threads);
	if (!err)
		err = el_vec_push(&kept.stacks, (struct el_raw_stack){0});
	for (size_t i = 0; !err && i < raw->samples.n; i++) {
		const struct el_raw_sample *sample = &raw->samples.at[i];

		if (sample->time_ns < to_ns)
			continue;
		new_index[sample->user_stack] = new_index[sample->kernel_stack] = 1; /* wanted */
	}
	if (!err)
		new_index[0] = 0;
	if (!err)
		err = copy_stacks(raw, &kept, new_index);
	if (!err)
		err = copy_samples(raw, to_ns, &kept, new_index);
	if (err) {
		el_raw_deinit(&kept);
		return err;
	}
	kept.newest = el_take_ptr(raw->newest);
	kept.n_missing = raw->n_missing;
	el_raw_deinit(raw);
	*raw = kept;
	return 0;
}

size_t el_raw_size(const struct el_raw *raw)
{
	return raw->samples.capacity * sizeof(*raw->samples.at) +
	       raw->stacks.capacity * sizeof(*raw->stacks.at) +
	       raw->frames.capacity * sizeof(*raw->frames.at);
}
