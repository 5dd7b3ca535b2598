/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * x86_64: the kernel's types, and its registers in neutral terms. The context
 * of a perf_event program has the UAPI layout (asm/ptrace.h) whatever the
 * kernel's own struct looks like, and must be read as 64-bit words.
 */
#ifndef EL_VMLINUX_H
#define EL_VMLINUX_H

#include "../kernel.h"

/* The same layout in the context and on the kernel stack; not relocated. */
struct el_arch_regs {
	u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	u64 orig_ax; /* number of the system call, -1 outside of one */
	u64 ip;
	u64 cs; /* from kernel 6.9 on only the low 16 bits are the selector */
	u64 flags, sp, ss;
};

struct bpf_perf_event_data {
	struct el_arch_regs regs;
	u64 sample_period;
	u64 addr;
};

#define el_arch_pc(regs) ((regs)->ip)
#define el_arch_sp(regs) ((regs)->sp)
#define el_arch_fp(regs) ((regs)->bp)
#define el_arch_user_mode(regs) (((regs)->cs & 3) == 3)
/* __USER32_CS */
#define el_arch_compat(regs) (((regs)->cs & 0xffff) == 0x23)
#define el_arch_in_syscall(regs) ((s32)(regs)->orig_ax != -1)
#define el_arch_return_address(addr) (addr)
/* Five-level page tables: 56 bits of user space. */
#define EL_ARCH_USER_END (1ull << 56)
/* Stores are seen by other CPUs in program order. */
#define el_arch_publish(counter) (*(volatile u64 *)&(counter) += 1)

#endif
