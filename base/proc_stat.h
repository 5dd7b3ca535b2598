/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of /proc/PID/stat (proc(5)) that tell one process from the next.
 * The text comes from the kernel, but the name in it is the process's own and
 * may hold any byte, so everything is counted from the last ')'.
 */
#ifndef EL_BASE_PROC_STAT_H
#define EL_BASE_PROC_STAT_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct el_proc_stat {
	uint32_t parent_pid; /* field 4 */
	uint32_t flags;      /* field 9, PF_* of the kernel */
	uint64_t start_tick; /* field 22: since boot, in ticks of EL_PROC_TICK_NS */
};

/* USER_HZ is 100 on every architecture with a kernel we run on. */
#define EL_PROC_TICK_NS 10000000ull
#define EL_PROC_FLAG_KERNEL_THREAD 0x00200000u /* PF_KTHREAD */

/* The decimal number at *at, which is moved behind it and one blank. */
static inline uint64_t el_proc_stat_number(const char **at, const char *end)
{
	uint64_t value = 0;

	if (*at < end && **at == '-') /* such a field is not asked for */
		(*at)++;
	for (; *at < end && **at >= '0' && **at <= '9'; (*at)++)
		value = value * 10 + (uint64_t)(**at - '0');
	if (*at < end && **at == ' ')
		(*at)++;
	return value;
}

/* 0, or -EINVAL when a field is missing. */
static inline int el_proc_stat_parse(const char *text, size_t size, struct el_proc_stat *ret)
{
	const char *end = text + size;
	const char *at = memrchr(text, ')', size);
	struct el_proc_stat stat = {0};

	if (!at || end - at < 4)
		return -EINVAL;
	at += 4; /* ") S ": field 3 is one letter */
	for (int field = 4; field <= 22; field++) {
		uint64_t value;

		if (at >= end)
			return -EINVAL;
		value = el_proc_stat_number(&at, end);
		if (field == 4)
			stat.parent_pid = (uint32_t)value;
		else if (field == 9)
			stat.flags = (uint32_t)value;
		else if (field == 22)
			stat.start_tick = value;
	}
	*ret = stat;
	return 0;
}

#endif
