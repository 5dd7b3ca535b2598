/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a line number program (DWARF 5, 6.2.5) into sorted sequences of rows.
 * Rows that say what the row before them said are left out, and of several at
 * one address the last stays: that is what a lookup would return.
 */
#include <dwarf.h>

#include "symbolizer/dwarf/part.h"

#define FILE_MAX ((1u << 20) - 1)
#define COLUMN_MAX ((1u << 12) - 1)

/* The registers of the machine that matter here. */
struct machine {
	struct el_dwarf *dwarf;
	struct el_lines *lines;
	uint64_t addr;
	uint64_t file;
	uint32_t line;
	uint64_t column;
	uint64_t start; /* of the open sequence */
	uint32_t first; /* its first row */
	bool open;
	bool disordered; /* an address went back: the sequence is sorted when it ends */
};

static void reset(struct machine *machine)
{
	machine->addr = 0;
	machine->file = 1;
	machine->line = 1;
	machine->column = 0;
	machine->open = false;
	machine->disordered = false;
}

static int add_row(struct machine *machine)
{
	struct el_lines *lines = machine->lines;
	struct el_line_row row = {.line = machine->line};
	struct el_line_row *last;

	if (!machine->open) {
		machine->open = true;
		machine->start = machine->addr;
		machine->first = lines->rows.n;
	}
	if (machine->addr < machine->start || machine->addr - machine->start > UINT32_MAX)
		return 0;
	row.off = machine->addr - machine->start;
	row.file = machine->file <= FILE_MAX ? machine->file : 0;
	row.column = machine->column <= COLUMN_MAX ? machine->column : 0;
	if (lines->rows.n > machine->first) {
		last = &lines->rows.at[lines->rows.n - 1];
		if (row.off < last->off)
			machine->disordered = true;
		if (row.off == last->off) {
			*last = row;
			return 0;
		}
		if (row.line == last->line && row.file == last->file &&
		    row.column == last->column && !machine->disordered)
			return 0;
	}
	if (lines->rows.n >= UINT32_MAX - 1 ||
	    machine->dwarf->index_bytes + lines->rows.n * sizeof(row) > EL_DWARF_INDEX_MAX)
		return -EFBIG;
	return el_vec_push(&lines->rows, row);
}

static int by_off(const void *a, const void *b)
{
	const struct el_line_row *left = a, *right = b;

	return (left->off > right->off) - (left->off < right->off);
}

static int end_sequence(struct machine *machine)
{
	struct el_lines *lines = machine->lines;
	struct el_line_sequence sequence = {.start = machine->start,
					    .end = machine->addr,
					    .first = machine->first,
					    .n = lines->rows.n - machine->first};
	bool discarded = sequence.start <= 1 && !machine->dwarf->relocatable;

	if (machine->disordered)
		qsort(lines->rows.at + sequence.first, sequence.n, sizeof(*lines->rows.at), by_off);
	if (!machine->open || !sequence.n || sequence.end <= sequence.start || discarded) {
		if (machine->open)
			lines->rows.n = machine->first;
		reset(machine);
		return 0;
	}
	reset(machine);
	return el_vec_push(&lines->sequences, sequence);
}

static int run_extended(struct machine *machine, struct el_cursor *cursor)
{
	uint64_t size = el_cursor_uleb(cursor);
	const uint8_t *at = el_cursor_bytes(cursor, size);
	struct el_cursor operands;

	if (!at || !size)
		return 0;
	operands = el_cursor_of(at, size);
	switch (el_cursor_u8(&operands)) {
	case DW_LNE_end_sequence:
		return end_sequence(machine);
	case DW_LNE_set_address:
		if (size - 1 <= 8)
			machine->addr = el_cursor_uint(&operands, size - 1);
		return 0;
	case DW_LNE_define_file: {
		struct el_line_file file = {0};
		const char *name = el_cursor_string(&operands);

		file.dir = el_cursor_uleb(&operands);
		if (!name || operands.failed)
			return 0;
		if (el_strings_add(&machine->dwarf->strings, name, &file.name))
			return -ENOMEM;
		return el_vec_push(&machine->lines->files, file);
	}
	default: /* DW_LNE_set_discriminator and vendors' */
		return 0;
	}
}

static int run_standard(struct machine *machine, uint8_t opcode, struct el_cursor *cursor)
{
	struct el_lines *lines = machine->lines;
	unsigned int i;

	switch (opcode) {
	case DW_LNS_copy:
		return add_row(machine);
	case DW_LNS_advance_pc:
		machine->addr += el_cursor_uleb(cursor) * lines->min_inst;
		return 0;
	case DW_LNS_advance_line:
		machine->line += el_cursor_sleb(cursor);
		return 0;
	case DW_LNS_set_file:
		machine->file = el_cursor_uleb(cursor);
		return 0;
	case DW_LNS_set_column:
		machine->column = el_cursor_uleb(cursor);
		return 0;
	case DW_LNS_const_add_pc:
		if (lines->line_range)
			machine->addr +=
				(uint64_t)((255 - lines->opcode_base) / lines->line_range) *
				lines->min_inst;
		return 0;
	case DW_LNS_fixed_advance_pc:
		machine->addr += el_cursor_u16(cursor);
		return 0;
	case DW_LNS_negate_stmt:
	case DW_LNS_set_basic_block:
	case DW_LNS_set_prologue_end:
	case DW_LNS_set_epilogue_begin:
		return 0;
	default:
		for (i = 0; i < lines->opcode_lengths[opcode]; i++)
			el_cursor_uleb(cursor);
		return 0;
	}
}

static int run_special(struct machine *machine, uint8_t opcode)
{
	struct el_lines *lines = machine->lines;
	unsigned int adjusted = opcode - lines->opcode_base;

	if (!lines->line_range)
		return 0;
	machine->addr += (uint64_t)(adjusted / lines->line_range) * lines->min_inst;
	machine->line += lines->line_base + (int)(adjusted % lines->line_range);
	return add_row(machine);
}

static int by_start(const void *a, const void *b)
{
	const struct el_line_sequence *left = a, *right = b;

	return (left->start > right->start) - (left->start < right->start);
}

int el_lines_run(struct el_dwarf *dwarf, struct el_lines *lines)
{
	struct el_piece *piece = el_dwarf_section(dwarf, EL_SECTION_LINE);
	uint64_t size = lines->program_end - lines->program_off;
	const uint8_t *at = el_piece_range(piece, lines->program_off, size);
	struct machine machine = {.dwarf = dwarf, .lines = lines};
	struct el_cursor cursor;
	uint8_t opcode;
	int err = 0;

	if (!at || lines->program_end < lines->program_off)
		return -EINVAL;
	cursor = el_cursor_of(at, size);
	reset(&machine);
	while (el_cursor_left(&cursor) && !err) {
		opcode = el_cursor_u8(&cursor);
		if (opcode >= lines->opcode_base)
			err = run_special(&machine, opcode);
		else if (opcode)
			err = run_standard(&machine, opcode, &cursor);
		else
			err = run_extended(&machine, &cursor);
	}
	if (machine.open) /* cut off before its end: its last row has no end */
		lines->rows.n = machine.first;
	if (lines->sequences.n)
		qsort(lines->sequences.at, lines->sequences.n, sizeof(*lines->sequences.at),
		      by_start);
	dwarf->index_bytes += lines->rows.n * sizeof(*lines->rows.at);
	return err;
}
