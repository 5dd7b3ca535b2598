/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * User stacks by frame pointers. walk_user() is all that the rest sees of a
 * walker. On both architectures a frame pointer points at {caller's frame
 * pointer, return address}; stacks grow down, so a chain that does not rise is
 * not one. A function without a frame loses its caller: that takes unwind rows.
 *
 * The kernel's own walk reads each frame with a guarded access of its own
 * (56 ns a frame); this one reads a window of the stack when it needs one.
 */
#ifndef EL_WALK_FP_BPF_H
#define EL_WALK_FP_BPF_H

#include "scratch.bpf.h"

#define EL_FRAMES_A_CALL 4
#define EL_CALLS ((EL_MAX_FRAMES + EL_FRAMES_A_CALL) / EL_FRAMES_A_CALL)
/* No frame is larger: an untouched default stack is 8 MiB. */
#define EL_FRAME_LIMIT (8ull << 20)

/* Makes window[] cover the two words at fp; false when they cannot be read. */
static __always_inline bool window_cover(struct el_scratch *scratch, u64 fp)
{
	if (fp - scratch->window_addr <= EL_WINDOW_SIZE - 16)
		return true;
	if (!bpf_probe_read_user(scratch->window, EL_WINDOW_SIZE, (void *)fp)) {
		scratch->window_addr = fp;
		return true;
	}
	/* The window would pass the end of the stack: these two words, at the end of the window. */
	scratch->window_addr = fp - (EL_WINDOW_SIZE - 16);
	return !bpf_probe_read_user(scratch->window + EL_WINDOW_SIZE - 16, 16, (void *)fp);
}

/*
 * The next few frames. A global function, so that the verifier looks at it
 * once and not once for each turn of the loop around it.
 */
__noinline int walk_frames(u32 cpu)
{
	struct el_scratch *scratch = bpf_map_lookup_elem(&scratches, &cpu);
	u64 fp, addr, *words;

	if (!scratch)
		return EL_STACK_END_READ;
	for (int i = 0; i < EL_FRAMES_A_CALL; i++) {
		fp = scratch->fp;
		if (!fp)
			return scratch->end = EL_STACK_END_ROOT;
		if ((fp & 7) || fp < scratch->low || fp - scratch->low > EL_FRAME_LIMIT)
			return scratch->end = EL_STACK_END_FRAME_POINTER;
		if (scratch->n_frames >= EL_MAX_FRAMES)
			return scratch->end = EL_STACK_END_DEPTH;
		if (!window_cover(scratch, fp))
			return scratch->end = EL_STACK_END_READ;
		words = (u64 *)&scratch->window[(fp - scratch->window_addr) & (EL_WINDOW_SIZE - 1)];
		addr = el_arch_return_address(words[1]);
		if (!addr)
			return scratch->end = EL_STACK_END_ROOT;
		/* Code is neither at the very bottom, nor in the kernel, nor on the stack. */
		if (addr < 4096 || addr >= EL_ARCH_USER_END || addr - fp < EL_FRAME_LIMIT)
			return scratch->end = EL_STACK_END_FRAME_POINTER;
		frame_add(scratch, addr, EL_FRAME_NATIVE, EL_FRAME_RETURN);
		scratch->low = fp + 16;
		scratch->fp = words[0];
	}
	return EL_WALKING;
}

/* The callers of the frame that the caller has put into scratch; why it ended. */
static __always_inline u32 walk_user(struct el_scratch *scratch, u32 cpu, u64 sp, u64 fp)
{
	scratch->fp = fp;
	scratch->low = sp < 4096 ? 4096 : sp;
	scratch->window_addr = ~0ull; /* covers nothing that lies above `low` */
	scratch->end = EL_WALKING;
	for (int i = 0; i < EL_CALLS; i++)
		if (walk_frames(cpu) != EL_WALKING)
			break;
	return scratch->end == EL_WALKING ? EL_STACK_END_DEPTH : scratch->end;
}

#endif
