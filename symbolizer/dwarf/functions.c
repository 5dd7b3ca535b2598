/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions, made when first asked: the chain of abstract_origin
 * and specification (DWARF 5, 2.13.2 and 3.3.8.1) is followed across units,
 * a bounded number of steps, because a file may tie it into a ring.
 */
#include <dwarf.h>

#include "base/hash.h"
#include "symbolizer/dwarf/part.h"

#define HOPS_MAX 16

/* The best answers found along the chain so far: the nearest DIE that says it wins. */
struct naming {
	const char *name;
	const char *linkage_name;
	uint32_t file;
	uint32_t line;
};

/* Reads one DIE of the chain; returns the next, or 0. */
static uint64_t read_link(struct el_dwarf *dwarf, uint64_t die, struct naming *naming)
{
	struct el_dwarf_unit *unit = el_unit_of_die(dwarf, die);
	struct el_value name = {0}, linkage_name = {0};
	const struct el_abbrevs *abbrevs;
	const struct el_abbrev *abbrev;
	uint64_t next = 0, file = UINT64_MAX;
	uint32_t line = 0, i;
	struct el_cursor cursor;

	if (!unit || !el_unit_die(dwarf, unit, die, &cursor, &abbrevs, &abbrev))
		return 0;
	for (i = 0; i < abbrev->n_attrs && !cursor.failed; i++) {
		const struct el_attr *attr = &abbrevs->attrs.at[abbrev->first_attr + i];
		struct el_value value = el_form_read(&cursor, attr, &unit->sizes);

		if (attr->name == DW_AT_name)
			name = value;
		else if (attr->name == DW_AT_linkage_name || attr->name == DW_AT_MIPS_linkage_name)
			linkage_name = value;
		else if (attr->name == DW_AT_decl_file)
			file = value.number;
		else if (attr->name == DW_AT_decl_line)
			line = value.number;
		else if ((attr->name == DW_AT_abstract_origin ||
			  attr->name == DW_AT_specification) &&
			 value.kind == EL_VALUE_REF)
			next = value.number;
	}
	if (!naming->name)
		naming->name = el_value_string(dwarf, unit, &name);
	if (!naming->linkage_name)
		naming->linkage_name = el_value_string(dwarf, unit, &linkage_name);
	if (!naming->line && line) {
		struct el_lines *lines = el_lines_of(dwarf, unit, false);

		naming->line = line;
		if (lines && file != UINT64_MAX)
			naming->file = el_lines_path(dwarf, lines, file);
	}
	return next;
}

static bool has_origin(const void *owner, uint32_t position, const void *wanted)
{
	const struct el_dwarf *dwarf = owner;

	return dwarf->functions.at[position].origin == *(const uint32_t *)wanted;
}

uint32_t el_function_of(struct el_dwarf *dwarf, uint32_t origin)
{
	uint64_t hash = el_hash_u64(2, origin);
	struct el_dwarf_function function = {.origin = origin};
	struct naming naming = {0};
	uint64_t die = origin;
	uint32_t position;
	int hops;

	position = el_index_find(&dwarf->functions_by_origin, hash, has_origin, dwarf, &origin);
	if (position != EL_INDEX_NONE)
		return position;
	for (hops = 0; die && hops < HOPS_MAX; hops++)
		die = read_link(dwarf, die, &naming);
	function.name = naming.linkage_name ? naming.linkage_name : naming.name;
	function.file = naming.file;
	function.line = naming.line;
	position = dwarf->functions.n;
	if (el_vec_push(&dwarf->functions, function))
		return EL_DWARF_NONE;
	if (el_index_add(&dwarf->functions_by_origin, hash, position)) {
		dwarf->functions.n--;
		return EL_DWARF_NONE;
	}
	return position;
}
