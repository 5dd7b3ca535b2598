/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of ELF sections: found, uncompressed within limits, and by address; see elf.h. */
#include "symbolizer/elf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/cursor.h"

#define UNCOMPRESSED_MAX (512u << 20)
/* Debug sections shrink to a third or a tenth; what claims more than this is a bomb when large. */
#define RATIO_MAX 64
#define ANY_RATIO_MAX (16u << 20)
#define CHUNK (64u << 10)
#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

const struct el_elf_section *el_elf_find(const struct el_elf *elf, const char *name)
{
	size_t i;

	for (i = 1; i < elf->n_sections; i++)
		if (elf->sections[i].type != SHT_NOBITS && !strcmp(elf->sections[i].name, name))
			return &elf->sections[i];
	return NULL;
}

/* Stream by stream from the file, so that the compressed form is never held whole. */
static int inflate_section(struct el_elf *elf, uint64_t off, uint64_t size, uint8_t *ret,
			   size_t ret_size)
{
	uint8_t *chunk = malloc(CHUNK);
	z_stream stream = {.next_out = ret, .avail_out = ret_size};
	int status = Z_OK, err = chunk ? 0 : -ENOMEM;

	if (!err && inflateInit(&stream) != Z_OK)
		err = -ENOMEM;
	if (err) {
		free(chunk);
		return err;
	}
	while (size && status == Z_OK && !err) {
		size_t n = size < CHUNK ? size : CHUNK;

		err = el_bytes_read(&elf->bytes, off, chunk, n);
		if (err)
			break;
		stream.next_in = chunk;
		stream.avail_in = n;
		status = inflate(&stream, Z_NO_FLUSH);
		off += n;
		size -= n;
	}
	if (!err && stream.total_out != ret_size)
		err = -ENOEXEC;
	inflateEnd(&stream);
	free(chunk);
	return err;
}

static int unzstd_section(struct el_elf *elf, uint64_t off, uint64_t size, uint8_t *ret,
			  size_t ret_size)
{
	ZSTD_DCtx *stream = ZSTD_createDCtx();
	uint8_t *chunk = malloc(CHUNK);
	ZSTD_outBuffer out = {.dst = ret, .size = ret_size};
	int err = stream && chunk ? 0 : -ENOMEM;

	while (!err && size && out.pos < out.size) {
		size_t n = size < CHUNK ? size : CHUNK;
		ZSTD_inBuffer in = {.src = chunk, .size = n};

		err = el_bytes_read(&elf->bytes, off, chunk, n);
		while (!err && in.pos < in.size && out.pos < out.size)
			if (ZSTD_isError(ZSTD_decompressStream(stream, &out, &in)))
				err = -ENOEXEC;
		off += n;
		size -= n;
	}
	if (!err && out.pos != out.size)
		err = -ENOEXEC;
	free(chunk);
	ZSTD_freeDCtx(stream);
	return err;
}

static int expand(struct el_elf *elf, uint32_t kind, uint64_t off, uint64_t size,
		  uint64_t full_size, struct el_piece *ret)
{
	uint8_t *full;
	int err;

	if (full_size > UNCOMPRESSED_MAX ||
	    (full_size > ANY_RATIO_MAX && full_size / RATIO_MAX > size))
		return -EFBIG;
	full = malloc(full_size ? full_size : 1);
	if (!full)
		return -ENOMEM;
	if (kind == ELFCOMPRESS_ZLIB)
		err = inflate_section(elf, off, size, full, full_size);
	else if (kind == ELFCOMPRESS_ZSTD)
		err = unzstd_section(elf, off, size, full, full_size);
	else
		err = -ENOTSUP;
	if (err) {
		free(full);
		return err;
	}
	el_piece_init_whole(ret, full, full_size);
	return 0;
}

int el_elf_load(struct el_elf *elf, const struct el_elf_section *section, struct el_piece *ret)
{
	uint8_t header[sizeof(Elf64_Chdr)] = {0};
	struct el_cursor cursor = el_cursor_of(header, sizeof(header));
	size_t header_size = elf->is_64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
	uint32_t kind;
	uint64_t full_size;
	int err;

	if (section->type == SHT_NOBITS)
		return -ENOENT;
	if (!(section->flags & SHF_COMPRESSED))
		return el_piece_init(ret, &elf->bytes, section->off, section->size);
	if (section->size < header_size)
		return -ENOEXEC;
	err = el_bytes_read(&elf->bytes, section->off, header, header_size);
	if (err)
		return err;
	kind = el_cursor_u32(&cursor);
	if (elf->is_64)
		el_cursor_u32(&cursor);
	full_size = el_cursor_uint(&cursor, elf->is_64 ? 8 : 4);
	return expand(elf, kind, section->off + header_size, section->size - header_size, full_size,
		      ret);
}

