/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Line tables of one object: found by their offset in .debug_line, since
 * units may share one; paths joined when asked; rows by binary search. The
 * header is read in line_header.c and the program is run in line_program.c.
 */
#include <stdio.h>

#include "base/hash.h"
#include "base/search.h"
#include "symbolizer/dwarf/part.h"

#define PATH_MAX_SIZE 4096

void el_lines_deinit(struct el_lines *lines)
{
	el_vec_deinit(&lines->dirs);
	el_vec_deinit(&lines->files);
	el_vec_deinit(&lines->sequences);
	el_vec_deinit(&lines->rows);
}

static bool has_off(const void *owner, uint32_t position, const void *wanted)
{
	const struct el_dwarf *dwarf = owner;

	return dwarf->lines.at[position]->off == *(const uint64_t *)wanted;
}

static uint32_t add_table(struct el_dwarf *dwarf, struct el_dwarf_unit *unit)
{
	struct el_lines *lines = calloc(1, sizeof(*lines));
	uint64_t hash = el_hash_u64(3, unit->line_off);

	if (!lines)
		return EL_DWARF_NONE;
	lines->off = unit->line_off;
	if (el_strings_add(&dwarf->strings, unit->comp_dir, &lines->comp_dir) ||
	    el_vec_push(&dwarf->lines, lines)) {
		free(lines);
		return EL_DWARF_NONE;
	}
	if (el_index_add(&dwarf->lines_by_off, hash, dwarf->lines.n - 1)) {
		dwarf->lines.n--;
		free(lines);
		return EL_DWARF_NONE;
	}
	if (el_lines_read_header(dwarf, unit, lines))
		lines->has_rows = true; /* nothing more to get */
	return dwarf->lines.n - 1;
}

struct el_lines *el_lines_of(struct el_dwarf *dwarf, struct el_dwarf_unit *unit, bool rows)
{
	struct el_lines *lines;

	if (unit->line_off == UINT64_MAX)
		return NULL;
	if (unit->lines == EL_DWARF_NONE)
		unit->lines = el_index_find(&dwarf->lines_by_off, el_hash_u64(3, unit->line_off),
					    has_off, dwarf, &unit->line_off);
	if (unit->lines == EL_DWARF_NONE)
		unit->lines = add_table(dwarf, unit);
	if (unit->lines == EL_DWARF_NONE)
		return NULL;
	lines = dwarf->lines.at[unit->lines];
	if (rows && !lines->has_rows) {
		lines->has_rows = true;
		el_lines_run(dwarf, lines);
	}
	return lines;
}

const struct el_line_sequence *el_lines_sequence(const struct el_lines *lines, uint64_t addr)
{
	size_t low = el_partition(lines->sequences.n, i, lines->sequences.at[i].start <= addr);
	size_t back;

	/* Sequences do not overlap in sane files; a few steps back serve the others. */
	for (back = 0; back < 8 && low > back; back++)
		if (addr < lines->sequences.at[low - 1 - back].end)
			return &lines->sequences.at[low - 1 - back];
	return NULL;
}

uint32_t el_lines_row(const struct el_lines *lines, const struct el_line_sequence *sequence,
		      uint64_t addr)
{
	uint64_t off = addr - sequence->start;
	uint32_t low = sequence->first, high = sequence->first + sequence->n, middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (lines->rows.at[middle].off <= off)
			low = middle;
		else
			high = middle;
	}
	return low;
}

uint32_t el_lines_path(struct el_dwarf *dwarf, struct el_lines *lines, uint64_t file)
{
	const char *name, *dir = "", *comp_dir;
	char path[PATH_MAX_SIZE];
	struct el_line_file *at;

	/* Files and folders count from 1 before DWARF 5; folder 0 is the compilation's. */
	if (lines->version < 5)
		file--;
	if (file >= lines->files.n)
		return 0;
	at = &lines->files.at[file];
	if (at->path)
		return at->path;
	name = el_strings_get(&dwarf->strings, at->name);
	comp_dir = el_strings_get(&dwarf->strings, lines->comp_dir);
	if (lines->version >= 5) {
		if (at->dir < lines->dirs.n)
			dir = el_strings_get(&dwarf->strings, lines->dirs.at[at->dir]);
	} else if (at->dir && at->dir - 1 < lines->dirs.n) {
		dir = el_strings_get(&dwarf->strings, lines->dirs.at[at->dir - 1]);
	}
	if (*name == '/' || (!*dir && !*comp_dir))
		snprintf(path, sizeof(path), "%s", name);
	else if (*dir == '/' || !*comp_dir)
		snprintf(path, sizeof(path), "%s/%s", dir, name);
	else if (!*dir)
		snprintf(path, sizeof(path), "%s/%s", comp_dir, name);
	else
		snprintf(path, sizeof(path), "%s/%s/%s", comp_dir, dir, name);
	if (el_strings_add(&dwarf->strings, path, &at->path))
		return 0;
	return at->path;
}
