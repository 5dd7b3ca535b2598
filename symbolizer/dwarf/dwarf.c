/* SPDX-License-Identifier: Apache-2.0 */
/* The DWARF of one object as a whole: sections on demand, units indexed on demand, lookups. */
#include "symbolizer/dwarf/dwarf.h"

#include <stdlib.h>

#include "base/search.h"
#include "symbolizer/demangle.h"
#include "symbolizer/dwarf/part.h"

#define INLINES_MAX 512
#define BORROW_STEPS_MAX 1000

static const char *const section_names[EL_N_SECTIONS] = {
	[EL_SECTION_INFO] = "info",
	[EL_SECTION_ABBREV] = "abbrev",
	[EL_SECTION_STR] = "str",
	[EL_SECTION_LINE] = "line",
	[EL_SECTION_LINE_STR] = "line_str",
	[EL_SECTION_RANGES] = "ranges",
	[EL_SECTION_RNGLISTS] = "rnglists",
	[EL_SECTION_ADDR] = "addr",
	[EL_SECTION_STR_OFFSETS] = "str_offsets",
};

struct el_piece *el_dwarf_section(struct el_dwarf *dwarf, enum el_dwarf_section section)
{
	struct el_piece *piece = &dwarf->sections[section];

	if (!dwarf->tried[section]) {
		dwarf->tried[section] = true;
		if (el_elf_load_debug(dwarf->elf, section_names[section], piece))
			*piece = (struct el_piece){0};
	}
	return piece;
}

int el_dwarf_new(struct el_elf *elf, struct el_dwarf **ret)
{
	struct el_dwarf *dwarf;

	if (!el_elf_find(elf, ".debug_info") && !el_elf_find(elf, ".zdebug_info"))
		return -ENOENT;
	dwarf = calloc(1, sizeof(*dwarf));
	if (!dwarf)
		return -ENOMEM;
	dwarf->elf = elf;
	dwarf->relocatable = elf->type == ET_REL;
	if (el_strings_init(&dwarf->strings)) {
		free(dwarf);
		return -ENOMEM;
	}
	*ret = dwarf;
	return 0;
}

void el_dwarf_free(struct el_dwarf *dwarf)
{
	size_t i;

	if (!dwarf)
		return;
	for (i = 0; i < EL_N_SECTIONS; i++)
		el_piece_deinit(&dwarf->sections[i]);
	for (i = 0; i < dwarf->units.n; i++) {
		el_vec_deinit(&dwarf->units.at[i].scopes);
		el_vec_deinit(&dwarf->units.at[i].segments);
	}
	for (i = 0; i < dwarf->lines.n; i++) {
		el_lines_deinit(dwarf->lines.at[i]);
		free(dwarf->lines.at[i]);
	}
	for (i = 0; i < EL_ABBREVS_CACHED; i++)
		el_abbrevs_deinit(&dwarf->abbrevs[i]);
	el_vec_deinit(&dwarf->units);
	el_vec_deinit(&dwarf->ranges);
	el_vec_deinit(&dwarf->functions);
	el_vec_deinit(&dwarf->lines);
	el_index_deinit(&dwarf->functions_by_origin);
	el_index_deinit(&dwarf->lines_by_off);
	el_strings_deinit(&dwarf->strings);
	free(dwarf);
}

/* Indexes the unit if it is not yet. 0 or -ENOMEM. */
static int index_unit(struct el_dwarf *dwarf, struct el_dwarf_unit *unit)
{
	struct el_ranges ranges = {0};
	int err;

	if (unit->indexed)
		return 0;
	unit->indexed = true;
	if (unit->split || dwarf->index_bytes > EL_DWARF_INDEX_MAX)
		return 0;
	err = el_scopes_read(dwarf, unit, &ranges);
	if (!err)
		err = el_segments_make(unit, &ranges);
	el_vec_deinit(&ranges.list);
	dwarf->index_bytes += unit->scopes.n * sizeof(*unit->scopes.at) +
			      unit->segments.n * sizeof(*unit->segments.at);
	dwarf->n_indexed++;
	return err;
}

static uint32_t scope_at(const struct el_dwarf_unit *unit, uint64_t addr)
{
	uint64_t off = addr - unit->index_base;
	size_t low = 0, high = unit->segments.n, middle;

	if (!high || addr < unit->index_base || off > UINT32_MAX)
		return EL_DWARF_NONE;
	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (unit->segments.at[middle].off <= off)
			low = middle;
		else
			high = middle;
	}
	return unit->segments.at[low].scope;
}

static uint32_t outermost(const struct el_dwarf_unit *unit, uint32_t scope)
{
	while (scope != EL_DWARF_NONE && unit->scopes.at[scope].parent != EL_DWARF_NONE)
		scope = unit->scopes.at[scope].parent;
	return scope;
}

/* The nearest unit of those that claim the address which knows a function there; else any. */
static int unit_at(struct el_dwarf *dwarf, uint64_t addr, struct el_dwarf_unit **ret)
{
	size_t low = el_partition(dwarf->ranges.n, i, dwarf->ranges.at[i].start <= addr);
	struct el_dwarf_unit *unit;
	int tried = 0, err;

	*ret = NULL;
	while (low-- > 0 && dwarf->ranges.at[low].max_end > addr && tried < 8) {
		if (dwarf->ranges.at[low].end <= addr)
			continue;
		tried++;
		unit = &dwarf->units.at[dwarf->ranges.at[low].unit];
		err = index_unit(dwarf, unit);
		if (err)
			return err;
		if (!*ret)
			*ret = unit;
		if (scope_at(unit, addr) != EL_DWARF_NONE) {
			*ret = unit;
			break;
		}
	}
	return 0;
}

