/* SPDX-License-Identifier: Apache-2.0 */
/* Reading perf maps; see perfmap.h. How entries overlap is settled in perfmap_ranges.c. */
#include "symbolizer/perfmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "symbolizer/perfmap_ranges.h"

#define CHUNK (64u << 10) /* also the longest line that is taken */
#define TAIL 256u

int el_perfmap_init(struct el_perfmap *map)
{
	*map = (struct el_perfmap){0};
	return el_strings_init(&map->names);
}

void el_perfmap_deinit(struct el_perfmap *map)
{
	el_strings_deinit(&map->names);
	el_vec_deinit(&map->ranges);
	el_vec_deinit(&map->fresh);
}

/* A hexadecimal number with or without 0x and the blanks behind it; false: none, or too large. */
static bool take_number(const char **at, const char *end, uint64_t *ret)
{
	const char *first = *at;
	uint64_t value = 0;
	int digit;

	if (end - first > 2 && first[0] == '0' && (first[1] | 0x20) == 'x')
		first += 2;
	for (*at = first; *at < end; (*at)++) {
		if (**at >= '0' && **at <= '9')
			digit = **at - '0';
		else if ((**at | 0x20) >= 'a' && (**at | 0x20) <= 'f')
			digit = (**at | 0x20) - 'a' + 10;
		else
			break;
		if (value >> 60)
			return false;
		value = value << 4 | digit;
	}
	if (*at == first || *at == end || (**at != ' ' && **at != '\t'))
		return false;
	while (*at < end && (**at == ' ' || **at == '\t'))
		(*at)++;
	*ret = value;
	return true;
}

/* False: memory is short. */
static bool take_line(struct el_perfmap *map, const char *line, const char *end)
{
	struct el_perfmap_range entry = {0};
	uint64_t size;

	if (!take_number(&line, end, &entry.start) || !take_number(&line, end, &size) ||
	    line == end || size > EL_PERFMAP_CODE_MAX || entry.start > UINT64_MAX - size) {
		map->n_bad_lines++;
		return true;
	}
	if (!size)
		return true;
	if (end - line > EL_PERFMAP_NAME_MAX)
		end = line + EL_PERFMAP_NAME_MAX;
	entry.end = entry.start + size;
	entry.order = map->n_entries;
	if (el_strings_add_bytes(&map->names, line, end - line, &entry.name) ||
	    el_vec_push(&map->fresh, entry))
		return false;
	map->n_entries++;
	return true;
}

size_t el_perfmap_parse(struct el_perfmap *map, const char *text, size_t size)
{
	const char *at = text, *end = text + size, *newline;

	while (!map->full && (newline = memchr(at, '\n', end - at))) {
		if (map->in_long_line)
			map->in_long_line = false;
		else if (newline > at && !take_line(map, at, newline))
			map->full = true;
		if (map->n_entries >= EL_PERFMAP_ENTRIES_MAX ||
		    map->names.bytes.n >= EL_PERFMAP_NAMES_MAX)
			map->full = true;
		at = newline + 1;
	}
	return at - text;
}

static int forget(struct el_perfmap *map)
{
	uint32_t n_rewrites = map->n_rewrites + 1;
	int err;

	el_perfmap_deinit(map);
	err = el_perfmap_init(map);
	map->n_rewrites = n_rewrites;
	return err;
}

static uint64_t hash_before(int fd, uint64_t off)
{
	char tail[TAIL];
	size_t size = off < TAIL ? off : TAIL;
	ssize_t n = pread(fd, tail, size, off - size);

	return n == (ssize_t)size ? el_hash_bytes(off, tail, size) : 0;
}

static bool is_another(const struct el_perfmap *map, int fd, const struct stat *stat)
{
	return map->dev != stat->st_dev || map->inode != stat->st_ino ||
	       (uint64_t)stat->st_size < map->off ||
	       (map->off && hash_before(fd, map->off) != map->tail_hash);
}

/* One chunk from `off`: bytes used, 0 at the end, or -errno. */
static ssize_t read_chunk(struct el_perfmap *map, int fd, char *chunk)
{
	ssize_t n = pread(fd, chunk, CHUNK, map->off);
	size_t used;

	if (n <= 0)
		return n < 0 ? -errno : 0;
	used = el_perfmap_parse(map, chunk, n);
	if (!used && n == CHUNK) {
		map->n_bad_lines += !map->in_long_line;
		map->in_long_line = true;
		used = n;
	}
	return used;
}

int el_perfmap_read(struct el_perfmap *map, int fd)
{
	struct stat stat;
	ssize_t used = 1;
	char *chunk;
	int err = 0;

	if (fstat(fd, &stat))
		return -errno;
	if (!S_ISREG(stat.st_mode))
		return -EINVAL;
	if (is_another(map, fd, &stat)) {
		if (map->inode)
			err = forget(map);
		if (err)
			return err;
		map->dev = stat.st_dev;
		map->inode = stat.st_ino;
	}
	if ((uint64_t)stat.st_size == map->off)
		return 0;
	chunk = malloc(CHUNK);
	if (!chunk)
		return -ENOMEM;
	while (used > 0 && !map->full) {
		used = read_chunk(map, fd, chunk);
		if (used > 0)
			map->off += used;
		if (map->off >= EL_PERFMAP_BYTES_MAX)
			map->full = true;
	}
	free(chunk);
	map->tail_hash = map->off ? hash_before(fd, map->off) : 0;
	return used < 0 ? used : 0;
}

bool el_perfmap_find(struct el_perfmap *map, uint64_t addr, uint64_t *start, const char **name)
{
	const struct el_perfmap_range *range;

	if (map->fresh.n && el_perfmap_ranges_add(&map->ranges, &map->fresh))
		return false;
	range = el_perfmap_ranges_find(&map->ranges, addr);
	if (!range)
		return false;
	*start = range->start;
	*name = el_strings_get(&map->names, range->name);
	return true;
}

size_t el_perfmap_bytes(const struct el_perfmap *map)
{
	return map->names.bytes.capacity + map->names.start.capacity * sizeof(uint32_t) +
	       (map->ranges.capacity + map->fresh.capacity) * sizeof(struct el_perfmap_range);
}
