/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit headers and unit DIEs (DWARF 5, 7.5.1 and 3.1): one fast pass that
 * touches only the first DIE of each unit and says which unit holds an
 * address. .debug_aranges is not used: it is absent in JIT code and often
 * incomplete, and the unit DIEs say the same.
 */
#include <dwarf.h>

#include "base/search.h"
#include "symbolizer/dwarf/part.h"

#define UNITS_MAX (1u << 20) /* headers read, of units we know or not: one of zeros has 4 bytes */
#define HEADER_MAX 48u
#define ABBREV_BYTES_MAX (64u << 20) /* in one pass, and four times the section */

/* The attributes of a unit DIE as read; bases may come after their users. */
struct unit_die {
	struct el_die_code code;
	struct el_value comp_dir;
	uint16_t tag;
};

static bool read_header(struct el_cursor *cursor, uint32_t off, uint64_t section_size,
			struct el_dwarf_unit *unit)
{
	const uint8_t *start = cursor->at;
	uint64_t length = el_cursor_u32(cursor);
	size_t offset_size = 4;

	if (length == UINT32_MAX) {
		length = el_cursor_u64(cursor);
		offset_size = 8;
	}
	length += cursor->at - start;
	if (cursor->failed || length > section_size - off)
		return false;
	*unit = (struct el_dwarf_unit){
		.off = off, .end = off + length, .line_off = UINT64_MAX, .lines = EL_DWARF_NONE};
	unit->sizes.unit_off = off;
	unit->sizes.offset_size = offset_size;
	unit->sizes.version = el_cursor_u16(cursor);
	if (unit->sizes.version >= 5) {
		unit->type = el_cursor_u8(cursor);
		unit->sizes.addr_size = el_cursor_u8(cursor);
		unit->abbrev_off = el_cursor_uint(cursor, offset_size);
		if (unit->type == DW_UT_skeleton || unit->type == DW_UT_split_compile)
			el_cursor_u64(cursor);
	} else {
		unit->abbrev_off = el_cursor_uint(cursor, offset_size);
		unit->sizes.addr_size = el_cursor_u8(cursor);
	}
	unit->first_die = off + (cursor->at - start);
	return !cursor->failed;
}

/* Whether the unit's form is one we read; others are passed over. */
static bool is_known(const struct el_dwarf_unit *unit)
{
	const struct el_form_sizes *sizes = &unit->sizes;

	return sizes->version >= 2 && sizes->version <= 5 && unit->first_die < unit->end &&
	       (sizes->addr_size == 4 || sizes->addr_size == 8) && unit->type != DW_UT_type &&
	       unit->type != DW_UT_split_type;
}

bool el_unit_die(struct el_dwarf *dwarf, const struct el_dwarf_unit *unit, uint64_t die,
		 struct el_cursor *ret, const struct el_abbrevs **abbrevs,
		 const struct el_abbrev **abbrev)
{
	const uint8_t *at;

	if (die < unit->first_die || die >= unit->end)
		return false;
	at = el_piece_range(el_dwarf_section(dwarf, EL_SECTION_INFO), die, unit->end - die);
	*abbrevs = el_abbrevs_of(dwarf, unit);
	if (!at || !*abbrevs)
		return false;
	*ret = el_cursor_of(at, unit->end - die);
	*abbrev = el_abbrevs_find(*abbrevs, el_cursor_uleb(ret));
	return *abbrev != NULL;
}

/* Codes of DWARF 5, 7.12, and of its public list of later ones. */
static void take_language(struct el_dwarf_unit *unit, uint64_t language)
{
	switch (language) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case 0x2c: /* C17 */
		unit->is_c = true;
		break;
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case 0x2b: /* C++17 */
	case 0x2d: /* C++20 */
		unit->is_cxx = true;
		break;
	}
}

static void take_attribute(struct el_dwarf_unit *unit, uint16_t name, struct el_value value,
			   struct unit_die *die)
{
	switch (name) {
	case DW_AT_comp_dir:
		die->comp_dir = value;
		break;
	case DW_AT_stmt_list:
		unit->line_off = value.number;
		break;
	case DW_AT_language:
		take_language(unit, value.number);
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		unit->addr_base = value.number;
		break;
	case DW_AT_str_offsets_base:
		unit->str_offsets_base = value.number;
		break;
	case DW_AT_rnglists_base:
		unit->rnglists_base = value.number;
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		unit->split = true;
		break;
	default:
		el_die_code_take(&die->code, name, value);
	}
}

