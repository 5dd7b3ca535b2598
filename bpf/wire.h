/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What the BPF programs and user space say to each other: records of the
 * ring buffer, frames, counters and the shared arrays. A leaf that both sides
 * include; it needs fixed-width integer types (vmlinux.h or stdint.h) and
 * nothing else. All times are CLOCK_MONOTONIC nanoseconds, all integers are of
 * the machine's byte order, all structures are free of padding.
 */
#ifndef EL_BPF_WIRE_H
#define EL_BPF_WIRE_H

#ifndef __bpf__
#include <stdint.h>
#else
typedef __u8 uint8_t;
typedef __u16 uint16_t;
typedef __u32 uint32_t;
typedef __u64 uint64_t;
#endif

#define EL_MAX_FRAMES 127         /* of one stack record, user or kernel */
#define EL_MAX_CPUS 1024          /* slots of the per-CPU arrays */
#define EL_KNOWN_STACKS (1 << 16) /* slots of the lossy array of stack IDs already sent */

enum el_record_type {
	EL_RECORD_SAMPLE = 1,
	EL_RECORD_STACK = 2,
	EL_RECORD_CODE_OBJECT = 3, /* an interpreter's function, at first sight */
	EL_RECORD_STACK_COPY = 4,  /* registers and raw stack bytes, unwound in user space */
};

struct el_record_header {
	uint32_t type; /* enum el_record_type */
	uint32_t size; /* of the whole record, bytes */
};

/* A process between two execs. exec keeps (tgid, start), so exec_id tells the images apart. */
struct el_image_key {
	uint32_t tgid;     /* of the initial PID namespace */
	uint32_t exec_id;  /* task_struct.self_exec_id */
	uint64_t start_ns; /* group leader's start_boottime: /proc/PID/stat field 22, in ns */
};

enum el_sample_flags {
	EL_SAMPLE_KERNEL_MODE = 1 << 0,   /* the tick interrupted kernel code */
	EL_SAMPLE_SYSCALL = 1 << 1,       /* and the task was inside a system call */
	EL_SAMPLE_KERNEL_THREAD = 1 << 2, /* no user stack to be had */
	EL_SAMPLE_MM_CHANGED =
		1 << 3, /* mm->exec_vm differs from the last sample's: re-read the mappings */
	EL_SAMPLE_STACK_LOST =
		1 << 4, /* a body of its stacks found the ring full; a later sample may bring it */
};

/* One tick of a clock, or one overflow of a counter. */
struct el_record_sample {
	struct el_record_header header;
	struct el_image_key image;
	uint32_t tid;
	uint32_t cpu;
	uint64_t cgroup_id;
	uint64_t time_ns;
	uint64_t weight; /* clock: ns since the previous tick on this CPU; counter: its period */
	uint64_t user_stack;   /* ID of a stack record, 0: none */
	uint64_t kernel_stack; /* likewise */
	uint16_t event;        /* index of the event source */
	uint16_t flags;        /* enum el_sample_flags */
	uint32_t reserved;
	char comm[16]; /* the thread's, NUL-padded; any bytes */
};

/* X(name, sentence): why a walk ended. */
#define EL_STACK_ENDS(X)                                                                           \
	X(ROOT, "the root of the stack was reached")                                               \
	X(DEPTH, "deeper than the frames kept")                                                    \
	X(READ, "stack memory could not be read")                                                  \
	X(FRAME_POINTER, "no plausible frame pointer")                                             \
	X(NO_USER, "no user registers")                                                            \
	X(COMPAT, "a 32-bit task")

enum el_stack_end {
#define X(name, sentence) EL_STACK_END_##name,
	EL_STACK_ENDS(X)
#undef X
		EL_N_STACK_ENDS
};

enum el_frame_kind {
	EL_FRAME_NATIVE = 1, /* addr: user address, ELF or JIT code */
	EL_FRAME_KERNEL = 2, /* addr: kernel address */
	EL_FRAME_PYTHON = 3, /* addr: code object, arg: instruction, check: hash */
};

enum el_frame_flags {
	EL_FRAME_RETURN = 1 << 0,  /* addr is a return address: the call is before it */
	EL_FRAME_EXACT = 1 << 1,   /* addr is the very instruction (fault, signal, counter) */
	EL_FRAME_DERIVED = 1 << 2, /* found through rows derived from machine code */
	/* neither RETURN nor EXACT: a clock's leaf, late by one instruction */
};

