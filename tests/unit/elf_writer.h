/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes small ELF files for tests, section by section, one executable PT_LOAD
 * that covers the file from address `base` on. Little-endian, 64-bit.
 */
#ifndef EL_TEST_ELF_WRITER_H
#define EL_TEST_ELF_WRITER_H

#include <elf.h>

#include "base/buffer.h"

#define ELF_WRITER_SECTIONS 24

struct elf_writer {
	uint16_t type;
	uint64_t entry;
	struct el_buffer names;
	struct el_buffer symbols; /* Elf64_Sym, written as .symtab when not empty */
	struct el_buffer symbol_names;
	struct {
		uint32_t name;
		uint32_t type;
		uint64_t flags, addr;
		uint32_t link, entry_size;
		struct el_buffer bytes;
	} sections[ELF_WRITER_SECTIONS];
	size_t n_sections;
};

void elf_writer_init(struct elf_writer *writer, uint16_t type);
void elf_writer_deinit(struct elf_writer *writer);
/* A new section; its bytes are for the caller to fill. Index for symbols. */
size_t elf_writer_section(struct elf_writer *writer, const char *name, uint32_t type,
			  uint64_t flags, uint64_t addr);
struct el_buffer *elf_writer_bytes(struct elf_writer *writer, size_t section);
void elf_writer_symbol(struct elf_writer *writer, const char *name, size_t section, uint64_t value,
		       uint64_t size, uint8_t info);
/* The file, malloc'ed. */
void *elf_writer_finish(struct elf_writer *writer, size_t *size);

#endif
