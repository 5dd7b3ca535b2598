/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The accounts of the kernel side: each CPU's counters and its clock, in
 * arrays that user space maps. Only a CPU itself writes its slots.
 */
#ifndef EL_COUNTERS_BPF_H
#define EL_COUNTERS_BPF_H

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, EL_MAX_CPUS);
	__type(key, u32);
	__type(value, struct el_cpu_counters);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, EL_MAX_CPUS);
	__type(key, u32);
	__type(value, struct el_cpu_clock);
} clocks SEC(".maps");

static __always_inline void count(struct el_cpu_counters *on, u32 counter, u64 amount)
{
	on->at[counter & 31] += amount;
}

/* From programs that can be preempted: another task may count on the same CPU meanwhile. */
static __always_inline void count_shared(u32 counter)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct el_cpu_counters *on = bpf_map_lookup_elem(&counters, &cpu);

	if (on)
		__sync_fetch_and_add(&on->at[counter & 31], 1);
}

#endif
