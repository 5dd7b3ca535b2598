/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Function symbols of one ELF file, sorted (.symtab of it or of its debug
 * file, else .dynsym; System V gABI, "Symbol Table"), and the stubs of its
 * PLT as "name@plt". Symbols without a size end at the next symbol or at the
 * end of their section.
 */
#ifndef EL_SYMBOLS_H
#define EL_SYMBOLS_H

#include "base/vec.h"
#include "symbolizer/elf.h"

struct el_symbols_symbol {
	uint64_t start, end;
	uint32_t name;
	bool sized;
	uint8_t rank; /* of several at one address the highest is kept */
	bool plt;
};

struct el_symbols {
	EL_VEC(struct el_symbols_symbol) list;
	struct el_piece names;     /* of the table */
	struct el_piece plt_names; /* of .dynsym, for stubs */
};

/* Adds the symbols of `table` (".symtab" or ".dynsym"). -ENOENT: there is none. */
int el_symbols_read(struct el_symbols *symbols, struct el_elf *elf, const char *table);
/* Adds stubs; x86-64 and aarch64. */
int el_symbols_read_plt(struct el_symbols *symbols, struct el_elf *elf);
/* To call once after the reads. */
void el_symbols_sort(struct el_symbols *symbols);
void el_symbols_deinit(struct el_symbols *symbols);
/* The symbol that covers `addr`, or NULL. */
const struct el_symbols_symbol *el_symbols_find(const struct el_symbols *symbols, uint64_t addr);
/* Its name in place; NULL when it is damaged. */
const char *el_symbols_name(struct el_symbols *symbols, const struct el_symbols_symbol *symbol);
size_t el_symbols_bytes(const struct el_symbols *symbols);

#endif
