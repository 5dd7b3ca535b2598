/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What runs at a tick of the clock or an overflow of a counter: book the time,
 * drop what is not a target, walk the stacks, send a sample. Every way out
 * books the weight in exactly one counter, so the laws of wire.h are exact.
 * The options are read-only data: what an option turns off is not even loaded.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf/wire.h"

const volatile uint64_t option_seed;        /* of the stack IDs */
const volatile uint64_t option_ring_half;   /* bytes waiting in the ring that are worth a wake-up */
const volatile uint64_t option_longest_gap; /* ns; of the clock. What is beyond is late */
const volatile uint64_t option_period;      /* ns, or a count */
const volatile uint8_t option_clock;
const volatile uint8_t option_all;
const volatile uint8_t option_user_only;
const volatile uint8_t option_exact;

#include "counters.bpf.h"
#include "targets.bpf.h"
#include "stacks.bpf.h"

#define EL_IMAGES_SEEN 4096

/* mm->exec_vm at an image's last sample, under the image's tag: lossy, a lost one flags nothing. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, EL_IMAGES_SEEN);
	__type(key, u32);
	__type(value, u64);
} images_seen SEC(".maps");

/* Where user code stands. */
struct user_regs {
	u64 pc, sp, fp;
	u8 leaf_flags; /* enum el_frame_flags */
	bool known, compat;
};

/* Books the time since the CPU's previous tick; what of it the sample weighs. */
static __always_inline u64 tick_weight(struct el_cpu_clock *clock, struct el_cpu_counters *on,
				       u64 now)
{
	u64 elapsed, weight;

	if (!option_clock)
		return option_period;
	if (now < clock->last_ns) {
		count(on, EL_COUNTER_CLOCK_BACKWARDS, 1);
		return 0;
	}
	elapsed = now - clock->last_ns;
	/*
	 * After a gap that no period explains (the CPU was parked, or its timer held
	 * up) nobody knows who had the time: the tick weighs what a tick does.
	 */
	weight = elapsed > option_longest_gap ? option_period : elapsed;
	clock->last_ns = now;
	count(on, EL_COUNTER_ELAPSED, elapsed);
	count(on, EL_COUNTER_LATE, elapsed - weight);
	return weight;
}

/* A tick has one outcome: its time and its number go to that outcome's two counters. */
static __always_inline int outcome(struct el_cpu_counters *on, u32 ns_counter, u32 n_counter,
				   u64 weight)
{
	if (option_clock)
		count(on, ns_counter, weight);
	count(on, n_counter, 1);
	return 0;
}

static __always_inline bool mappings_changed(const struct el_image_key *image, struct mm_struct *mm)
{
	u64 tag = hash_mix(image->start_ns, (u64)image->exec_id << 32 | image->tgid) >> 32 << 32;
	u32 key = (tag >> 40) & (EL_IMAGES_SEEN - 1), exec_vm = mm->exec_vm;
	u64 *slot = bpf_map_lookup_elem(&images_seen, &key), before;

	if (!slot || *slot == (tag | exec_vm))
		return false;
	before = *slot;
	*slot = tag | exec_vm;
	return (before >> 32 << 32) == tag;
}

static __always_inline void read_user_regs(struct bpf_perf_event_data *context,
					   struct task_struct *task, bool kernel_mode,
					   struct user_regs *ret, u16 *sample_flags)
{
	struct el_arch_regs regs;

	if (!kernel_mode) {
		ret->pc = el_arch_pc(&context->regs);
		ret->sp = el_arch_sp(&context->regs);
		ret->fp = el_arch_fp(&context->regs);
		ret->compat = el_arch_compat(&context->regs);
		ret->leaf_flags = option_exact ? EL_FRAME_EXACT : 0;
		ret->known = true;
		return;
	}
	if (bpf_probe_read_kernel(&regs, sizeof(regs), (void *)bpf_task_pt_regs(task)))
		return;
	if (!el_arch_user_mode(
		    &regs)) /* not yet been in user mode, or a kernel worker of the process */
		return;
	ret->pc = el_arch_pc(&regs);
	ret->sp = el_arch_sp(&regs);
	ret->fp = el_arch_fp(&regs);
	ret->compat = el_arch_compat(&regs);
	/* After a system call the pc is behind its instruction; after a fault it is the
	 * instruction. */
	ret->leaf_flags = EL_FRAME_EXACT;
	if (el_arch_in_syscall(&regs)) {
		ret->leaf_flags = EL_FRAME_RETURN;
		*sample_flags |= EL_SAMPLE_SYSCALL;
	}
	ret->known = true;
}