struct el_frame {
	uint64_t addr;
	uint32_t arg;
	uint16_t check;
	uint8_t kind;  /* enum el_frame_kind */
	uint8_t flags; /* enum el_frame_flags */
};

/* The body of a stack ID, sent before (or, after an overwrite in `known`, again with) a sample.
 * Leaf first. */
struct el_record_stack {
	struct el_record_header header;
	uint64_t id;               /* seeded hash over image key and frames; never 0 */
	struct el_image_key image; /* zero for kernel stacks */
	uint16_t n_frames;
	uint8_t end;    /* enum el_stack_end */
	uint8_t kernel; /* 1: a kernel stack */
	uint32_t reserved;
	struct el_frame frames[];
};

/*
 * Counters, per CPU, in a mmapable array of struct el_cpu_counters.
 * X(name, unit, sentence). "ns" counters are sums of weights of clock ticks,
 * "n" counters count ticks or events of every source.
 * Law: ELAPSED = IDLE + FILTERED + KEPT + LOST_RING + LATE (ns, clock source),
 *      RAN = RAN_IDLE + RAN_FILTERED + RAN_KEPT + RAN_LOST_RING (all sources).
 */
#define EL_COUNTERS(X)                                                                             \
	X(ELAPSED, "ns", "time between ticks")                                                     \
	X(IDLE, "ns", "the CPU was idle")                                                          \
	X(FILTERED, "ns", "not a target")                                                          \
	X(KEPT, "ns", "sent to user space")                                                        \
	X(LOST_RING, "ns", "lost: ring buffer full")                                               \
	X(LATE, "ns", "gaps no period explains: CPU parked, timer late")                           \
	X(RAN, "n", "ticks and events that ran the program")                                       \
	X(RAN_IDLE, "n", "of them on an idle CPU")                                                 \
	X(RAN_FILTERED, "n", "of them not of a target")                                            \
	X(RAN_KEPT, "n", "of them sent to user space")                                             \
	X(RAN_LOST_RING, "n", "of them lost: ring buffer full")                                    \
	X(STACK_LOST_RING, "n", "stack bodies not sent: ring buffer full")                         \
	X(STACK_SENT, "n", "stack bodies sent")                                                    \
	X(TARGET_FULL, "n", "children not followed: target table full")                            \
	X(CLOCK_BACKWARDS, "n", "ticks whose time was before the previous one")                    \
	X(END_ROOT, "n", "user stacks walked to the root")                                         \
	X(END_DEPTH, "n", "user stacks cut at the depth limit")                                    \
	X(END_READ, "n", "user stacks cut: memory not readable")                                   \
	X(END_FRAME_POINTER, "n", "user stacks cut: no plausible frame pointer")                   \
	X(END_NO_USER, "n", "samples without user registers")                                      \
	X(END_COMPAT, "n", "32-bit tasks, not walked")

enum el_counter {
#define X(name, unit, sentence) EL_COUNTER_##name,
	EL_COUNTERS(X)
#undef X
		EL_N_COUNTERS
};

struct el_cpu_counters {
	uint64_t at[32]; /* indexed by enum el_counter; a power of two for the verifier */
};

/*
 * A CPU's clock, in a mmapable array beside the counters. User space sets
 * last_ns to the time it enables the event. `changes` is odd while a tick is
 * being booked: whoever reads counters of a running CPU reads it before and
 * after, and again when it was odd or has changed.
 */
struct el_cpu_clock {
	uint64_t last_ns; /* of the previous tick */
	uint64_t changes;
	uint64_t reserved[6]; /* a cache line for each CPU */
};

/* A target of the filter; in a hash by tgid. */
enum el_target_state {
	EL_TARGET_ACTIVE = 1,
	EL_TARGET_AWAITS_EXEC = 2, /* our own child before its exec: not yet sampled */
};

struct el_target {
	uint64_t start_ns; /* start_boottime of the group leader; 0: not known, any */
	uint32_t state;    /* enum el_target_state */
	uint32_t reserved;
};

#define EL_MAX_TARGETS 16384

_Static_assert(sizeof(struct el_cpu_clock) == 64, "one cache line");
_Static_assert(EL_N_COUNTERS <= 32, "el_cpu_counters is too small");
_Static_assert(sizeof(struct el_frame) == 16, "a frame is 16 bytes");
_Static_assert(sizeof(struct el_record_sample) % 8 == 0, "records keep the ring aligned");
_Static_assert(sizeof(struct el_record_stack) % 8 == 0, "records keep the ring aligned");

#endif
