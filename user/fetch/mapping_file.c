/* SPDX-License-Identifier: Apache-2.0 */
/* The file behind a mapping; see files.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "user/fetch/fetcher.h"
#include "user/fetch/files.h"
#include "user/fetch/safe_open.h"

#define DELETED " (deleted)"

/* `path` without the kernel's mark of an unlinked file; false when it has none. */
static bool without_mark(const char *path, char *bare, size_t size)
{
	size_t n = strlen(path), mark = strlen(DELETED);

	if (n <= mark || strcmp(path + n - mark, DELETED) || n - mark >= size)
		return false;
	memcpy(bare, path, n - mark);
	bare[n - mark] = '\0';
	return true;
}

static bool same_name(const char *a, const char *b)
{
	char bare_a[PATH_MAX], bare_b[PATH_MAX];
	const char *slash_a, *slash_b;

	a = without_mark(a, bare_a, sizeof(bare_a)) ? bare_a : a;
	b = without_mark(b, bare_b, sizeof(bare_b)) ? bare_b : b;
	slash_a = strrchr(a, '/');
	slash_b = strrchr(b, '/');
	return !strcmp(slash_a ? slash_a : a, slash_b ? slash_b : b);
}

/*
 * Whether the file is the mapped one, as far as can be told. Btrfs and overlay
 * show one device in /proc/PID/maps and another one in stat(2), the latter
 * also another inode.
 */
static int judge_identity(int pointer, const struct stat *stat, const struct el_mapping *mapping)
{
	struct statfs fs;

	if (!mapping->inode ||
	    (stat->st_ino == mapping->inode && major(stat->st_dev) == mapping->dev_major &&
	     minor(stat->st_dev) == mapping->dev_minor))
		return 0;
	if (fstatfs(pointer, &fs))
		return -errno;
	if (fs.f_type == OVERLAYFS_SUPER_MAGIC)
		return 0;
	if (fs.f_type == BTRFS_SUPER_MAGIC && stat->st_ino == mapping->inode)
		return 0;
	return -ESTALE;
}

static int open_judged(int pointer, const struct el_mapping *mapping)
{
	struct stat stat;
	int err = el_judge_regular(pointer, EL_FETCH_FILE_MAX, &stat);

	if (!err)
		err = judge_identity(pointer, &stat, mapping);
	return err ? err : el_open_pointed(pointer);
}

/* /proc/PID/map_files/START-END leads to the very file, whatever its path leads to now. */
static int open_mapped(const struct el_fetch_target *target, const struct el_mapping *mapping)
{
	char link[64], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "map_files/%llx-%llx", (unsigned long long)mapping->start,
		 (unsigned long long)mapping->end);
	n = readlinkat(target->proc, link, path, sizeof(path) - 1);
	if (n < 0)
		return -errno;
	path[n] = '\0';
	/* The range may hold something else by now. */
	if (!same_name(path, mapping->path))
		return -ENOENT;
	el_auto_fd int pointer = openat(target->proc, link, O_PATH | O_CLOEXEC);
	if (pointer < 0)
		return -errno;
	return open_judged(pointer, mapping);
}

static int open_path(int root, const char *path, const struct el_mapping *mapping)
{
	el_auto_fd int pointer = el_point_in_root(root, path);

	return pointer < 0 ? pointer : open_judged(pointer, mapping);
}

static int open_in_root(int root, const struct el_mapping *mapping)
{
	char bare[PATH_MAX];
	int fd = open_path(root, mapping->path, mapping);

	/* "x (deleted)" may be the file's own name; most often it is the kernel's mark. */
	if (fd < 0 && without_mark(mapping->path, bare, sizeof(bare))) {
		int err = open_path(root, bare, mapping);

		fd = err == -ENOENT ? fd : err;
	}
	return fd;
}

int el_fetch_mapping_file(const struct el_fetch_targets *targets,
			  const struct el_fetch_target *target, const struct el_mapping *mapping)
{
	bool can_tell = mapping->inode || mapping->build_id_size;
	int fd = -ENOENT;

	if (!(mapping->flags & EL_MAPPING_FILE) || mapping->path[0] != '/')
		return -ENOENT;
	if (target->proc >= 0) {
		fd = open_mapped(target, mapping);
		if (fd >= 0 && el_fetch_target_lives(target))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	fd = target->root >= 0 ? open_in_root(target->root, mapping) : -ENOENT;
	if (fd != -ENOENT)
		return fd;
	/* From here a chroot was scanned from outside, or nobody knows what its root was. */
	if (target->known ? target->host_namespace : can_tell)
		return open_in_root(targets->host_root, mapping);
	return -ENOENT;
}
