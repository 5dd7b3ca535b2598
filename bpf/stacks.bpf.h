/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Stack bodies: built in the scratch, named by a seeded hash, sent once.
 * `known` says which were sent; it is lossy on purpose: an overwrite only
 * sends a body again, and user space may clear it at any time.
 */
#ifndef EL_STACKS_BPF_H
#define EL_STACKS_BPF_H

#include "scratch.bpf.h"
#include "walk_fp.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, EL_KNOWN_STACKS);
	__type(key, u32);
	__type(value, u64);
} known SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* user space sets it */
} records SEC(".maps");

static __always_inline void stack_begin(struct el_scratch *scratch,
					const struct el_image_key *image)
{
	scratch->n_frames = 0;
	scratch->stack.image = *image;
	scratch->hash = hash_mix(option_seed, image->start_ns);
	scratch->hash = hash_mix(scratch->hash, (u64)image->exec_id << 32 | image->tgid);
}

/* Sends the body unless it is known; the stack's ID. */
static __always_inline u64 stack_send(struct el_scratch *scratch, struct el_cpu_counters *on,
				      u32 end, bool kernel, u16 *sample_flags)
{
	u32 n = scratch->n_frames, size;
	u64 id = hash_mix(scratch->hash, n), flags = BPF_RB_NO_WAKEUP, *slot;
	u32 key;

	id = id ? id : 1;
	key = id & (EL_KNOWN_STACKS - 1);
	slot = bpf_map_lookup_elem(&known, &key);
	if (!slot || *slot == id)
		return id;
	if (n > EL_MAX_FRAMES)
		n = EL_MAX_FRAMES;
	size = sizeof(struct el_record_stack) + n * sizeof(struct el_frame);
	scratch->stack.header.type = EL_RECORD_STACK;
	scratch->stack.header.size = size;
	scratch->stack.id = id;
	scratch->stack.n_frames = n;
	scratch->stack.end = end;
	scratch->stack.kernel = kernel;
	/* Bodies are what fills the ring: do not wait for the next poll then. */
	if (bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA) > option_ring_half)
		flags = BPF_RB_FORCE_WAKEUP;
	if (bpf_ringbuf_output(&records, &scratch->stack, size, flags)) {
		count(on, EL_COUNTER_STACK_LOST_RING, 1);
		*sample_flags |= EL_SAMPLE_STACK_LOST;
		return id;
	}
	count(on, EL_COUNTER_STACK_SENT, 1);
	*slot = id;
	return id;
}

/* The kernel's own frames above the user's; they belong to no image. */
static __always_inline u64 stack_of_kernel(void *context, struct el_scratch *scratch,
					   struct el_cpu_counters *on, u16 *sample_flags)
{
	static const struct el_image_key none;
	long size = bpf_get_stack(context, scratch->addrs, EL_MAX_FRAMES * sizeof(u64), 0);
	u32 n = size > 0 ? (u32)size / sizeof(u64) : 0;

	if (!n)
		return 0;
	stack_begin(scratch, &none);
	for (u32 i = 0; i < EL_MAX_FRAMES && i < n; i++)
		frame_add(scratch, scratch->addrs[i], EL_FRAME_KERNEL,
			  i              ? EL_FRAME_RETURN
			  : option_exact ? EL_FRAME_EXACT
					 : 0);
	return stack_send(scratch, on, n < EL_MAX_FRAMES ? EL_STACK_END_ROOT : EL_STACK_END_DEPTH,
			  true, sample_flags);
}

#endif
