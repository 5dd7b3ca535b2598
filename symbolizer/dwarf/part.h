/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the DWARF reader share: sections, units, abbreviations,
 * forms, ranges, scopes, rows. Private to this folder.
 * Offsets are into .debug_info, which is refused above 4 GiB, so 32 bits do.
 */
#ifndef EL_DWARF_PART_H
#define EL_DWARF_PART_H

#include <dwarf.h>

#include "base/cursor.h"
#include "base/index.h"
#include "base/strings.h"
#include "base/vec.h"
#include "symbolizer/dwarf/dwarf.h"

#define EL_DWARF_NONE UINT32_MAX
/* What the indexes of one object may take together; units beyond it have no lines. */
#define EL_DWARF_INDEX_MAX (1ull << 30)

enum el_dwarf_section {
	EL_SECTION_INFO,
	EL_SECTION_ABBREV,
	EL_SECTION_STR,
	EL_SECTION_LINE,
	EL_SECTION_LINE_STR,
	EL_SECTION_RANGES,
	EL_SECTION_RNGLISTS,
	EL_SECTION_ADDR,
	EL_SECTION_STR_OFFSETS,
	EL_N_SECTIONS
};

/* --- abbreviations (DWARF 5, 7.5.3) ------------------------------------------ */
struct el_attr {
	uint16_t name;
	uint16_t form;
	int64_t implicit; /* of DW_FORM_implicit_const */
};

struct el_abbrev {
	uint64_t code;
	uint16_t tag;
	bool has_children;
	uint32_t first_attr;
	uint32_t n_attrs;
	uint32_t fixed_size; /* of all attributes; EL_DWARF_NONE: varies */
};

struct el_abbrevs {
	EL_VEC(struct el_abbrev) list;
	EL_VEC(struct el_attr) attrs;
	bool dense; /* list[i].code == i + 1 */
	/* The key. */
	bool used;
	uint64_t off;
	uint16_t version;
	uint8_t addr_size, offset_size;
};

#define EL_ABBREVS_CACHED 64

struct el_dwarf_unit;

/* The table of a unit, valid until 64 other tables were asked for. NULL when damaged. */
const struct el_abbrevs *el_abbrevs_of(struct el_dwarf *dwarf, const struct el_dwarf_unit *unit);
const struct el_abbrev *el_abbrevs_find(const struct el_abbrevs *abbrevs, uint64_t code);
void el_abbrevs_deinit(struct el_abbrevs *abbrevs);

/* --- forms (7.5.6) ------------------------------------------------------------- */
enum el_value_kind {
	EL_VALUE_NONE, /* nothing we use: blocks, other files, signatures */
	EL_VALUE_UINT,
	EL_VALUE_ADDR,
	EL_VALUE_ADDR_INDEX,
	EL_VALUE_REF, /* absolute in .debug_info */
	EL_VALUE_SECTION_OFFSET,
	EL_VALUE_LIST_INDEX,
	EL_VALUE_STRING, /* in place */
	EL_VALUE_STR,    /* offset in .debug_str */
	EL_VALUE_LINE_STR,
	EL_VALUE_STR_INDEX,
};

struct el_value {
	enum el_value_kind kind;
	uint64_t number;
	const char *text;
};

/* What forms depend on. */
struct el_form_sizes {
	uint16_t version;
	uint8_t addr_size, offset_size;
	uint32_t unit_off;
};

/* Size of a form that does not vary, EL_DWARF_NONE otherwise. */
uint32_t el_form_size(uint16_t form, const struct el_form_sizes *sizes);
/* Reads one value; an unknown form fails the cursor. */
struct el_value el_form_read(struct el_cursor *cursor, const struct el_attr *attr,
			     const struct el_form_sizes *sizes);

/* --- units (7.5.1) --------------------------------------------------------------- */
struct el_scope {
	uint32_t origin; /* DIE that names it: the abstract origin, or itself */
	uint32_t parent; /* enclosing scope when inlined, else EL_DWARF_NONE */
	uint32_t call_line;
	uint32_t call_file;
	uint32_t call_column;
};

/* From `off` to the next segment's: the innermost scope. */
struct el_segment {
	uint32_t off;   /* from the unit's base */
	uint32_t scope; /* EL_DWARF_NONE: none */
};

struct el_dwarf_unit {
	uint32_t off, end; /* of the header, in .debug_info */
	uint32_t first_die;
	uint64_t abbrev_off;
	uint8_t type; /* DW_UT_* */
	struct el_form_sizes sizes;
	bool split;
	bool indexed;
	bool is_c;   /* types hold no functions */
	bool is_cxx; /* functions have linkage names */
	uint64_t low_pc;
	uint64_t addr_base, str_offsets_base, rnglists_base;
	uint64_t line_off; /* UINT64_MAX: none */
	const char *comp_dir;
	uint64_t index_base;
	EL_VEC(struct el_scope) scopes;
	EL_VEC(struct el_segment) segments;
	uint32_t lines; /* of el_dwarf.lines; EL_DWARF_NONE: not looked for yet */
};

struct el_unit_range {
	uint64_t start, end;
	uint64_t max_end; /* of this one and all before it */
	uint32_t unit;
};

/* Finds all units and their ranges. 0 or -ENOMEM. */
int el_units_read(struct el_dwarf *dwarf);
/* The unit whose bytes hold a DIE, or NULL. */
struct el_dwarf_unit *el_unit_of_die(struct el_dwarf *dwarf, uint64_t die);
/* Cursor at a DIE's attributes with its abbreviation; false when there is none. */
bool el_unit_die(struct el_dwarf *dwarf, const struct el_dwarf_unit *unit, uint64_t die,
		 struct el_cursor *ret, const struct el_abbrevs **abbrevs,
		 const struct el_abbrev **abbrev);