/* A line of 0 borrows from the rows before it, as long as they belong to the same scope. */
static uint32_t borrow(const struct el_dwarf_unit *unit, const struct el_lines *lines,
		       const struct el_line_sequence *sequence, uint32_t row, uint32_t scope)
{
	uint32_t steps, at = row;

	for (steps = 0; at > sequence->first && steps < BORROW_STEPS_MAX; steps++) {
		at--;
		if (!lines->rows.at[at].line)
			continue;
		if (scope_at(unit, sequence->start + lines->rows.at[at].off) == scope)
			return at;
		if (outermost(unit, scope_at(unit, sequence->start + lines->rows.at[at].off)) !=
		    outermost(unit, scope))
			break;
	}
	return row;
}

/* A frame in the making: strings as indexes, because tables still grow. */
struct draft {
	uint32_t function; /* EL_DWARF_NONE: no name */
	uint32_t file;
	uint32_t line, column;
};

static void leaf_line(struct el_dwarf *dwarf, struct el_dwarf_unit *unit, uint64_t addr,
		      uint32_t scope, struct draft *draft, struct el_dwarf_answer *answer)
{
	struct el_lines *lines = el_lines_of(dwarf, unit, true);
	const struct el_line_sequence *sequence = lines ? el_lines_sequence(lines, addr) : NULL;
	uint32_t row;

	if (!sequence)
		return;
	row = el_lines_row(lines, sequence, addr);
	if (!lines->rows.at[row].line) {
		answer->borrowed = true;
		row = borrow(unit, lines, sequence, row, scope);
	}
	draft->line = lines->rows.at[row].line;
	draft->column = lines->rows.at[row].column;
	draft->file = el_lines_path(dwarf, lines, lines->rows.at[row].file);
}

static int make_readable(struct el_dwarf *dwarf, struct el_dwarf_function *function)
{
	char *readable;
	int err;

	if (function->readable || !function->name)
		return 0;
	readable = el_demangle(function->name);
	err = el_strings_add(&dwarf->strings, readable ? readable : function->name,
			     &function->readable);
	free(readable);
	return err;
}

static int add_frame(struct el_dwarf *dwarf, const struct draft *draft, struct el_found *found)
{
	struct el_found_frame frame = {
		.line = draft->line, .column = draft->column, .code = EL_CODE_NATIVE};
	const struct el_dwarf_function *function = NULL;

	if (draft->function != EL_DWARF_NONE) {
		function = &dwarf->functions.at[draft->function];
		frame.system_name = function->name;
		if (function->readable)
			frame.name = el_strings_get(&dwarf->strings, function->readable);
	}
	if (draft->file)
		frame.file = el_strings_get(&dwarf->strings, draft->file);
	else if (function && function->file && !draft->line)
		frame.file = el_strings_get(&dwarf->strings, function->file);
	if (function && (!draft->file || draft->file == function->file))
		frame.start_line = function->line;
	return el_vec_push(&found->frames, frame);
}

int el_dwarf_lookup(struct el_dwarf *dwarf, uint64_t addr, struct el_found *found,
		    struct el_dwarf_answer *ret)
{
	struct draft drafts[INLINES_MAX];
	struct el_dwarf_unit *unit;
	uint32_t scope, at;
	size_t n = 0, i;
	int err = 0;

	*ret = (struct el_dwarf_answer){0};
	if (!dwarf->units_read)
		err = el_units_read(dwarf);
	if (!err)
		err = unit_at(dwarf, addr, &unit);
	if (err || !unit)
		return err;
	ret->has_unit = true;
	ret->split = unit->split;
	ret->is_cxx = unit->is_cxx;
	if (unit->split)
		return 0;
	scope = scope_at(unit, addr);
	drafts[0] = (struct draft){.function = EL_DWARF_NONE};
	leaf_line(dwarf, unit, addr, scope, &drafts[0], ret);
	for (at = scope; at != EL_DWARF_NONE && n < INLINES_MAX; at = unit->scopes.at[at].parent) {
		const struct el_scope *from = &unit->scopes.at[at];
		struct el_lines *lines = el_lines_of(dwarf, unit, false);

		drafts[n].function = el_function_of(dwarf, from->origin);
		if (drafts[n].function == EL_DWARF_NONE)
			return -ENOMEM;
		err = make_readable(dwarf, &dwarf->functions.at[drafts[n].function]);
		if (err)
			return err;
		if (++n == INLINES_MAX || from->parent == EL_DWARF_NONE)
			break;
		drafts[n] = (struct draft){.function = EL_DWARF_NONE,
					   .line = from->call_line,
					   .column = from->call_column};
		if (lines)
			drafts[n].file = el_lines_path(dwarf, lines, from->call_file);
	}
	ret->has_function = n > 0;
	if (!n && drafts[0].line)
		n = 1;
	for (i = 0; i < n && !err; i++)
		err = add_frame(dwarf, &drafts[i], found);
	return err;
}

size_t el_dwarf_bytes(const struct el_dwarf *dwarf)
{
	size_t bytes = sizeof(*dwarf), i;

	for (i = 0; i < EL_N_SECTIONS; i++)
		bytes += el_piece_resident(&dwarf->sections[i]);
	bytes += dwarf->units.capacity * sizeof(*dwarf->units.at);
	bytes += dwarf->ranges.capacity * sizeof(*dwarf->ranges.at);
	bytes += dwarf->functions.capacity * sizeof(*dwarf->functions.at);
	bytes += dwarf->strings.bytes.capacity;
	return bytes + dwarf->index_bytes;
}

uint64_t el_dwarf_units_indexed(const struct el_dwarf *dwarf)
{
	return dwarf->n_indexed;
}
