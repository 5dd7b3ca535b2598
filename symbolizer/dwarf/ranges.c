/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings, addresses and ranges that attributes point to: .debug_str,
 * .debug_str_offsets, .debug_addr (DWARF 5, 7.26-7.27), .debug_ranges
 * (DWARF 4, 2.17.3) and .debug_rnglists (DWARF 5, 2.17.3 and 7.28).
 */
#include <dwarf.h>

#include "symbolizer/dwarf/part.h"

static uint64_t section_uint(struct el_dwarf *dwarf, enum el_dwarf_section section, uint64_t off,
			     size_t size, bool *ok)
{
	const uint8_t *at = el_piece_range(el_dwarf_section(dwarf, section), off, size);
	uint64_t value = 0;

	*ok = at;
	if (at)
		memcpy(&value, at, size);
	return value;
}

const char *el_value_string(struct el_dwarf *dwarf, const struct el_dwarf_unit *unit,
			    const struct el_value *value)
{
	uint64_t off = value->number;
	bool ok;

	switch (value->kind) {
	case EL_VALUE_STRING:
		return value->text;
	case EL_VALUE_LINE_STR:
		return el_piece_string(el_dwarf_section(dwarf, EL_SECTION_LINE_STR), off);
	case EL_VALUE_STR_INDEX:
		if (off > UINT32_MAX)
			return NULL;
		off = section_uint(dwarf, EL_SECTION_STR_OFFSETS,
				   unit->str_offsets_base + off * unit->sizes.offset_size,
				   unit->sizes.offset_size, &ok);
		if (!ok)
			return NULL;
		return el_piece_string(el_dwarf_section(dwarf, EL_SECTION_STR), off);
	case EL_VALUE_STR:
		return el_piece_string(el_dwarf_section(dwarf, EL_SECTION_STR), off);
	default:
		return NULL;
	}
}

bool el_value_addr(struct el_dwarf *dwarf, const struct el_dwarf_unit *unit,
		   const struct el_value *value, uint64_t *ret)
{
	uint64_t addr;
	bool ok;

	if (value->kind == EL_VALUE_ADDR) {
		*ret = value->number;
		return true;
	}
	if (value->kind != EL_VALUE_ADDR_INDEX || value->number > UINT32_MAX)
		return false;
	addr = section_uint(dwarf, EL_SECTION_ADDR,
			    unit->addr_base + value->number * unit->sizes.addr_size,
			    unit->sizes.addr_size, &ok);
	if (ok)
		*ret = addr;
	return ok;
}

/* Linkers leave discarded functions at 0, 1 or the highest addresses. */
static int add(struct el_dwarf *dwarf, uint64_t start, uint64_t end, uint32_t scope,
	       struct el_ranges *ranges)
{
	struct el_range range = {.start = start, .end = end, .scope = scope};

	if (start >= end || (start <= 1 && !dwarf->relocatable) || ranges->list.n >= EL_RANGES_MAX)
		return 0;
	return el_vec_push(&ranges->list, range);
}

static int add_v4(struct el_dwarf *dwarf, const struct el_dwarf_unit *unit, uint64_t off,
		  uint32_t scope, struct el_ranges *ranges)
{
	struct el_piece *piece = el_dwarf_section(dwarf, EL_SECTION_RANGES);
	size_t size = unit->sizes.addr_size;
	uint64_t highest = size == 4 ? UINT32_MAX : UINT64_MAX;
	uint64_t base = unit->low_pc, start, end;
	const uint8_t *at;
	int err = 0;

	while (!err && ranges->list.n < EL_RANGES_MAX && dwarf->list_steps++ < EL_LIST_STEPS_MAX) {
		at = el_piece_range(piece, off, 2 * size);
		if (!at)
			return 0;
		start = end = 0;
		memcpy(&start, at, size);
		memcpy(&end, at + size, size);
		off += 2 * size;
		if (start == highest)
			base = end;
		else if (!start && !end)
			return 0;
		else
			err = add(dwarf, base + start, base + end, scope, ranges);
	}
	return err;
}