/* Reads the unit DIE out of its first page or, when it is longer, out of the whole unit. */
static bool read_unit_die(struct el_dwarf *dwarf, struct el_dwarf_unit *unit, struct unit_die *die)
{
	struct el_piece *info = el_dwarf_section(dwarf, EL_SECTION_INFO);
	const struct el_abbrevs *abbrevs = el_abbrevs_of(dwarf, unit);
	uint32_t whole = unit->end - unit->first_die, size = whole < 512 ? whole : 512;
	const struct el_abbrev *abbrev;
	struct el_cursor cursor;
	const uint8_t *at;
	uint32_t i;

	if (!abbrevs)
		return false;
	for (;; size = whole) {
		at = el_piece_range(info, unit->first_die, size);
		if (!at)
			return false;
		*die = (struct unit_die){0};
		cursor = el_cursor_of(at, size);
		abbrev = el_abbrevs_find(abbrevs, el_cursor_uleb(&cursor));
		if (!abbrev)
			return false;
		die->tag = abbrev->tag;
		for (i = 0; i < abbrev->n_attrs && !cursor.failed; i++) {
			const struct el_attr *attr = &abbrevs->attrs.at[abbrev->first_attr + i];
			struct el_value value = el_form_read(&cursor, attr, &unit->sizes);

			take_attribute(unit, attr->name, value, die);
		}
		if (!cursor.failed || size == whole)
			return !cursor.failed;
	}
}

static int add_unit_ranges(struct el_dwarf *dwarf, uint32_t unit, const struct el_ranges *ranges)
{
	size_t i;
	int err = 0;

	for (i = 0; i < ranges->list.n && !err; i++) {
		struct el_unit_range range = {.start = ranges->list.at[i].start,
					      .end = ranges->list.at[i].end,
					      .unit = unit};

		err = el_vec_push(&dwarf->ranges, range);
	}
	return err;
}

static int add_unit(struct el_dwarf *dwarf, struct el_dwarf_unit *unit)
{
	struct el_ranges ranges = {0};
	struct unit_die die;
	struct el_value low;
	int err;

	if (!is_known(unit) || !read_unit_die(dwarf, unit, &die))
		return 0;
	low = die.code.low;
	if (!el_value_addr(dwarf, unit, &low, &unit->low_pc))
		unit->low_pc = 0;
	unit->comp_dir = el_value_string(dwarf, unit, &die.comp_dir);
	unit->split |= unit->type == DW_UT_skeleton;
	err = el_ranges_add(dwarf, unit, &die.code, 0, &ranges);
	if (!err)
		err = el_vec_push(&dwarf->units, *unit);
	/* Some producers leave the unit's ranges out; its functions have them. */
	if (!err && !die.code.ranges.kind && !die.code.high.kind &&
	    die.tag == DW_TAG_compile_unit && !unit->split) {
		err = el_scopes_read(dwarf, &dwarf->units.at[dwarf->units.n - 1], &ranges);
		dwarf->units.at[dwarf->units.n - 1].scopes.n = 0;
	}
	if (!err)
		err = add_unit_ranges(dwarf, dwarf->units.n - 1, &ranges);
	el_vec_deinit(&ranges.list);
	return err;
}

static int by_start(const void *a, const void *b)
{
	const struct el_unit_range *left = a, *right = b;

	if (left->start != right->start)
		return (left->start > right->start) - (left->start < right->start);
	return (left->unit > right->unit) - (left->unit < right->unit);
}

/* Units may share a long range list, and their abbreviation tables may overlap: what is read is
 * more than the file then. */
static bool too_much(struct el_dwarf *dwarf, uint64_t abbrev_bytes)
{
	uint64_t section = el_dwarf_section(dwarf, EL_SECTION_ABBREV)->size;

	return dwarf->ranges.n >= EL_RANGES_MAX ||
	       dwarf->abbrev_bytes - abbrev_bytes > ABBREV_BYTES_MAX + 4 * section;
}

int el_units_read(struct el_dwarf *dwarf)
{
	uint64_t abbrev_bytes = dwarf->abbrev_bytes;
	struct el_piece *info = el_dwarf_section(dwarf, EL_SECTION_INFO);
	struct el_dwarf_unit unit;
	struct el_cursor cursor;
	const uint8_t *at;
	uint64_t off = 0, max_end = 0;
	size_t left, n_headers, i;
	int err;

	dwarf->units_read = true;
	for (n_headers = 0; off < info->size && n_headers < UNITS_MAX; n_headers++) {
		left = info->size - off < HEADER_MAX ? info->size - off : HEADER_MAX;
		at = el_piece_range(info, off, left);
		if (!at)
			break;
		cursor = el_cursor_of(at, left);
		if (!read_header(&cursor, off, info->size, &unit))
			break;
		off = unit.end;
		err = add_unit(dwarf, &unit);
		if (err)
			return err;
		if (too_much(dwarf, abbrev_bytes))
			break;
	}
	if (dwarf->ranges.n)
		qsort(dwarf->ranges.at, dwarf->ranges.n, sizeof(*dwarf->ranges.at), by_start);
	for (i = 0; i < dwarf->ranges.n; i++) {
		max_end = dwarf->ranges.at[i].end > max_end ? dwarf->ranges.at[i].end : max_end;
		dwarf->ranges.at[i].max_end = max_end;
	}
	return 0;
}

struct el_dwarf_unit *el_unit_of_die(struct el_dwarf *dwarf, uint64_t die)
{
	size_t low = el_partition(dwarf->units.n, i, dwarf->units.at[i].end <= die);

	if (low == dwarf->units.n || die < dwarf->units.at[low].first_die)
		return NULL;
	return &dwarf->units.at[low];
}
