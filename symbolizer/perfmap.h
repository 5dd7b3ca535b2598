/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perf maps: text files in which a process that makes code lists it, one line
 * each, "START SIZE NAME" with hexadecimal numbers (Linux, tools/perf/
 * Documentation/jit-interface.txt). The file grows while the process runs:
 * only what is new is read; a line without its end is left for the next time.
 * Where entries overlap, the later one is right. Nothing in it is trusted.
 */
#ifndef EL_PERFMAP_H
#define EL_PERFMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"
#include "base/vec.h"

#define EL_PERFMAP_BYTES_MAX (256u << 20)
#define EL_PERFMAP_ENTRIES_MAX (2u << 20)
#define EL_PERFMAP_NAMES_MAX (64u << 20) /* bytes of all names */
#define EL_PERFMAP_NAME_MAX 4096         /* longer names are cut */
#define EL_PERFMAP_CODE_MAX (1ull << 30) /* bytes of one entry's code */

struct el_perfmap_range {
	uint64_t start, end;
	uint32_t name;  /* into names */
	uint32_t order; /* of the entry in the file */
};

typedef EL_VEC(struct el_perfmap_range) el_perfmap_ranges;

/* Zeroed, then el_perfmap_init(). */
struct el_perfmap {
	struct el_strings names;
	el_perfmap_ranges ranges; /* sorted, disjoint: what is right as of the last look */
	el_perfmap_ranges fresh;  /* entries since, in file order */
	uint64_t n_entries;
	uint64_t n_bad_lines;
	uint32_t n_rewrites; /* times it was read from its begin again */
	bool full;           /* a limit was reached; the rest is not read */
	/* How far the file was read, and how to know that it is still the same. */
	uint64_t off; /* of the first line not taken */
	uint64_t dev, inode;
	uint64_t tail_hash; /* of the bytes before `off` */
	bool in_long_line;  /* its begin was refused already */
};

int el_perfmap_init(struct el_perfmap *map);
void el_perfmap_deinit(struct el_perfmap *map);

/*
 * Takes the new lines of a regular file; all of them when it is another file
 * or was written anew. 0 or -errno, with what was read until then kept.
 */
int el_perfmap_read(struct el_perfmap *map, int fd);

/* Takes the complete lines of `text`; returns the bytes used. For tests and the reader. */
size_t el_perfmap_parse(struct el_perfmap *map, const char *text, size_t size);

/* The entry that covers `addr`; the name is valid until the next read. False: none. */
bool el_perfmap_find(struct el_perfmap *map, uint64_t addr, uint64_t *start, const char **name);

size_t el_perfmap_bytes(const struct el_perfmap *map);

#endif
