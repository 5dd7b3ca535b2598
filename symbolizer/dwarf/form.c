/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attribute forms (DWARF 5, 7.5.6, and the GNU ones of split and
 * supplementary files). References into other files are read over and mean
 * nothing here.
 */
#include <dwarf.h>

#include "symbolizer/dwarf/part.h"

uint32_t el_form_size(uint16_t form, const struct el_form_sizes *sizes)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return sizes->addr_size;
	case DW_FORM_ref_addr:
		return sizes->version <= 2 ? sizes->addr_size : sizes->offset_size;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_sec_offset:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return sizes->offset_size;
	default:
		return EL_DWARF_NONE;
	}
}

static struct el_value value_of(enum el_value_kind kind, uint64_t number)
{
	return (struct el_value){.kind = kind, .number = number};
}

/* The forms whose size varies. */
static struct el_value read_varying(struct el_cursor *cursor, uint16_t form,
				    const struct el_form_sizes *sizes)
{
	struct el_value value = {0};

	switch (form) {
	case DW_FORM_udata:
		return value_of(EL_VALUE_UINT, el_cursor_uleb(cursor));
	case DW_FORM_sdata:
		return value_of(EL_VALUE_UINT, el_cursor_sleb(cursor));
	case DW_FORM_string:
		value.text = el_cursor_string(cursor);
		value.kind = value.text ? EL_VALUE_STRING : EL_VALUE_NONE;
		return value;
	case DW_FORM_ref_udata:
		return value_of(EL_VALUE_REF, sizes->unit_off + el_cursor_uleb(cursor));
	case DW_FORM_strx:
	case DW_FORM_GNU_str_index:
		return value_of(EL_VALUE_STR_INDEX, el_cursor_uleb(cursor));
	case DW_FORM_addrx:
	case DW_FORM_GNU_addr_index:
		return value_of(EL_VALUE_ADDR_INDEX, el_cursor_uleb(cursor));
	case DW_FORM_rnglistx:
	case DW_FORM_loclistx:
		return value_of(EL_VALUE_LIST_INDEX, el_cursor_uleb(cursor));
	case DW_FORM_block:
	case DW_FORM_exprloc:
		el_cursor_bytes(cursor, el_cursor_uleb(cursor));
		return value;
	case DW_FORM_block1:
		el_cursor_bytes(cursor, el_cursor_u8(cursor));
		return value;
	case DW_FORM_block2:
		el_cursor_bytes(cursor, el_cursor_u16(cursor));
		return value;
	case DW_FORM_block4:
		el_cursor_bytes(cursor, el_cursor_u32(cursor));
		return value;
	default:
		el_cursor_fail(cursor);
		return value;
	}
}

struct el_value el_form_read(struct el_cursor *cursor, const struct el_attr *attr,
			     const struct el_form_sizes *sizes)
{
	uint16_t form = attr->form;
	uint32_t size;
	uint64_t number;

	if (form == DW_FORM_indirect) {
		form = el_cursor_uleb(cursor);
		if (form == DW_FORM_indirect || form == DW_FORM_implicit_const)
			el_cursor_fail(cursor);
	}
	size = el_form_size(form, sizes);
	if (size == EL_DWARF_NONE)
		return read_varying(cursor, form, sizes);
	if (size > 8) {
		el_cursor_bytes(cursor, size);
		return value_of(EL_VALUE_NONE, 0);
	}
	number = el_cursor_uint(cursor, size);
	switch (form) {
	case DW_FORM_flag_present:
		return value_of(EL_VALUE_UINT, 1);
	case DW_FORM_implicit_const:
		return value_of(EL_VALUE_UINT, attr->implicit);
	case DW_FORM_addr:
		return value_of(EL_VALUE_ADDR, number);
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
		return value_of(EL_VALUE_REF, sizes->unit_off + number);
	case DW_FORM_ref_addr:
		return value_of(EL_VALUE_REF, number);
	case DW_FORM_strp:
		return value_of(EL_VALUE_STR, number);
	case DW_FORM_line_strp:
		return value_of(EL_VALUE_LINE_STR, number);
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
		return value_of(EL_VALUE_STR_INDEX, number);
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
		return value_of(EL_VALUE_ADDR_INDEX, number);
	case DW_FORM_sec_offset:
		return value_of(EL_VALUE_SECTION_OFFSET, number);
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
	case DW_FORM_ref_sig8:
		return value_of(EL_VALUE_NONE, 0);
	default:
		return value_of(EL_VALUE_UINT, number);
	}
}
