/* SPDX-License-Identifier: Apache-2.0 */
/* See sources.h. A few files are kept, since functions of one file are shown one after the other.
 */
#include "user/report/sources.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <linux/magic.h>

#include "base/cleanup.h"
#include "base/vec.h"

#define KEPT 8

struct el_source_file {
	char *path; /* NULL: a free place */
	enum el_source_state state;
	uint64_t changed_ns;
	uint64_t used; /* when, by the clock of struct el_sources */
	char *text;
	size_t size;
	EL_VEC(uint32_t) starts; /* of each line */
};

struct el_sources {
	struct el_source_file files[KEPT];
	uint64_t clock;
};

int el_sources_new(struct el_sources **ret)
{
	struct el_sources *sources = calloc(1, sizeof(*sources));

	if (!sources)
		return -ENOMEM;
	*ret = sources;
	return 0;
}

static void file_deinit(struct el_source_file *file)
{
	free(file->path);
	free(file->text);
	el_vec_deinit(&file->starts);
	*file = (struct el_source_file){0};
}

void el_sources_free(struct el_sources *sources)
{
	if (!sources)
		return;
	for (int i = 0; i < KEPT; i++)
		file_deinit(&sources->files[i]);
	free(sources);
}

/* Regular files there are not text: reading some of them has effects. */
static bool kernel_made(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) || fs.f_type == PROC_SUPER_MAGIC || fs.f_type == SYSFS_MAGIC ||
	       fs.f_type == TRACEFS_MAGIC || fs.f_type == DEBUGFS_MAGIC ||
	       fs.f_type == BPF_FS_MAGIC || fs.f_type == CGROUP_SUPER_MAGIC ||
	       fs.f_type == CGROUP2_SUPER_MAGIC || fs.f_type == SECURITYFS_MAGIC;
}

/* Looks before it opens: opening a device can already do something. */
static enum el_source_state open_regular(const char *path, int *ret_fd, struct stat *ret_stat)
{
	el_auto_fd int fd = open(path, O_PATH | O_CLOEXEC);
	char name[40];

	if (fd < 0)
		return errno == EACCES || errno == EPERM ? EL_SOURCE_REFUSED : EL_SOURCE_ABSENT;
	if (fstat(fd, ret_stat))
		return EL_SOURCE_REFUSED;
	if (!S_ISREG(ret_stat->st_mode) || kernel_made(fd))
		return EL_SOURCE_NOT_FILE;
	if (ret_stat->st_size > EL_SOURCE_MAX)
		return EL_SOURCE_TOO_LARGE;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	*ret_fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return *ret_fd < 0 ? EL_SOURCE_REFUSED : EL_SOURCE_READ;
}

/* Reads up to the limit and a byte, to see a file that grew past it. */
static int read_text(struct el_source_file *file, int fd, size_t expected)
{
	size_t room = expected + 1;
	ssize_t got = 1;

	file->text = malloc(room);
	while (file->text && got > 0 && file->size <= EL_SOURCE_MAX) {
		if (file->size == room) {
			char *grown = realloc(file->text, room * 2);

			if (!grown)
				return -ENOMEM;
			file->text = grown;
			room *= 2;
		}
		got = read(fd, file->text + file->size, room - file->size);
		if (got > 0)
			file->size += got;
	}
	if (!file->text)
		return -ENOMEM;
	if (got < 0)
		file->state = EL_SOURCE_REFUSED;
	else if (file->size > EL_SOURCE_MAX)
		file->state = EL_SOURCE_TOO_LARGE;
	return 0;
}

static int index_lines(struct el_source_file *file)
{
	const char *end = file->text + file->size;
	int err = 0;

	for (const char *at = file->text; at && at < end && !err;) {
		err = el_vec_push(&file->starts, (uint32_t)(at - file->text));
		at = memchr(at, '\n', end - at);
		at = at ? at + 1 : NULL;
	}
	return err;
}

static int load(struct el_source_file *file)
{
	el_auto_fd int fd = -1;
	struct stat st;
	int err;

	/* Names in <> are made up by a runtime. */
	if (!*file->path || *file->path == '<') {
		file->state = EL_SOURCE_ABSENT;
		return 0;
	}
	file->state = open_regular(file->path, &fd, &st);
	if (file->state != EL_SOURCE_READ)
		return 0;
	err = read_text(file, fd, st.st_size);
	if (err || file->state != EL_SOURCE_READ)
		return err;
	file->changed_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	return index_lines(file);
}

int el_sources_get(struct el_sources *sources, const char *path, const struct el_source_file **ret)
{
	struct el_source_file *oldest = &sources->files[0];
	int err;

	for (int i = 0; i < KEPT; i++) {
		struct el_source_file *file = &sources->files[i];

		if (file->path && !strcmp(file->path, path)) {
			file->used = ++sources->clock;
			*ret = file;
			return 0;
		}
		if (file->used < oldest->used)
			oldest = file;
	}
	file_deinit(oldest);
	oldest->path = strdup(path);
	err = oldest->path ? load(oldest) : -ENOMEM;
	if (err) {
		file_deinit(oldest);
		return err;
	}
	oldest->used = ++sources->clock;
	*ret = oldest;
	return 0;
}

enum el_source_state el_source_state(const struct el_source_file *file)
{
	return file->state;
}

const char *el_source_state_sentence(enum el_source_state state)
{
	static const char *const sentences[] = {
#define X(name, sentence) [EL_SOURCE_##name] = sentence,
		EL_SOURCE_STATES(X)
#undef X
	};

	return sentences[state];
}

uint64_t el_source_changed_ns(const struct el_source_file *file)
{
	return file->changed_ns;
}

uint32_t el_source_n_lines(const struct el_source_file *file)
{
	return file->state == EL_SOURCE_READ ? file->starts.n : 0;
}

const char *el_source_line(const struct el_source_file *file, uint32_t line, size_t *ret_size)
{
	const char *start, *end;

	if (!line || line > el_source_n_lines(file))
		return NULL;
	start = file->text + file->starts.at[line - 1];
	end = file->text + (line < file->starts.n ? file->starts.at[line] : file->size);
	if (end > start && end[-1] == '\n')
		end--;
	if (end > start && end[-1] == '\r')
		end--;
	*ret_size = end - start;
	return start;
}