/* --- strings, addresses, ranges ---------------------------------------------------- */
const char *el_value_string(struct el_dwarf *dwarf, const struct el_dwarf_unit *unit,
			    const struct el_value *value);
bool el_value_addr(struct el_dwarf *dwarf, const struct el_dwarf_unit *unit,
		   const struct el_value *value, uint64_t *ret);

struct el_range {
	uint64_t start, end;
	uint32_t scope;
};
struct el_ranges {
	EL_VEC(struct el_range) list;
};

/* What a DIE says about its code. */
struct el_die_code {
	struct el_value low, high, ranges;
};

/* Keeps the value of an attribute that says where code is; others are none of it. */
static inline void el_die_code_take(struct el_die_code *code, uint16_t name, struct el_value value)
{
	if (name == DW_AT_low_pc)
		code->low = value;
	else if (name == DW_AT_high_pc)
		code->high = value;
	else if (name == DW_AT_ranges)
		code->ranges = value;
}

/* Appends the ranges of a DIE, tagged with `scope`; empty ones and those at 0 (discarded) are not.
 */
int el_ranges_add(struct el_dwarf *dwarf, const struct el_dwarf_unit *unit,
		  const struct el_die_code *code, uint32_t scope, struct el_ranges *ranges);
#define EL_RANGES_MAX (4u << 20)
#define EL_LIST_STEPS_MAX (256u << 20)

/* --- scopes ------------------------------------------------------------------------ */
/* One pass over the unit's DIEs. 0 or -ENOMEM; damaged parts are left out. */
int el_scopes_read(struct el_dwarf *dwarf, struct el_dwarf_unit *unit, struct el_ranges *ranges);
/* Ranges that nest -> segments that do not. */
int el_segments_make(struct el_dwarf_unit *unit, struct el_ranges *ranges);

/* --- functions --------------------------------------------------------------------- */
struct el_dwarf_function {
	uint32_t origin;
	uint32_t readable; /* string, 0: not made yet */
	const char *name;  /* linkage name or name; NULL unknown */
	uint32_t file;     /* string */
	uint32_t line;
};

/* Index into dwarf->functions, or EL_DWARF_NONE without memory. */
uint32_t el_function_of(struct el_dwarf *dwarf, uint32_t origin);

/* --- lines (6.2) --------------------------------------------------------------------- */
struct el_line_row {
	uint32_t off; /* from the sequence's start */
	uint32_t line;
	uint32_t file : 20;
	uint32_t column : 12;
};

struct el_line_sequence {
	uint64_t start, end;
	uint32_t first, n;
};

struct el_line_file {
	uint32_t name; /* string */
	uint32_t dir;
	uint32_t path; /* string, 0: not joined yet */
};

struct el_lines {
	uint64_t off;
	uint32_t comp_dir; /* string */
	uint16_t version;
	bool has_rows; /* the program was run */
	EL_VEC(uint32_t) dirs;
	EL_VEC(struct el_line_file) files;
	EL_VEC(struct el_line_sequence) sequences;
	EL_VEC(struct el_line_row) rows;
	uint64_t program_off;
	uint64_t program_end;
	uint8_t min_inst, opcode_base, line_range;
	int8_t line_base;
	uint8_t opcode_lengths[256];
	uint8_t addr_size;
};

/* The unit's table with its files; rows too when `rows`. NULL when it has none. */
struct el_lines *el_lines_of(struct el_dwarf *dwarf, struct el_dwarf_unit *unit, bool rows);
void el_lines_deinit(struct el_lines *lines);
/* Reads the header at lines->off; -EINVAL when damaged, then there are no files. */
int el_lines_read_header(struct el_dwarf *dwarf, const struct el_dwarf_unit *unit,
			 struct el_lines *lines);
int el_lines_run(struct el_dwarf *dwarf, struct el_lines *lines);
/* The sequence that covers `addr`, or NULL. */
const struct el_line_sequence *el_lines_sequence(const struct el_lines *lines, uint64_t addr);
/* Position of the last row at or before `addr` in its sequence. */
uint32_t el_lines_row(const struct el_lines *lines, const struct el_line_sequence *sequence,
		      uint64_t addr);
/* The absolute path of a file, a string; 0 unknown. */
uint32_t el_lines_path(struct el_dwarf *dwarf, struct el_lines *lines, uint64_t file);

/* --- the whole ------------------------------------------------------------------------ */
struct el_dwarf {
	struct el_elf *elf;
	struct el_piece sections[EL_N_SECTIONS];
	bool tried[EL_N_SECTIONS];
	bool relocatable; /* ET_REL: 0 is not a mark of discarded code */
	bool units_read;
	EL_VEC(struct el_dwarf_unit) units;
	EL_VEC(struct el_unit_range) ranges;
	EL_VEC(struct el_dwarf_function) functions;
	struct el_index functions_by_origin;
	EL_VEC(struct el_lines *) lines;
	struct el_index lines_by_off;
	struct el_strings strings;
	struct el_abbrevs abbrevs[EL_ABBREVS_CACHED];
	uint64_t abbrev_bytes; /* of tables read, each time one is */
	uint64_t list_steps;   /* entries of range lists read; many DIEs may share a long list */
	uint64_t index_bytes;
	uint64_t n_indexed;
};

/* The section, loaded on its first use; empty when absent or damaged. */
struct el_piece *el_dwarf_section(struct el_dwarf *dwarf, enum el_dwarf_section section);

#endif