static bool addr_at(struct el_dwarf *dwarf, const struct el_dwarf_unit *unit, uint64_t index,
		    uint64_t *ret)
{
	struct el_value value = {.kind = EL_VALUE_ADDR_INDEX, .number = index};

	*ret = 0;
	return el_value_addr(dwarf, unit, &value, ret);
}

/* One list entry; false at the end of the list. */
static bool read_v5(struct el_dwarf *dwarf, const struct el_dwarf_unit *unit,
		    struct el_cursor *cursor, uint64_t *base, uint64_t *start, uint64_t *end)
{
	size_t size = unit->sizes.addr_size;

	*start = *end = 0;
	switch (el_cursor_u8(cursor)) {
	case DW_RLE_base_addressx:
		return addr_at(dwarf, unit, el_cursor_uleb(cursor), base);
	case DW_RLE_startx_endx:
		return addr_at(dwarf, unit, el_cursor_uleb(cursor), start) &&
		       addr_at(dwarf, unit, el_cursor_uleb(cursor), end);
	case DW_RLE_startx_length:
		if (!addr_at(dwarf, unit, el_cursor_uleb(cursor), start))
			return false;
		*end = *start + el_cursor_uleb(cursor);
		return true;
	case DW_RLE_offset_pair:
		*start = *base + el_cursor_uleb(cursor);
		*end = *base + el_cursor_uleb(cursor);
		return true;
	case DW_RLE_base_address:
		*base = el_cursor_uint(cursor, size);
		return true;
	case DW_RLE_start_end:
		*start = el_cursor_uint(cursor, size);
		*end = el_cursor_uint(cursor, size);
		return true;
	case DW_RLE_start_length:
		*start = el_cursor_uint(cursor, size);
		*end = *start + el_cursor_uleb(cursor);
		return true;
	default:
		return false;
	}
}

/* Lists have no length: read on in steps, and again from the start of a step that was cut. */
static int add_v5(struct el_dwarf *dwarf, const struct el_dwarf_unit *unit, uint64_t off,
		  uint32_t scope, struct el_ranges *ranges)
{
	struct el_piece *piece = el_dwarf_section(dwarf, EL_SECTION_RNGLISTS);
	uint64_t base = unit->low_pc, start, end;
	struct el_cursor cursor;
	const uint8_t *at;
	size_t left;
	int err = 0;

	while (!err && off < piece->size && ranges->list.n < EL_RANGES_MAX &&
	       dwarf->list_steps++ < EL_LIST_STEPS_MAX) {
		left = piece->size - off < 32 ? piece->size - off : 32;
		at = el_piece_range(piece, off, left);
		if (!at)
			return 0;
		cursor = el_cursor_of(at, left);
		if (!read_v5(dwarf, unit, &cursor, &base, &start, &end) || cursor.failed)
			return 0;
		off += cursor.at - at;
		err = add(dwarf, start, end, scope, ranges);
	}
	return err;
}

static int add_list(struct el_dwarf *dwarf, const struct el_dwarf_unit *unit,
		    const struct el_value *value, uint32_t scope, struct el_ranges *ranges)
{
	uint64_t off = value->number;
	bool ok;

	if (value->kind == EL_VALUE_LIST_INDEX) {
		if (off > UINT32_MAX)
			return 0;
		off = section_uint(dwarf, EL_SECTION_RNGLISTS,
				   unit->rnglists_base + off * unit->sizes.offset_size,
				   unit->sizes.offset_size, &ok);
		if (!ok)
			return 0;
		off += unit->rnglists_base;
	}
	if (unit->sizes.version >= 5)
		return add_v5(dwarf, unit, off, scope, ranges);
	return add_v4(dwarf, unit, off, scope, ranges);
}

int el_ranges_add(struct el_dwarf *dwarf, const struct el_dwarf_unit *unit,
		  const struct el_die_code *code, uint32_t scope, struct el_ranges *ranges)
{
	uint64_t low, high;

	if (code->ranges.kind)
		return add_list(dwarf, unit, &code->ranges, scope, ranges);
	if (!el_value_addr(dwarf, unit, &code->low, &low))
		return 0;
	if (code->high.kind == EL_VALUE_UINT)
		high = low + code->high.number;
	else if (!el_value_addr(dwarf, unit, &code->high, &high))
		return 0;
	return add(dwarf, low, high, scope, ranges);
}
