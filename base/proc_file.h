/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small text files of /proc/PID, read whole. Their text may hold bytes of
 * the process's own choosing: see proc(5) for what of it can be believed.
 */
#ifndef EL_BASE_PROC_FILE_H
#define EL_BASE_PROC_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/proc_stat.h"

/*
 * Up to `size` - 1 bytes of the file `name` in `folder` (openat(2)), and a
 * NUL; the number of bytes or -errno.
 */
static inline ssize_t el_proc_file_read(int folder, const char *name, char *text, size_t size)
{
	el_auto_fd int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got;

	if (fd < 0)
		return -errno;
	while (n < size - 1 && (got = read(fd, text + n, size - 1 - n)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		n += got;
	}
	text[n] = '\0';
	return n;
}

/* The same of a stat file, parsed; 0 or -errno. */
static inline int el_proc_file_stat(int folder, const char *name, struct el_proc_stat *ret)
{
	char text[1024];
	ssize_t n = el_proc_file_read(folder, name, text, sizeof(text));

	return n < 0 ? (int)n : el_proc_stat_parse(text, n, ret);
}

/* The process that thread `tid` belongs to, and how many threads it has. 0 or -errno. */
static inline int el_proc_file_leader(pid_t tid, uint32_t *ret_tgid, uint32_t *ret_threads)
{
	char path[64], line[256];
	el_auto_file FILE *file = NULL;
	unsigned int tgid = 0, threads = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "Tgid: %u", &tgid);
		sscanf(line, "Threads: %u", &threads);
	}
	if (!tgid)
		return -ESRCH;
	*ret_tgid = tgid;
	*ret_threads = threads ? threads : 1; /* a zombie says 0 */
	return 0;
}

#endif