int el_elf_load_debug(struct el_elf *elf, const char *name, struct el_piece *ret)
{
	const struct el_elf_section *section;
	char full[64];
	uint8_t header[12];
	uint64_t full_size = 0;
	size_t i;
	int err;

	snprintf(full, sizeof(full), ".debug_%s", name);
	section = el_elf_find(elf, full);
	if (section)
		return el_elf_load(elf, section, ret);
	snprintf(full, sizeof(full), ".zdebug_%s", name);
	section = el_elf_find(elf, full);
	if (!section)
		return -ENOENT;
	if (section->size < sizeof(header))
		return -ENOEXEC;
	err = el_bytes_read(&elf->bytes, section->off, header, sizeof(header));
	if (err)
		return err;
	if (memcmp(header, "ZLIB", 4))
		return -ENOEXEC;
	for (i = 4; i < sizeof(header); i++)
		full_size = full_size << 8 | header[i];
	return expand(elf, ELFCOMPRESS_ZLIB, section->off + sizeof(header),
		      section->size - sizeof(header), full_size, ret);
}

/* The executable section that holds `addr`, or NULL. */
static const struct el_elf_section *code_section(const struct el_elf *elf, uint64_t addr)
{
	const struct el_elf_section *section;
	size_t i;

	for (i = 0; i < elf->n_sections; i++) {
		section = &elf->sections[i];
		if ((section->flags & SHF_EXECINSTR) && addr >= section->addr &&
		    addr - section->addr < section->size)
			return section;
	}
	return NULL;
}

bool el_elf_addr_of_offset(const struct el_elf *elf, uint64_t off, uint64_t *ret)
{
	const struct el_elf_segment *segment, *best = NULL;
	size_t i;

	for (i = 0; i < elf->n_segments; i++) {
		segment = &elf->segments[i];
		if (segment->type != PT_LOAD || off < segment->off ||
		    off - segment->off >= segment->file_size)
			continue;
		if (!best || (segment->flags & PF_X))
			best = segment;
		if (segment->flags & PF_X)
			break;
	}
	if (!best)
		return false;
	*ret = off - best->off + best->addr;
	return true;
}

/* Where `addr` is in the file and how many bytes follow, by section (ET_REL) or segment. */
static bool place_of(const struct el_elf *elf, uint64_t addr, uint64_t *off, uint64_t *left)
{
	const struct el_elf_section *section = code_section(elf, addr);
	size_t i;

	if (section && section->type != SHT_NOBITS && !(section->flags & SHF_COMPRESSED)) {
		*off = section->off + (addr - section->addr);
		*left = section->size - (addr - section->addr);
		return true;
	}
	for (i = 0; i < elf->n_segments; i++) {
		const struct el_elf_segment *segment = &elf->segments[i];

		if (segment->type != PT_LOAD || addr < segment->addr ||
		    addr - segment->addr >= segment->file_size)
			continue;
		*off = segment->off + (addr - segment->addr);
		*left = segment->file_size - (addr - segment->addr);
		return true;
	}
	return false;
}

size_t el_elf_code(struct el_elf *elf, uint64_t addr, void *ret, size_t size)
{
	uint64_t off, left;

	if (!place_of(elf, addr, &off, &left) || off >= elf->bytes.size)
		return 0;
	size = size < left ? size : left;
	size = size < elf->bytes.size - off ? size : elf->bytes.size - off;
	return el_bytes_read(&elf->bytes, off, ret, size) ? 0 : size;
}

int el_elf_debuglink(struct el_elf *elf, char *ret, size_t size, uint32_t *crc)
{
	const struct el_elf_section *section = el_elf_find(elf, ".gnu_debuglink");
	uint8_t bytes[512];
	struct el_cursor cursor;
	const char *name;
	size_t used;

	if (!section || section->size > sizeof(bytes) ||
	    el_bytes_read(&elf->bytes, section->off, bytes, section->size))
		return -ENOENT;
	cursor = el_cursor_of(bytes, section->size);
	name = el_cursor_string(&cursor);
	if (!name || !*name || strchr(name, '/') || strlen(name) >= size)
		return -ENOENT;
	used = strlen(name) + 1;
	el_cursor_bytes(&cursor, -used & 3);
	*crc = el_cursor_u32(&cursor);
	if (cursor.failed)
		return -ENOENT;
	memcpy(ret, name, used);
	return 0;
}
