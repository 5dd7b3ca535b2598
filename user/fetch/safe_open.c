/* SPDX-License-Identifier: Apache-2.0 */
/* See safe_open.h; openat2(2) is Linux 5.6. */
#include "user/fetch/safe_open.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static int point(int folder, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC | flags, .resolve = resolve};
	int fd, tries = 0;

	/* EAGAIN: something was renamed meanwhile, and ".." could not be proved to stay inside. */
	do
		fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));
	while (fd < 0 && (errno == EINTR || (errno == EAGAIN && tries++ < 10)));
	if (fd >= 0)
		return fd;
	/* A link that leads out, or is none to follow; a folder that is a file. */
	return errno == ELOOP || errno == EXDEV ? -EACCES : errno == ENOTDIR ? -ENOENT : -errno;
}

int el_point_in_root(int root, const char *path)
{
	return point(root, path, 0, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

int el_point_folder(int root, const char *path)
{
	return point(root, path, O_DIRECTORY, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

int el_point_plain(int folder, const char *name)
{
	return point(folder, name, 0, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

int el_judge_regular(int pointer, uint64_t size_max, struct stat *ret)
{
	struct stat stat;

	if (fstat(pointer, &stat))
		return -errno;
	if (!S_ISREG(stat.st_mode) || stat.st_size < 0 || (uint64_t)stat.st_size > size_max)
		return -EACCES;
	*ret = stat;
	return 0;
}

int el_open_pointed(int pointer)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", pointer);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}
