/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The kernel types that the BPF programs read, and only their fields that are
 * read: offsets and widths are fixed up at load time from the running
 * kernel's BTF (CO-RE). Constants are those of the kernel's UAPI (linux/bpf.h,
 * linux/sched.h), spelled out so that a build needs no kernel headers.
 * Included through the architecture's vmlinux.h.
 */
#ifndef EL_KERNEL_H
#define EL_KERNEL_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef _Bool bool;

#define true 1
#define false 0

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_ANY = 0,
	BPF_F_MMAPABLE = 1 << 10,
};

enum {
	BPF_RB_NO_WAKEUP = 1 << 0,
	BPF_RB_FORCE_WAKEUP = 1 << 1,
	BPF_RB_AVAIL_DATA = 0,
};

#define PF_KTHREAD 0x00200000

#define EL_CORE __attribute__((preserve_access_index))

struct mm_struct {
	unsigned long exec_vm; /* pages of executable mappings */
} EL_CORE;

struct task_struct {
	unsigned int flags;
	int pid;
	int tgid;
	u64 self_exec_id;   /* counts execs of this task; inherited by fork */
	u64 start_boottime; /* ns */
	struct task_struct *group_leader;
	struct mm_struct *mm;
} EL_CORE;

#endif
