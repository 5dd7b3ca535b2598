/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * aarch64: the kernel's types, and its registers in neutral terms. The first
 * words of the kernel's pt_regs are the UAPI's user_pt_regs, which is also
 * the context of a perf_event program; orig_x0 and syscallno follow it on the
 * kernel stack alone, so only registers of bpf_task_pt_regs() may be asked
 * el_arch_in_syscall().
 */
#ifndef EL_VMLINUX_H
#define EL_VMLINUX_H

#include "../kernel.h"

struct el_arch_regs {
	u64 regs[31];
	u64 sp, pc, pstate;
	u64 orig_x0;
	s32 syscallno; /* -1 outside of a system call; little-endian kernels */
	u32 unused;
};

struct el_arch_context_regs {
	u64 regs[31];
	u64 sp, pc, pstate;
};

struct bpf_perf_event_data {
	struct el_arch_context_regs regs;
	u64 sample_period;
	u64 addr;
};

#define el_arch_pc(r) ((r)->pc)
#define el_arch_sp(r) ((r)->sp)
#define el_arch_fp(r) ((r)->regs[29])
/* PSR_MODE_MASK without the 32-bit bit: EL0 */
#define el_arch_user_mode(r) (((r)->pstate & 0xf) == 0)
/* PSR_MODE32_BIT */
#define el_arch_compat(r) (((r)->pstate & 0x10) != 0)
#define el_arch_in_syscall(r) ((r)->syscallno != -1)
/* Pointer authentication signs the bits above a 48-bit address. */
#define el_arch_return_address(addr) ((addr) & ((1ull << 48) - 1))
#define EL_ARCH_USER_END (1ull << 52)
/* Ordered against the stores around it: an atomic that returns its value is a full barrier. */
#define el_arch_publish(counter) ((void)__sync_fetch_and_add(&(counter), 1))

#endif
