/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stubs of the procedure linkage table: stub i calls the symbol of relocation
 * i of .rela.plt (x86-64 psABI 5.2 with and without .plt.sec; aarch64: a
 * header of 32 bytes, stubs of 16). Files with another layout get none.
 */
#include "base/cursor.h"
#include "symbolizer/symbols.h"

#define STUB_SIZE 16u
#define STUBS_MAX (1u << 18)

static int add_stub(struct el_symbols *symbols, uint64_t addr, uint32_t symbol,
		    struct el_piece *table)
{
	struct el_symbols_symbol stub = {
		.start = addr, .end = addr + STUB_SIZE, .sized = true, .plt = true};
	const uint8_t *at;

	at = el_piece_range(table, (uint64_t)symbol * sizeof(Elf64_Sym), sizeof(Elf64_Sym));
	if (!at || !symbol)
		return 0;
	memcpy(&stub.name, at, sizeof(stub.name));
	return el_vec_push(&symbols->list, stub);
}

static int read_stubs(struct el_symbols *symbols, const struct el_elf_section *stubs,
		      uint64_t header_size, struct el_piece *relocations, struct el_piece *table)
{
	uint64_t n = relocations->size / sizeof(Elf64_Rela), i, info, off;
	const uint8_t *at;
	int err = 0;

	for (i = 0; i < n && i < STUBS_MAX && !err; i++) {
		off = header_size + i * STUB_SIZE;
		at = el_piece_range(relocations, i * sizeof(Elf64_Rela), sizeof(Elf64_Rela));
		if (!at || off + STUB_SIZE > stubs->size)
			break;
		memcpy(&info, at + 8, sizeof(info));
		err = add_stub(symbols, stubs->addr + off, info >> 32, table);
	}
	return err;
}

int el_symbols_read_plt(struct el_symbols *symbols, struct el_elf *elf)
{
	const struct el_elf_section *relocations = el_elf_find(elf, ".rela.plt");
	const struct el_elf_section *stubs = el_elf_find(elf, ".plt.sec"), *table;
	struct el_piece relocation_bytes = {0}, table_bytes = {0};
	uint64_t header_size = 0;
	int err;

	if (!elf->is_64 || (elf->machine != EM_X86_64 && elf->machine != EM_AARCH64))
		return -ENOENT;
	if (!stubs) {
		stubs = el_elf_find(elf, ".plt");
		header_size = elf->machine == EM_AARCH64 ? 32 : STUB_SIZE;
	}
	if (!relocations || !stubs || relocations->link >= elf->n_sections)
		return -ENOENT;
	table = &elf->sections[relocations->link];
	if (table->type != SHT_DYNSYM || table->link >= elf->n_sections)
		return -ENOENT;
	err = el_elf_load(elf, &elf->sections[table->link], &symbols->plt_names);
	if (!err)
		err = el_elf_load(elf, table, &table_bytes);
	if (!err)
		err = el_elf_load(elf, relocations, &relocation_bytes);
	if (!err)
		err = read_stubs(symbols, stubs, header_size, &relocation_bytes, &table_bytes);
	el_piece_deinit(&relocation_bytes);
	el_piece_deinit(&table_bytes);
	return err;
}
