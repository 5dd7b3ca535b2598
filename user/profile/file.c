/* SPDX-License-Identifier: Apache-2.0 */
/* See file.h. */
#include "user/profile/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

#define READ_CHUNK (256u << 10)

/* Why, and what to do about it. */
static const char *advice(int err)
{
	switch (-err) {
	case ENOSPC:
	case EDQUOT:
		return "; free some space or choose another place";
	case EACCES:
	case EPERM:
	case EROFS:
		return "; choose a folder that can be written to";
	case ENOENT:
	case ENOTDIR:
		return "; the folder must exist";
	case EISDIR:
		return "; name a file, not a folder";
	case EFBIG:
		return "; raise the file size limit (ulimit -f)";
	case EMFILE:
		return "; raise the limit of open files (ulimit -n)";
	default:
		return "";
	}
}

static int fail(const char *path, int err, struct el_error *error)
{
	return el_error_set(error, err, "cannot write %s: %s%s", path, strerror(-err), advice(err));
}

static int write_all(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size) {
		ssize_t written = write(fd, at, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		at += written;
		size -= written;
	}
	return 0;
}

static int write_and_sync(int fd, const void *bytes, size_t size)
{
	int err = write_all(fd, bytes, size);

	if (!err && fsync(fd) && errno != EINVAL) /* EINVAL: a file system without it */
		err = -errno;
	return err;
}

/* A name beside `path` that nothing has; made with `make`, which fails with -EEXIST when it is
 * taken. */
static int with_fresh_name(const char *path, int (*make)(const char *name, void *context),
			   void *context, char name[PATH_MAX])
{
	int err = -EEXIST;

	for (unsigned int i = 0; i < 100 && err == -EEXIST; i++) {
		int length = snprintf(name, PATH_MAX, "%s.%ld-%u.tmp", path, (long)getpid(), i);

		if (length >= PATH_MAX)
			return -ENAMETOOLONG;
		err = make(name, context);
	}
	return err;
}

static int make_link(const char *name, void *context)
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", *(int *)context);
	return linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

static int make_file(const char *name, void *context)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return -errno;
	*(int *)context = fd;
	return 0;
}

/* Puts the finished, so far nameless file in its place. */
static int name_file(int fd, const char *path)
{
	char name[PATH_MAX];
	int err = make_link(path, &fd);

	if (err != -EEXIST)
		return err;
	err = with_fresh_name(path, make_link, &fd, name);
	if (!err && rename(name, path)) {
		err = -errno;
		unlink(name);
	}
	return err;
}

/* Where the file system has no nameless files. */
static int replace_by_name(const char *path, const void *bytes, size_t size)
{
	char name[PATH_MAX];
	el_auto_fd int fd = -1;
	int err = with_fresh_name(path, make_file, &fd, name);

	if (err)
		return err;
	err = write_and_sync(fd, bytes, size);
	if (!err && rename(name, path))
		err = -errno;
	if (err)
		unlink(name);
	return err;
}

static int replace_regular(const char *path, const void *bytes, size_t size)
{
	el_auto_free char *copy = strdup(path);
	el_auto_fd int folder = -1;
	el_auto_fd int fd = -1;
	int err;

	if (!copy)
		return -ENOMEM;
	folder = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return -errno;
	fd = openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT)) {
		err = replace_by_name(path, bytes, size);
	} else if (fd < 0) {
		return -errno;
	} else {
		err = write_and_sync(fd, bytes, size);
		if (!err)
			err = name_file(fd, path);
		if (err == -ENOENT) /* no /proc to name it through */
			err = replace_by_name(path, bytes, size);
	}
	if (!err)
		fsync(folder); /* the name too; without it the old file may be back after a crash */
	return err;
}

int el_file_replace(const char *path, const void *bytes, size_t size, struct el_error *error)
{
	el_auto_fd int fd = -1;
	struct stat stat_;
	int err;

	if (stat(path, &stat_) || S_ISREG(stat_.st_mode)) {
		err = replace_regular(path, bytes, size);
	} else if (S_ISDIR(stat_.st_mode)) {
		err = -EISDIR;
	} else {
		fd = open(path, O_WRONLY | O_CLOEXEC);
		err = fd < 0 ? -errno : write_all(fd, bytes, size);
	}
	return err ? fail(path, err, error) : 0;
}

int el_file_write_stdout(const void *bytes, size_t size, struct el_error *error)
{
	int err;

	if (isatty(STDOUT_FILENO))
		return el_error_set(error, -EINVAL,
				    "a profile is no text for a terminal; send it into a pipe or "
				    "name a file with -o");
	err = write_all(STDOUT_FILENO, bytes, size);
	return err ? fail("to stdout", err, error) : 0;
}

/* What can be known before reading: a sparse or endless file costs nothing then. */
static int check_readable(const char *path, int fd, size_t limit, struct el_error *error)
{
	struct stat stat_;

	if (fstat(fd, &stat_))
		return 0;
	if (S_ISCHR(stat_.st_mode) || S_ISBLK(stat_.st_mode))
		return el_error_set(error, -ENXIO, "%s is a device, not a file", path);
	if (S_ISREG(stat_.st_mode) && stat_.st_size > 0 && (uint64_t)stat_.st_size > limit)
		return el_error_set(error, -EFBIG, "%s is larger than %zu MiB", path, limit >> 20);
	return 0;
}

int el_file_read(const char *path, size_t limit, struct el_buffer *ret, struct el_error *error)
{
	bool is_stdin = !strcmp(path, "-");
	el_auto_fd int opened = is_stdin ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	int fd = is_stdin ? STDIN_FILENO : opened;
	size_t first = ret->bytes.n;
	ssize_t part;
	int err;

	if (fd < 0)
		return el_error_set(error, -errno, "cannot open %s: %s", path, strerror(errno));
	err = check_readable(path, fd, limit, error);
	if (err)
		return err;
	do {
		if (ret->bytes.n - first > limit)
			return el_error_set(error, -EFBIG, "%s is larger than %zu MiB", path,
					    limit >> 20);
		if (el_vec_reserve(&ret->bytes, ret->bytes.n + READ_CHUNK))
			return el_error_set(error, -ENOMEM, "not enough memory to read %s", path);
		part = read(fd, ret->bytes.at + ret->bytes.n, READ_CHUNK);
		if (part < 0 && errno != EINTR)
			return el_error_set(error, -errno, "cannot read %s: %s", path,
					    strerror(errno));
		if (part > 0)
			ret->bytes.n += part;
	} while (part);
	return 0;
}
