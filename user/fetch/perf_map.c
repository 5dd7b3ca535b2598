/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The perf map of a process (Linux, tools/perf/Documentation/jit-interface.txt):
 * /tmp/perf-PID.map, where the pid is that of its own namespace and /tmp that
 * of its own root. Anyone can put a file of that name into /tmp, and maps of
 * earlier processes stay behind: so owner, age and kind are judged.
 */
#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/time.h"
#include "user/fetch/fetcher.h"
#include "user/fetch/files.h"
#include "user/fetch/safe_open.h"

/* File times are those of the last timer tick, up to 10 ms ago. */
#define CLOCK_SLACK_NS 20000000
/* Beyond this, a file that occupies less than a part of its size is holes. */
#define SPARSE_FROM (1 << 20)
#define SPARSE_PART 64

/* Whether the file's last change was before the process began. */
static bool is_older(const struct stat *stat, uint64_t start_ns)
{
	int64_t changed_ns = stat->st_mtim.tv_sec * (int64_t)EL_NS_PER_S + stat->st_mtim.tv_nsec;
	uint64_t boot_wall_ns = el_clock_ns(CLOCK_REALTIME) - el_clock_ns(CLOCK_BOOTTIME);

	return changed_ns < (int64_t)(boot_wall_ns + start_ns) - CLOCK_SLACK_NS;
}

static int judge(int pointer, const struct el_fetch_target *target)
{
	struct stat stat;
	int err = el_judge_regular(pointer, EL_FETCH_PERF_MAP_MAX, &stat);

	if (err)
		return err;
	if (stat.st_uid != target->user && stat.st_uid != 0)
		return -EACCES;
	if (stat.st_size > SPARSE_FROM && stat.st_blocks < stat.st_size / SPARSE_PART / 512)
		return -EACCES;
	return is_older(&stat, target->start_ns) ? -ESTALE : 0;
}

int el_fetch_perf_map(const struct el_fetch_target *target)
{
	char name[32];
	int err;

	if (!target->known || target->root < 0)
		return -ENOENT;
	/* /tmp itself may be a link of its image; what is in it may not. */
	el_auto_fd int folder = el_point_folder(target->root, "/tmp");
	if (folder < 0)
		return folder;
	snprintf(name, sizeof(name), "perf-%u.map", target->pid_inside);
	el_auto_fd int pointer = el_point_plain(folder, name);
	if (pointer < 0)
		return pointer;
	err = judge(pointer, target);
	return err ? err : el_open_pointed(pointer);
}
