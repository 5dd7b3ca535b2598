/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what /proc tells of a process now, and makes what is known of it
 * agree. Everything is read through one descriptor of /proc/PID, which stays
 * with the process it was opened for: a reused pid cannot slip in between.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/proc_file.h"
#include "user/process/images.h"
#include "user/process/proc_maps.h"

#define MAPS_SIZE_MAX (64u << 20) /* bytes of maps that are read */

/* What one pass over /proc/PID/maps found. */
struct scan {
	struct el_processes *processes;
	struct image *image;
	uint64_t now_ns;
	EL_VEC(struct el_mapping) found; /* ranges only */
};

static int read_stat(int folder, struct el_proc_stat *ret)
{
	int err = el_proc_file_stat(folder, "stat", ret);

	return err && err != -EINVAL ? -ESRCH : err;
}

static int found_mapping(void *context, const struct el_mapping *mapping)
{
	struct scan *scan = context;
	struct image *image = scan->image;
	uint64_t since_ns = image->scan_ns ? image->scan_ns : image->process.from_ns;
	int err;

	if (el_mappings_overlap(&image->mappings, mapping->start, mapping->end))
		since_ns = scan->now_ns;
	err = el_images_map(scan->processes, image, mapping, since_ns, scan->now_ns);
	return err ? err : el_vec_push(&scan->found, *mapping);
}

static int by_start(const void *a, const void *b)
{
	uint64_t x = ((const struct el_mapping *)a)->start;
	uint64_t y = ((const struct el_mapping *)b)->start;

	return (x > y) - (x < y);
}

/* 0 or -errno; *ret_whole tells whether the end of the text was reached. */
static int read_maps(int folder, struct el_proc_maps *maps, bool *ret_whole)
{
	el_auto_fd int fd = openat(folder, "maps", O_RDONLY | O_CLOEXEC);
	el_auto_free char *text = malloc(1 << 16);
	size_t total = 0;

	if (fd < 0)
		return -errno;
	if (!text)
		return -ENOMEM;
	while (total < MAPS_SIZE_MAX) {
		ssize_t got = read(fd, text, 1 << 16);
		int err;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got) {
			*ret_whole = true;
			return 0;
		}
		total += got;
		err = el_proc_maps_feed(maps, text, got);
		if (err)
			return err;
	}
	return 0;
}

static int scan_maps(struct el_processes *processes, struct image *image, int folder,
		     uint64_t now_ns)
{
	struct scan scan = {.processes = processes, .image = image, .now_ns = now_ns};
	struct el_proc_maps maps = {.mapping = found_mapping, .context = &scan};
	bool whole = false;
	int err = el_images_inherit(processes, image);

	if (!err)
		err = read_maps(folder, &maps, &whole);
	/* No memory at all: it is on its way out, and what we know is all there is. */
	if (!err && !maps.read_to)
		err = -ESRCH;
	if (!err) {
		int ended;

		if (scan.found.n)
			qsort(scan.found.at, scan.found.n, sizeof(*scan.found.at), by_start);
		ended = el_mappings_end_missing(&image->mappings, scan.found.at, scan.found.n,
						whole ? UINT64_MAX : maps.read_to, now_ns);
		err = ended < 0 ? ended : 0;
		image->process.generation += ended > 0;
	}
	el_proc_maps_deinit(&maps);
	el_vec_deinit(&scan.found);
	return err;
}

static int scan_cgroup(struct el_processes *processes, struct image *image, int folder)
{
	char text[4096];
	ssize_t n = el_proc_file_read(folder, "cgroup", text, sizeof(text));

	if (n <= 0)
		return 0;
	return el_cgroups_parse(text, n, &processes->strings, &image->process.cgroup);
}

static int scan_names(struct el_processes *processes, struct image *image, int folder)
{
	char text[4096];
	ssize_t n = el_proc_file_read(folder, "comm", text, sizeof(image->process.comm) + 1);

	if (n > 0) {
		n -= text[n - 1] == '\n';
		n = n < 15 ? n : 15;
		memset(image->process.comm, 0, sizeof(image->process.comm));
		memcpy(image->process.comm, text, n);
	}
	return scan_cgroup(processes, image, folder);
}

/* The image that lives under `pid` now; NULL and *ret_err when it is over or memory is. */
static struct image *image_now(struct el_processes *processes, uint32_t pid,
			       const struct el_proc_stat *stat, uint64_t now_ns, int *ret_err)
{
	uint64_t start_ns = stat->start_tick * EL_PROC_TICK_NS;
	uint64_t from_ns =
		start_ns > processes->boot_offset_ns ? start_ns - processes->boot_offset_ns : 0;
	struct image *image = el_images_newest(processes, pid);

	*ret_err = -ESRCH;
	if (image && el_images_same_start(image, start_ns) && image->process.to_ns != EL_NEVER &&
	    image->start_known != EL_START_UNKNOWN)
		return NULL; /* we were told of its exit: a zombie */
	if (!image || image->process.to_ns != EL_NEVER || !el_images_same_start(image, start_ns)) {
		*ret_err = -ENOMEM;
		image = el_images_add(processes, pid, from_ns < now_ns ? from_ns : now_ns);
	}
	if (image && image->start_known == EL_START_UNKNOWN) {
		image->process.key.start_ns = start_ns;
		image->start_known = EL_START_TICK;
	}
	return image;
}

int el_processes_scan(struct el_processes *processes, uint64_t time_ns, uint32_t pid)
{
	struct el_proc_stat stat;
	struct image *image;
	char path[32];
	int err;

	snprintf(path, sizeof(path), "/proc/%u", pid);
	el_auto_fd int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	err = read_stat(folder, &stat);
	if (err)
		return err;
	image = image_now(processes, pid, &stat, time_ns, &err);
	if (!image)
		return err;
	image->process.parent_pid = stat.parent_pid;
	err = scan_names(processes, image, folder);
	if (err)
		return err;
	if (stat.flags & EL_PROC_FLAG_KERNEL_THREAD)
		image->process.kernel_thread = true;
	else
		err = scan_maps(processes, image, folder, time_ns);
	if (err)
		return err;
	image->process.scanned = true;
	image->scan_ns = time_ns;
	return 0;
}

int el_processes_scan_cgroup(struct el_processes *processes, uint32_t id)
{
	struct image *image = el_images_get(processes, id);
	char path[32];

	if (!image || image->process.cgroup)
		return 0;
	snprintf(path, sizeof(path), "/proc/%u", image->process.key.tgid);
	el_auto_fd int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return folder < 0 ? -errno : scan_cgroup(processes, image, folder);
}