static __always_inline u64 stack_of_user(struct el_scratch *scratch, struct el_cpu_counters *on,
					 u32 cpu, const struct el_image_key *image,
					 const struct user_regs *regs, u16 *sample_flags)
{
	u32 end = EL_STACK_END_COMPAT;

	if (!regs->known || !regs->pc) {
		count(on, EL_COUNTER_END_NO_USER, 1);
		return 0;
	}
	stack_begin(scratch, image);
	frame_add(scratch, regs->pc, EL_FRAME_NATIVE, regs->leaf_flags);
	if (!regs->compat)
		end = walk_user(scratch, cpu, regs->sp, regs->fp);
	count(on, EL_COUNTER_END_ROOT + end, 1);
	return stack_send(scratch, on, end, false, sample_flags);
}

static __always_inline int send_sample(struct bpf_perf_event_data *context,
				       struct el_cpu_counters *on, u32 cpu, u64 now, u64 weight)
{
	struct task_struct *task = bpf_get_current_task_btf(), *leader = task->group_leader;
	struct el_image_key image = {
		.tgid = task->tgid,
		.exec_id = task->self_exec_id,
		.start_ns = leader->start_boottime,
	};
	bool kernel_mode = !el_arch_user_mode(&context->regs);
	struct mm_struct *mm = task->mm;
	struct el_record_sample *sample;
	struct user_regs regs = {};
	struct el_scratch *scratch;
	u64 user_stack = 0, kernel_stack = 0;
	u16 flags = kernel_mode ? EL_SAMPLE_KERNEL_MODE : 0;

	if (task->flags & PF_KTHREAD)
		flags |= EL_SAMPLE_KERNEL_THREAD;
	else if (mm && mappings_changed(&image, mm))
		flags |= EL_SAMPLE_MM_CHANGED;
	if (!(flags & EL_SAMPLE_KERNEL_THREAD) && mm)
		read_user_regs(context, task, kernel_mode, &regs, &flags);
	scratch = bpf_map_lookup_elem(&scratches, &cpu);
	if (scratch) {
		user_stack = stack_of_user(scratch, on, cpu, &image, &regs, &flags);
		if (kernel_mode && !option_user_only)
			kernel_stack = stack_of_kernel(context, scratch, on, &flags);
	}
	sample = bpf_ringbuf_reserve(&records, sizeof(*sample), 0);
	if (!sample)
		return outcome(on, EL_COUNTER_LOST_RING, EL_COUNTER_RAN_LOST_RING, weight);
	sample->header.type = EL_RECORD_SAMPLE;
	sample->header.size = sizeof(*sample);
	sample->image = image;
	sample->tid = task->pid;
	sample->cpu = cpu;
	sample->cgroup_id = bpf_get_current_cgroup_id();
	sample->time_ns = now;
	sample->weight = weight;
	sample->user_stack = user_stack;
	sample->kernel_stack = kernel_stack;
	sample->event = 0;
	sample->flags = flags;
	sample->reserved = 0;
	bpf_get_current_comm(sample->comm, sizeof(sample->comm));
	bpf_ringbuf_submit(sample, BPF_RB_NO_WAKEUP);
	return outcome(on, EL_COUNTER_KEPT, EL_COUNTER_RAN_KEPT, weight);
}

static __always_inline int take_tick(struct bpf_perf_event_data *context,
				     struct el_cpu_counters *on, u32 cpu, u64 now, u64 weight)
{
	u32 tgid = bpf_get_current_pid_tgid() >> 32;

	if (!tgid)
		return outcome(on, EL_COUNTER_IDLE, EL_COUNTER_RAN_IDLE, weight);
	if (!option_all && !is_target(tgid))
		return outcome(on, EL_COUNTER_FILTERED, EL_COUNTER_RAN_FILTERED, weight);
	if (option_user_only && !el_arch_user_mode(&context->regs))
		return outcome(on, EL_COUNTER_FILTERED, EL_COUNTER_RAN_FILTERED, weight);
	return send_sample(context, on, cpu, now, weight);
}

SEC("perf_event")
int on_tick(struct bpf_perf_event_data *context)
{
	u64 now = bpf_ktime_get_ns(), weight;
	u32 cpu = bpf_get_smp_processor_id();
	struct el_cpu_counters *on = bpf_map_lookup_elem(&counters, &cpu);
	struct el_cpu_clock *clock = bpf_map_lookup_elem(&clocks, &cpu);

	if (!on || !clock) /* user space refuses machines with so many CPUs */
		return 0;
	el_arch_publish(clock->changes);
	count(on, EL_COUNTER_RAN, 1);
	weight = tick_weight(clock, on, now);
	take_tick(context, on, cpu, now, weight);
	el_arch_publish(clock->changes);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
