/* SPDX-License-Identifier: Apache-2.0 */
/* Abbreviation tables (DWARF 5, 7.5.3), a few of them cached; see part.h. */
#include <dwarf.h>

#include "base/hash.h"
#include "symbolizer/dwarf/part.h"

#define ABBREVS_MAX (1u << 20)
#define ATTRS_MAX (4u << 20)

void el_abbrevs_deinit(struct el_abbrevs *abbrevs)
{
	el_vec_deinit(&abbrevs->list);
	el_vec_deinit(&abbrevs->attrs);
	abbrevs->used = false;
}

static int by_code(const void *a, const void *b)
{
	const struct el_abbrev *left = a, *right = b;

	return (left->code > right->code) - (left->code < right->code);
}

/* One declaration's attributes up to the (0, 0) pair. */
static int read_attrs(struct el_abbrevs *abbrevs, struct el_cursor *cursor,
		      const struct el_form_sizes *sizes, struct el_abbrev *abbrev)
{
	struct el_attr attr;
	uint32_t size;
	int err;

	abbrev->first_attr = abbrevs->attrs.n;
	for (;;) {
		attr = (struct el_attr){.name = el_cursor_uleb(cursor)};
		attr.form = el_cursor_uleb(cursor);
		if (attr.form == DW_FORM_implicit_const)
			attr.implicit = el_cursor_sleb(cursor);
		if (cursor->failed || abbrevs->attrs.n >= ATTRS_MAX)
			return -EINVAL;
		if (!attr.name && !attr.form)
			return 0;
		err = el_vec_push(&abbrevs->attrs, attr);
		if (err)
			return err;
		abbrev->n_attrs++;
		size = el_form_size(attr.form, sizes);
		if (size == EL_DWARF_NONE || abbrev->fixed_size == EL_DWARF_NONE)
			abbrev->fixed_size = EL_DWARF_NONE;
		else
			abbrev->fixed_size += size;
	}
}

static int read_table(struct el_abbrevs *abbrevs, struct el_cursor *cursor,
		      const struct el_form_sizes *sizes)
{
	int err;

	abbrevs->dense = true;
	while (el_cursor_left(cursor)) {
		struct el_abbrev abbrev = {.code = el_cursor_uleb(cursor)};

		if (!abbrev.code)
			break;
		abbrev.tag = el_cursor_uleb(cursor);
		abbrev.has_children = el_cursor_u8(cursor);
		err = read_attrs(abbrevs, cursor, sizes, &abbrev);
		if (err == -EINVAL)
			break;
		if (!err)
			err = el_vec_push(&abbrevs->list, abbrev);
		if (err)
			return err;
		if (abbrev.code != abbrevs->list.n)
			abbrevs->dense = false;
		if (abbrevs->list.n >= ABBREVS_MAX)
			break;
	}
	if (!abbrevs->dense)
		qsort(abbrevs->list.at, abbrevs->list.n, sizeof(*abbrevs->list.at), by_code);
	return 0;
}

const struct el_abbrevs *el_abbrevs_of(struct el_dwarf *dwarf, const struct el_dwarf_unit *unit)
{
	struct el_piece *piece = el_dwarf_section(dwarf, EL_SECTION_ABBREV);
	struct el_abbrevs *slot =
		&dwarf->abbrevs[el_hash_u64(1, unit->abbrev_off) % EL_ABBREVS_CACHED];
	const struct el_form_sizes *sizes = &unit->sizes;
	struct el_cursor cursor;
	const uint8_t *at;

	if (slot->used && slot->off == unit->abbrev_off && slot->version == sizes->version &&
	    slot->addr_size == sizes->addr_size && slot->offset_size == sizes->offset_size)
		return slot;
	if (unit->abbrev_off >= piece->size)
		return NULL;
	/* Tables have no length; they are small, and the section is a few per cent of .debug_info.
	 */
	at = el_piece_range(piece, unit->abbrev_off, piece->size - unit->abbrev_off);
	if (!at)
		return NULL;
	slot->list.n = slot->attrs.n = 0;
	slot->used = false;
	cursor = el_cursor_of(at, piece->size - unit->abbrev_off);
	if (read_table(slot, &cursor, sizes))
		return NULL;
	dwarf->abbrev_bytes += cursor.at - at;
	slot->used = true;
	slot->off = unit->abbrev_off;
	slot->version = sizes->version;
	slot->addr_size = sizes->addr_size;
	slot->offset_size = sizes->offset_size;
	return slot;
}

const struct el_abbrev *el_abbrevs_find(const struct el_abbrevs *abbrevs, uint64_t code)
{
	struct el_abbrev wanted = {.code = code};

	if (abbrevs->dense)
		return code && code <= abbrevs->list.n ? &abbrevs->list.at[code - 1] : NULL;
	if (!abbrevs->list.n)
		return NULL;
	return bsearch(&wanted, abbrevs->list.at, abbrevs->list.n, sizeof(wanted), by_code);
}
