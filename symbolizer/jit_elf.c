/* SPDX-License-Identifier: Apache-2.0 */
/* See jit_elf.h. Every table is checked against the image's size before it is walked. */
#include "symbolizer/jit_elf.h"

#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "symbolizer/numba_name.h"

#define SECTIONS_MAX 4096u
#define SYMBOLS_LOOKED_AT 4096u

struct image {
	uint8_t *bytes;
	size_t size;
	Elf64_Ehdr header;
};

static bool in_image(const struct image *image, uint64_t off, uint64_t size)
{
	return off <= image->size && size <= image->size - off;
}

static bool section_of(const struct image *image, uint32_t n, Elf64_Shdr *ret)
{
	if (n >= image->header.e_shnum)
		return false;
	memcpy(ret, image->bytes + image->header.e_shoff + (uint64_t)n * sizeof(*ret),
	       sizeof(*ret));
	return ret->sh_type == SHT_NOBITS || ret->sh_type == SHT_NULL ||
	       in_image(image, ret->sh_offset, ret->sh_size);
}

static bool symbol_of(const struct image *image, const Elf64_Shdr *table, uint64_t n,
		      Elf64_Sym *ret)
{
	if (n >= table->sh_size / sizeof(*ret))
		return false;
	memcpy(ret, image->bytes + table->sh_offset + n * sizeof(*ret), sizeof(*ret));
	return true;
}

/* S of the psABI: where the symbol is at run time. */
static bool symbol_addr(const struct image *image, const Elf64_Sym *symbol, uint64_t *ret)
{
	Elf64_Shdr section;

	if (symbol->st_shndx == SHN_ABS) {
		*ret = symbol->st_value;
		return true;
	}
	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE ||
	    !section_of(image, symbol->st_shndx, &section))
		return false;
	*ret = section.sh_addr + symbol->st_value;
	return true;
}

/* Bytes that an absolute relocation writes; 0: another type. */
static size_t relocated_size(uint16_t machine, uint32_t type)
{
	if (machine == EM_X86_64)
		return type == R_X86_64_64                           ? 8
		       : type == R_X86_64_32 || type == R_X86_64_32S ? 4
								     : 0;
	if (machine == EM_AARCH64)
		return type == R_AARCH64_ABS64 ? 8 : type == R_AARCH64_ABS32 ? 4 : 0;
	return 0;
}

static bool relocate(struct image *image, const Elf64_Shdr *target, const Elf64_Shdr *symbols,
		     const Elf64_Rela *relocation)
{
	size_t size = relocated_size(image->header.e_machine, ELF64_R_TYPE(relocation->r_info));
	Elf64_Sym symbol;
	uint64_t value;

	if (!size || relocation->r_offset > target->sh_size ||
	    size > target->sh_size - relocation->r_offset ||
	    !symbol_of(image, symbols, ELF64_R_SYM(relocation->r_info), &symbol) ||
	    !symbol_addr(image, &symbol, &value))
		return false;
	value += relocation->r_addend;
	memcpy(image->bytes + target->sh_offset + relocation->r_offset, &value, size);
	return true;
}

/* Only sections that are not loaded: the loader relocated the others. */
static bool wants_relocation(const Elf64_Shdr *target)
{
	return target->sh_type == SHT_PROGBITS &&
	       !(target->sh_flags & (SHF_ALLOC | SHF_COMPRESSED));
}

static size_t relocate_section(struct image *image, uint32_t n, const Elf64_Shdr *section)
{
	uint32_t none = SHT_NULL;
	Elf64_Shdr target, symbols;
	Elf64_Rela relocation;
	size_t n_relocated = 0;

	if (!section_of(image, section->sh_info, &target) || !wants_relocation(&target) ||
	    !section_of(image, section->sh_link, &symbols) || symbols.sh_type != SHT_SYMTAB)
		return 0;
	for (uint64_t i = 0; i < section->sh_size / sizeof(relocation); i++) {
		memcpy(&relocation, image->bytes + section->sh_offset + i * sizeof(relocation),
		       sizeof(relocation));
		n_relocated += relocate(image, &target, &symbols, &relocation);
	}
	memcpy(image->bytes + image->header.e_shoff + (uint64_t)n * sizeof(Elf64_Shdr) +
		       offsetof(Elf64_Shdr, sh_type),
	       &none, sizeof(none));
	return n_relocated;
}

static bool has_numba_symbol(const struct image *image, const Elf64_Shdr *table)
{
	Elf64_Shdr strings;
	Elf64_Sym symbol;
	const char *name;

	if (!section_of(image, table->sh_link, &strings) || strings.sh_type != SHT_STRTAB ||
	    !strings.sh_size || image->bytes[strings.sh_offset + strings.sh_size - 1])
		return false;
	for (uint64_t i = 0; i < SYMBOLS_LOOKED_AT && symbol_of(image, table, i, &symbol); i++) {
		if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_name >= strings.sh_size)
			continue;
		name = (const char *)image->bytes + strings.sh_offset + symbol.st_name;
		if (el_numba_name_is(name))
			return true;
	}
	return false;
}

static int read_header(struct image *image)
{
	Elf64_Ehdr *header = &image->header;

	if (image->size < sizeof(*header))
		return -ENOEXEC;
	memcpy(header, image->bytes, sizeof(*header));
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS64 ||
	    header->e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOEXEC;
	if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shnum > SECTIONS_MAX ||
	    !in_image(image, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr)))
		return -ENOEXEC;
	return 0;
}

int el_jit_elf_prepare(void *bytes, size_t size, struct el_jit_elf *ret)
{
	struct image image = {.bytes = bytes, .size = size};
	struct el_jit_elf elf = {0};
	Elf64_Shdr section;
	int err = read_header(&image);

	if (err)
		return err;
	for (uint32_t i = 0; i < image.header.e_shnum; i++) {
		if (!section_of(&image, i, &section))
			continue;
		if (section.sh_type == SHT_RELA && image.header.e_type == ET_REL)
			elf.n_relocated += relocate_section(&image, i, &section);
		if (section.sh_type == SHT_SYMTAB && !elf.is_numba)
			elf.is_numba = has_numba_symbol(&image, &section);
	}
	*ret = elf;
	return 0;
}
