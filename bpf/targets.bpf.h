/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The target set lives in the kernel: a child of a target is one before it
 * runs, our own child becomes one by its exec, and a target ends when its
 * last task is freed, so that the time of its teardown is still counted.
 * The programs are not loaded when the whole machine is recorded.
 */
#ifndef EL_TARGETS_BPF_H
#define EL_TARGETS_BPF_H

struct {
	__uint(type, BPF_MAP_TYPE_HASH); /* preallocated: no failure but a full table */
	__uint(max_entries, EL_MAX_TARGETS);
	__type(key, u32);
	__type(value, struct el_target);
} targets SEC(".maps");

static __always_inline bool is_target(u32 tgid)
{
	struct el_target *target = bpf_map_lookup_elem(&targets, &tgid);

	return target && target->state == EL_TARGET_ACTIVE;
}

/* BPF_PROG names a context that these do not need. */
#pragma clang diagnostic ignored "-Wunused-parameter"

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct el_target target = {.state = EL_TARGET_ACTIVE};
	u32 from = parent->tgid, to = child->tgid;

	if (from == to) /* a thread */
		return 0;
	target.start_ns = child->start_boottime;
	if (!is_target(from))
		bpf_map_delete_elem(&targets,
				    &to); /* its id was a target's whose free is still due */
	else if (bpf_map_update_elem(&targets, &to, &target, BPF_ANY))
		count_shared(EL_COUNTER_TARGET_FULL);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
	u32 tgid = task->tgid;
	struct el_target *target = bpf_map_lookup_elem(&targets, &tgid);

	if (target)
		target->state = EL_TARGET_ACTIVE;
	return 0;
}

SEC("tp_btf/sched_process_free")
int BPF_PROG(on_free, struct task_struct *task)
{
	u32 tgid = task->tgid;
	struct el_target *target;

	/* The leader is freed last; after an exec by another thread the old leader has that
	 * thread's id. */
	if (task->pid != task->tgid)
		return 0;
	target = bpf_map_lookup_elem(&targets, &tgid);
	if (target && (!target->start_ns || target->start_ns == task->start_boottime))
		bpf_map_delete_elem(&targets, &tgid);
	return 0;
}

#endif
