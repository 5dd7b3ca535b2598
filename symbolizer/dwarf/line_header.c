/* SPDX-License-Identifier: Apache-2.0 */
/* The header of a line table, with its folders and files (DWARF 5, 6.2.4; DWARF 4, 6.2.4). */
#include <dwarf.h>

#include "symbolizer/dwarf/part.h"

#define FILES_MAX (1u << 20)
#define FORMATS_MAX 32u

static int add_file(struct el_dwarf *dwarf, struct el_lines *lines, const char *name, uint64_t dir)
{
	struct el_line_file file = {.dir = dir < UINT32_MAX ? dir : UINT32_MAX};

	if (el_strings_add(&dwarf->strings, name, &file.name))
		return -ENOMEM;
	return el_vec_push(&lines->files, file);
}

static int add_dir(struct el_dwarf *dwarf, struct el_lines *lines, const char *name)
{
	uint32_t dir;

	if (el_strings_add(&dwarf->strings, name, &dir))
		return -ENOMEM;
	return el_vec_push(&lines->dirs, dir);
}

static int read_files_v4(struct el_dwarf *dwarf, struct el_lines *lines, struct el_cursor *cursor)
{
	const char *name;
	uint64_t dir;
	int err = 0;

	while (!err && lines->dirs.n < FILES_MAX) {
		name = el_cursor_string(cursor);
		if (!name || !*name)
			break;
		err = add_dir(dwarf, lines, name);
	}
	while (!err && lines->files.n < FILES_MAX) {
		name = el_cursor_string(cursor);
		if (!name || !*name)
			break;
		dir = el_cursor_uleb(cursor);
		el_cursor_uleb(cursor);
		el_cursor_uleb(cursor);
		err = add_file(dwarf, lines, name, dir);
	}
	return err;
}

/* One of the two tables of DWARF 5: formats, then entries of these formats. */
static int read_table_v5(struct el_dwarf *dwarf, const struct el_dwarf_unit *unit,
			 struct el_lines *lines, const struct el_form_sizes *sizes, bool dirs,
			 struct el_cursor *cursor)
{
	struct el_attr formats[FORMATS_MAX];
	uint8_t n_formats = el_cursor_u8(cursor), j;
	uint64_t n, i;
	int err = 0;

	if (n_formats > FORMATS_MAX)
		return -EINVAL;
	for (j = 0; j < n_formats; j++) {
		formats[j] = (struct el_attr){.name = el_cursor_uleb(cursor)};
		formats[j].form = el_cursor_uleb(cursor);
		if (formats[j].form == DW_FORM_implicit_const)
			return -EINVAL;
	}
	n = el_cursor_uleb(cursor);
	if (n > FILES_MAX || (n && !n_formats))
		return -EINVAL;
	for (i = 0; i < n && !err && !cursor->failed; i++) {
		const char *name = NULL;
		uint64_t dir = 0;

		for (j = 0; j < n_formats; j++) {
			struct el_value value = el_form_read(cursor, &formats[j], sizes);

			if (formats[j].name == DW_LNCT_path)
				name = el_value_string(dwarf, unit, &value);
			else if (formats[j].name == DW_LNCT_directory_index)
				dir = value.number;
		}
		if (cursor->failed)
			break;
		err = dirs ? add_dir(dwarf, lines, name) : add_file(dwarf, lines, name, dir);
	}
	return err ? err : cursor->failed ? -EINVAL : 0;
}

/* The unit's bytes, the lengths up front; false when they reach out of the section. */
static bool open_table(struct el_dwarf *dwarf, uint64_t off, struct el_cursor *ret,
		       uint8_t *offset_size)
{
	struct el_piece *piece = el_dwarf_section(dwarf, EL_SECTION_LINE);
	const uint8_t *at = el_piece_range(piece, off, 4);
	uint64_t length = 0;

	if (!at)
		return false;
	memcpy(&length, at, 4);
	off += 4;
	*offset_size = 4;
	if (length == UINT32_MAX) {
		at = el_piece_range(piece, off, 8);
		if (!at)
			return false;
		memcpy(&length, at, 8);
		off += 8;
		*offset_size = 8;
	}
	if (length > piece->size)
		return false;
	at = el_piece_range(piece, off, length);
	if (!at)
		return false;
	*ret = el_cursor_of(at, length);
	return true;
}

static int read_opcodes(struct el_lines *lines, struct el_cursor *cursor)
{
	unsigned int i;

	lines->min_inst = el_cursor_u8(cursor);
	if (lines->version >= 4)
		el_cursor_u8(cursor); /* operations an instruction: 1 but for VLIW machines */
	el_cursor_u8(cursor);         /* default_is_stmt */
	lines->line_base = (int8_t)el_cursor_u8(cursor);
	lines->line_range = el_cursor_u8(cursor);
	lines->opcode_base = el_cursor_u8(cursor);
	if (!lines->opcode_base)
		return -EINVAL;
	for (i = 1; i < lines->opcode_base; i++)
		lines->opcode_lengths[i] = el_cursor_u8(cursor);
	return cursor->failed ? -EINVAL : 0;
}

int el_lines_read_header(struct el_dwarf *dwarf, const struct el_dwarf_unit *unit,
			 struct el_lines *lines)
{
	struct el_form_sizes sizes = unit->sizes;
	const uint8_t *section;
	struct el_cursor cursor;
	uint64_t header_size;
	int err;

	if (!open_table(dwarf, lines->off, &cursor, &sizes.offset_size))
		return -EINVAL;
	section = el_dwarf_section(dwarf, EL_SECTION_LINE)->at;
	lines->program_end = cursor.end - section;
	lines->version = sizes.version = el_cursor_u16(&cursor);
	lines->addr_size = unit->sizes.addr_size;
	if (lines->version < 2 || lines->version > 5)
		return -EINVAL;
	if (lines->version >= 5) {
		lines->addr_size = el_cursor_u8(&cursor);
		el_cursor_u8(&cursor); /* segment selector size */
		sizes.addr_size = lines->addr_size;
	}
	header_size = el_cursor_uint(&cursor, sizes.offset_size);
	if (header_size > el_cursor_left(&cursor))
		return -EINVAL;
	lines->program_off = cursor.at - section + header_size;
	cursor.end = cursor.at + header_size;
	err = read_opcodes(lines, &cursor);
	if (err)
		return err;
	if (lines->version < 5)
		return read_files_v4(dwarf, lines, &cursor);
	err = read_table_v5(dwarf, unit, lines, &sizes, true, &cursor);
	if (!err)
		err = read_table_v5(dwarf, unit, lines, &sizes, false, &cursor);
	return err;
}
