/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Each CPU's working memory, too large for the BPF stack: the stack record
 * that is being built, the walker's position and its window of the user stack.
 * The kernel runs one perf_event program at a time on a CPU, so a slot has one user.
 */
#ifndef EL_SCRATCH_BPF_H
#define EL_SCRATCH_BPF_H

/* Bytes of user stack read at a time: several frames for one guarded read. */
#define EL_WINDOW_SIZE 1024

struct el_scratch {
	u64 hash;        /* of the frames so far */
	u64 fp;          /* of the next frame */
	u64 low;         /* the next frame lies above this */
	u64 window_addr; /* user address of window[0] */
	u32 n_frames;
	u32 end; /* enum el_stack_end; EL_WALKING while under way */
	u8 window[EL_WINDOW_SIZE + 16];
	u64 addrs[EL_MAX_FRAMES + 1]; /* a kernel stack as the kernel gives it */
	struct {
		struct el_record_header header;
		u64 id;
		struct el_image_key image;
		u16 n_frames;
		u8 end, kernel;
		u32 reserved;
	} stack; /* struct el_record_stack, which cannot be inside another */
	struct el_frame frames[EL_MAX_FRAMES + 1]; /* one more for the verifier's mask */
};

_Static_assert(__builtin_offsetof(struct el_scratch, frames) ==
		       __builtin_offsetof(struct el_scratch, stack) +
			       sizeof(struct el_record_stack),
	       "the frames follow the record");

#define EL_WALKING 0xff

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* user space: one for each CPU */
	__type(key, u32);
	__type(value, struct el_scratch);
} scratches SEC(".maps");

static __always_inline u64 hash_mix(u64 hash, u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ (hash >> 32);
}

/* Appends a frame to the record and to its hash. The caller has checked that there is room. */
static __always_inline void frame_add(struct el_scratch *scratch, u64 addr, u8 kind, u8 flags)
{
	struct el_frame *frame = &scratch->frames[scratch->n_frames & EL_MAX_FRAMES];
	u64 form = (u64)kind << 48 | (u64)flags << 56; /* arg and check are 0 */

	frame->addr = addr;
	*(u64 *)&frame->arg = form;
	scratch->hash = hash_mix(scratch->hash, addr ^ form);
	scratch->n_frames++;
}

#endif
