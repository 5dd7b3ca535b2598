/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame of an ELF file: header, segments, sections and notes, with the
 * bytes of a section on demand, uncompressed. 64-bit and 32-bit little-endian
 * (System V gABI, "Object Files"; SHF_COMPRESSED: ELFCOMPRESS_ZLIB and _ZSTD;
 * ".zdebug_*": "ZLIB", size as 8 big-endian bytes, zlib stream).
 * Nothing in the file is trusted; sizes and counts are bounded by the file.
 */
#ifndef EL_ELF_H
#define EL_ELF_H

#include <elf.h>

#include "symbolizer/bytes.h"
#include "symbolizer/symbolizer.h"

struct el_elf_section {
	const char *name; /* "" when it has none */
	uint32_t type;
	uint32_t link;
	uint32_t info;
	uint64_t flags;
	uint64_t addr;
	uint64_t off;
	uint64_t size;
	uint64_t entry_size;
};

struct el_elf_segment {
	uint32_t type;
	uint32_t flags;
	uint64_t off, addr, file_size, memory_size;
};

struct el_elf {
	struct el_bytes bytes;
	uint16_t type;    /* ET_* */
	uint16_t machine; /* EM_* */
	bool is_64;
	uint64_t entry;
	struct el_elf_section *sections;
	size_t n_sections;
	struct el_elf_segment *segments;
	size_t n_segments;
	struct el_piece names;
	uint8_t build_id[EL_BUILD_ID_MAX];
	uint8_t build_id_size;
};

/* Reads the frame out of `elf->bytes`, which is set before. 0, -ENOEXEC when it is none, or -errno.
 */
int el_elf_read(struct el_elf *elf);
void el_elf_deinit(struct el_elf *elf);

/* The first section of that name with bytes in the file, or NULL. */
const struct el_elf_section *el_elf_find(const struct el_elf *elf, const char *name);
/* The bytes of a section, uncompressed. 0 or -errno. */
int el_elf_load(struct el_elf *elf, const struct el_elf_section *section, struct el_piece *ret);
/* A debug section ".debug_NAME" or ".zdebug_NAME"; -ENOENT when there is none. */
int el_elf_load_debug(struct el_elf *elf, const char *name, struct el_piece *ret);
/* File offset to address through PT_LOAD, executable segments first. */
bool el_elf_addr_of_offset(const struct el_elf *elf, uint64_t off, uint64_t *ret);
/* Bytes at an address as in the file, at most `size`. */
size_t el_elf_code(struct el_elf *elf, uint64_t addr, void *ret, size_t size);
/* .gnu_debuglink: the name, copied into `ret`, and the CRC of the file it means. 0 or -ENOENT. */
int el_elf_debuglink(struct el_elf *elf, char *ret, size_t size, uint32_t *crc);

#endif
