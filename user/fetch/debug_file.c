/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Separate debug files, where gdb looks for them too ("Debugging Information
 * in Separate Files"): by build ID under /usr/lib/debug/.build-id, by
 * .gnu_debuglink beside the object, in its .debug and under /usr/lib/debug.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "user/fetch/fetcher.h"
#include "user/fetch/files.h"
#include "user/fetch/safe_open.h"

static int open_regular(int root, const char *path)
{
	el_auto_fd int pointer = el_point_in_root(root, path);
	struct stat stat;
	int err = pointer < 0 ? pointer : el_judge_regular(pointer, EL_FETCH_FILE_MAX, &stat);

	return err ? err : el_open_pointed(pointer);
}

static int open_by_build_id(int root, const uint8_t *build_id, size_t size)
{
	char path[64 + 2 * EL_BUILD_ID_MAX];
	size_t n;

	if (size < 2 || size > EL_BUILD_ID_MAX)
		return -ENOENT;
	n = (size_t)snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%02x/", build_id[0]);
	for (size_t i = 1; i < size; i++)
		n += (size_t)snprintf(path + n, sizeof(path) - n, "%02x", build_id[i]);
	snprintf(path + n, sizeof(path) - n, ".debug");
	return open_regular(root, path);
}

/* The link is a name beside the object, and nothing else: it comes from the object. */
static bool is_plain_name(const char *name)
{
	return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static int open_by_link(int root, const char *object_path, const char *name)
{
	static const char *const forms[] = {"%.*s/%s", "%.*s/.debug/%s", "/usr/lib/debug%.*s/%s"};
	const char *slash = strrchr(object_path, '/');
	int fd = -ENOENT;

	if (!slash || *object_path != '/' || !is_plain_name(name))
		return -ENOENT;
	for (size_t i = 0; fd < 0 && i < sizeof(forms) / sizeof(*forms); i++) {
		char path[PATH_MAX];
		int n;

		n = snprintf(path, sizeof(path), forms[i], (int)(slash - object_path), object_path,
			     name);
		if (n > 0 && (size_t)n < sizeof(path))
			fd = open_regular(root, path);
	}
	return fd;
}

static int open_in(int root, const struct el_debug_request *request)
{
	int fd = open_by_build_id(root, request->build_id, request->build_id_size);

	if (fd < 0 && request->debuglink && request->path)
		fd = open_by_link(root, request->path, request->debuglink);
	return fd;
}

int el_fetch_debug_file(const struct el_fetch_targets *targets,
			const struct el_fetch_target *target,
			const struct el_debug_request *request)
{
	int fd = target->root >= 0 ? open_in(target->root, request) : -ENOENT;

	if (fd < 0)
		fd = open_in(targets->host_root, request);
	return fd < 0 ? -ENOENT : fd;
}
