/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over the DIEs of a unit: every subprogram and inlined subroutine
 * that has code becomes a scope, its ranges become segments that no longer
 * overlap, so that an address finds its innermost scope by one binary search.
 * Names are left for the question (functions.c).
 */
#include <dwarf.h>

#include "symbolizer/dwarf/part.h"

#define DEPTH_MAX 4096u
#define SCOPES_MAX (4u << 20)

struct pass {
	struct el_dwarf *dwarf;
	struct el_dwarf_unit *unit;
	const struct el_abbrevs *abbrevs;
	struct el_ranges *ranges;
	const uint8_t *section;      /* byte 0 of .debug_info */
	uint32_t parents[DEPTH_MAX]; /* innermost scope at each depth */
	uint32_t depth;
};

/* What the pass wants of one DIE. */
struct die {
	struct el_die_code code;
	uint64_t origin;
	uint64_t sibling;
	uint32_t call_line, call_file, call_column;
};

static void take_attribute(struct die *die, uint16_t name, struct el_value value)
{
	switch (name) {
	case DW_AT_abstract_origin:
		if (value.kind == EL_VALUE_REF)
			die->origin = value.number;
		break;
	case DW_AT_sibling:
		if (value.kind == EL_VALUE_REF)
			die->sibling = value.number;
		break;
	case DW_AT_call_line:
		die->call_line = value.number;
		break;
	case DW_AT_call_file:
		die->call_file = value.number;
		break;
	case DW_AT_call_column:
		die->call_column = value.number;
		break;
	default:
		el_die_code_take(&die->code, name, value);
	}
}

static void read_die(struct pass *pass, const struct el_abbrev *abbrev, struct el_cursor *cursor,
		     struct die *die)
{
	const struct el_attr *attr;
	uint32_t i;

	*die = (struct die){0};
	for (i = 0; i < abbrev->n_attrs && !cursor->failed; i++) {
		attr = &pass->abbrevs->attrs.at[abbrev->first_attr + i];
		take_attribute(die, attr->name, el_form_read(cursor, attr, &pass->unit->sizes));
	}
}

/* The scope of a DIE with code, or its parent's when it has none. */
static int add_scope(struct pass *pass, uint16_t tag, uint32_t off, const struct die *die,
		     uint32_t *scope)
{
	struct el_dwarf_unit *unit = pass->unit;
	struct el_scope added = {
		.origin = die->origin && die->origin < UINT32_MAX ? die->origin : off,
		.parent = tag == DW_TAG_inlined_subroutine ? *scope : EL_DWARF_NONE,
		.call_line = die->call_line,
		.call_file = die->call_file,
		.call_column = die->call_column,
	};
	size_t n = pass->ranges->list.n;
	int err;

	if (unit->scopes.n >= SCOPES_MAX)
		return 0;
	err = el_ranges_add(pass->dwarf, unit, &die->code, unit->scopes.n, pass->ranges);
	if (!err && pass->ranges->list.n > n) {
		*scope = unit->scopes.n;
		err = el_vec_push(&unit->scopes, added);
	}
	return err;
}

/* Types of a C unit hold no functions: their children need not be read. */
static bool is_skippable(const struct pass *pass, uint16_t tag)
{
	switch (tag) {
	case DW_TAG_enumeration_type:
	case DW_TAG_array_type:
	case DW_TAG_subroutine_type:
		return true;
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return pass->unit->is_c;
	default:
		return false;
	}
}

static void skip_attributes(struct pass *pass, const struct el_abbrev *abbrev,
			    struct el_cursor *cursor)
{
	const struct el_attr *attr;
	uint32_t i, size;

	if (abbrev->fixed_size != EL_DWARF_NONE) {
		el_cursor_bytes(cursor, abbrev->fixed_size);
		return;
	}
	for (i = 0; i < abbrev->n_attrs && !cursor->failed; i++) {
		attr = &pass->abbrevs->attrs.at[abbrev->first_attr + i];
		size = el_form_size(attr->form, &pass->unit->sizes);
		if (size != EL_DWARF_NONE)
			el_cursor_bytes(cursor, size);
		else
			el_form_read(cursor, attr, &pass->unit->sizes);
	}
}

/* One DIE; the cursor is left at the next. -EINVAL: damaged, the rest of the unit is left out. */
static int visit(struct pass *pass, const struct el_abbrev *abbrev, struct el_cursor *cursor,
		 uint32_t off)
{
	uint32_t scope = pass->parents[pass->depth];
	bool may_skip = abbrev->has_children && is_skippable(pass, abbrev->tag);
	struct die die = {0};
	int err = 0;

	if (abbrev->tag == DW_TAG_subprogram || abbrev->tag == DW_TAG_inlined_subroutine) {
		read_die(pass, abbrev, cursor, &die);
		if (!cursor->failed)
			err = add_scope(pass, abbrev->tag, off, &die, &scope);
	} else if (may_skip) {
		read_die(pass, abbrev, cursor, &die);
	} else {
		skip_attributes(pass, abbrev, cursor);
	}
	if (err || cursor->failed)
		return err ? err : -EINVAL;
	if (!abbrev->has_children)
		return 0;
	if (may_skip && die.sibling > off && die.sibling < pass->unit->end &&
	    pass->section + die.sibling >= cursor->at) {
		cursor->at = pass->section + die.sibling;
		return 0;
	}
	if (pass->depth + 1 >= DEPTH_MAX)
		return -EINVAL;
	pass->parents[++pass->depth] = scope;
	return 0;
}

static int run(struct pass *pass, struct el_cursor *cursor)
{
	const struct el_abbrev *abbrev;
	uint64_t code;
	uint32_t off;
	int err;

	while (el_cursor_left(cursor)) {
		off = cursor->at - pass->section;
		code = el_cursor_uleb(cursor);
		if (!code) {
			if (pass->depth <= 1)
				return 0;
			pass->depth--;
			continue;
		}
		abbrev = el_abbrevs_find(pass->abbrevs, code);
		if (!abbrev)
			return 0;
		err = visit(pass, abbrev, cursor, off);
		if (err)
			return err == -EINVAL ? 0 : err;
	}
	return 0;
}

int el_scopes_read(struct el_dwarf *dwarf, struct el_dwarf_unit *unit, struct el_ranges *ranges)
{
	struct el_piece *info = el_dwarf_section(dwarf, EL_SECTION_INFO);
	const uint8_t *at = el_piece_range(info, unit->first_die, unit->end - unit->first_die);
	struct el_cursor cursor;
	struct pass *pass;
	int err;

	if (!at)
		return 0;
	pass = malloc(sizeof(*pass));
	if (!pass)
		return -ENOMEM;
	pass->dwarf = dwarf;
	pass->unit = unit;
	pass->abbrevs = el_abbrevs_of(dwarf, unit);
	pass->ranges = ranges;
	pass->section = info->at;
	pass->depth = 0;
	pass->parents[0] = EL_DWARF_NONE;
	cursor = el_cursor_of(at, unit->end - unit->first_die);
	err = pass->abbrevs ? run(pass, &cursor) : 0;
	free(pass);
	return err;
}
