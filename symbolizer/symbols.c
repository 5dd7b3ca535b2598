/* SPDX-License-Identifier: Apache-2.0 */
/* Function symbols, sorted; see symbols.h. */
#include "symbolizer/symbols.h"

#include "base/cursor.h"
#include "base/search.h"

#define SYMBOLS_MAX (8u << 20)
#define ENCLOSING_STEPS 8

static bool is_function(const struct el_elf *elf, uint8_t info, uint16_t section)
{
	uint8_t type = info & 0xf;

	if (section == SHN_UNDEF || section >= elf->n_sections)
		return false;
	if (!(elf->sections[section].flags & SHF_EXECINSTR))
		return false;
	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

/* Mapping symbols of aarch64 and assembler locals name no function. */
static bool is_label(const char *name)
{
	return !*name || name[0] == '$' || (name[0] == '.' && name[1] == 'L');
}

static int add_symbol(struct el_symbols *symbols, const struct el_elf *elf,
		      struct el_cursor *cursor)
{
	uint32_t name = el_cursor_u32(cursor);
	struct el_symbols_symbol symbol = {.name = name};
	const struct el_elf_section *section;
	uint64_t value = 0, size = 0;
	uint16_t index;
	const char *text;
	uint8_t info;

	if (!elf->is_64) {
		value = el_cursor_u32(cursor);
		size = el_cursor_u32(cursor);
	}
	info = el_cursor_u8(cursor);
	el_cursor_u8(cursor);
	index = el_cursor_u16(cursor);
	if (elf->is_64) {
		value = el_cursor_u64(cursor);
		size = el_cursor_u64(cursor);
	}
	if (!is_function(elf, info, index))
		return 0;
	section = &elf->sections[index];
	if (elf->type == ET_REL)
		value += section->addr;
	if (value < section->addr || value - section->addr >= section->size)
		return 0;
	text = el_piece_string(&symbols->names, name);
	if (!text || is_label(text))
		return 0;
	symbol.start = value;
	symbol.sized = size > 0 && size <= section->size - (value - section->addr);
	symbol.end = symbol.sized ? value + size : section->addr + section->size;
	symbol.rank = symbol.sized * 8 + ((info & 0xf) != STT_NOTYPE) * 4 +
		      (info >> 4 == STB_GLOBAL ? 2 : info >> 4 == STB_WEAK);
	return el_vec_push(&symbols->list, symbol);
}

int el_symbols_read(struct el_symbols *symbols, struct el_elf *elf, const char *table)
{
	const struct el_elf_section *section = el_elf_find(elf, table);
	size_t entry_size = elf->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym), n, i;
	struct el_piece piece;
	const uint8_t *at;
	int err;

	if (!section || !section->link || section->link >= elf->n_sections)
		return -ENOENT;
	el_piece_deinit(&symbols->names);
	err = el_elf_load(elf, &elf->sections[section->link], &symbols->names);
	if (err)
		return err;
	err = el_elf_load(elf, section, &piece);
	if (err)
		return err;
	n = piece.size / entry_size < SYMBOLS_MAX ? piece.size / entry_size : SYMBOLS_MAX;
	for (i = 1; i < n && !err; i++) {
		struct el_cursor cursor;

		at = el_piece_range(&piece, i * entry_size, entry_size);
		if (!at)
			break;
		cursor = el_cursor_of(at, entry_size);
		err = add_symbol(symbols, elf, &cursor);
	}
	el_piece_deinit(&piece);
	return err;
}

static int by_start(const void *a, const void *b)
{
	const struct el_symbols_symbol *left = a, *right = b;

	if (left->start != right->start)
		return (left->start > right->start) - (left->start < right->start);
	if (left->rank != right->rank)
		return (left->rank < right->rank) - (left->rank > right->rank);
	return (left->name > right->name) - (left->name < right->name);
}

void el_symbols_sort(struct el_symbols *symbols)
{
	struct el_symbols_symbol *at = symbols->list.at;
	size_t n = 0, i;

	if (!symbols->list.n)
		return;
	qsort(at, symbols->list.n, sizeof(*at), by_start);
	for (i = 0; i < symbols->list.n; i++) {
		if (n && at[n - 1].start == at[i].start)
			continue;
		if (n && !at[n - 1].sized && at[n - 1].end > at[i].start)
			at[n - 1].end = at[i].start;
		at[n++] = at[i];
	}
	symbols->list.n = n;
}

void el_symbols_deinit(struct el_symbols *symbols)
{
	el_vec_deinit(&symbols->list);
	el_piece_deinit(&symbols->names);
	el_piece_deinit(&symbols->plt_names);
}

const struct el_symbols_symbol *el_symbols_find(const struct el_symbols *symbols, uint64_t addr)
{
	size_t low = el_partition(symbols->list.n, i, symbols->list.at[i].start <= addr);
	size_t back;

	/* A sized symbol may enclose others, such as entry points inside assembler code. */
	for (back = 1; back <= ENCLOSING_STEPS && back <= low; back++) {
		const struct el_symbols_symbol *symbol = &symbols->list.at[low - back];

		if (addr < symbol->end && (back == 1 || symbol->sized))
			return symbol;
	}
	return NULL;
}

const char *el_symbols_name(struct el_symbols *symbols, const struct el_symbols_symbol *symbol)
{
	return el_piece_string(symbol->plt ? &symbols->plt_names : &symbols->names, symbol->name);
}

size_t el_symbols_bytes(const struct el_symbols *symbols)
{
	return symbols->list.capacity * sizeof(*symbols->list.at) +
	       el_piece_resident(&symbols->names) + el_piece_resident(&symbols->plt_names);
}
