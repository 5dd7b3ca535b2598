/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the frame of an ELF file; see elf.h. Bytes of sections are in elf_section.c. */
#include "symbolizer/elf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"

#define SECTIONS_MAX 100000u
#define SEGMENTS_MAX 4096u
#define NOTES_MAX (64u << 10)

/* The tables' places, out of the file header. */
struct frame {
	uint64_t segments_off, sections_off;
	uint32_t n_segments, n_sections, names;
	uint16_t segment_size, section_size;
};

static uint64_t word(struct el_cursor *cursor, bool is_64)
{
	return el_cursor_uint(cursor, is_64 ? 8 : 4);
}

static int read_header(struct el_elf *elf, struct frame *frame)
{
	uint8_t bytes[64] = {0};
	size_t size = elf->bytes.size < sizeof(bytes) ? elf->bytes.size : sizeof(bytes);
	struct el_cursor cursor;
	int err = el_bytes_read(&elf->bytes, 0, bytes, size);

	if (err)
		return err;
	if (memcmp(bytes, ELFMAG, SELFMAG) || bytes[EI_DATA] != ELFDATA2LSB)
		return -ENOEXEC;
	if (bytes[EI_CLASS] != ELFCLASS64 && bytes[EI_CLASS] != ELFCLASS32)
		return -ENOEXEC;
	elf->is_64 = bytes[EI_CLASS] == ELFCLASS64;
	cursor = el_cursor_of(bytes, size);
	el_cursor_bytes(&cursor, EI_NIDENT);
	elf->type = el_cursor_u16(&cursor);
	elf->machine = el_cursor_u16(&cursor);
	el_cursor_u32(&cursor);
	elf->entry = word(&cursor, elf->is_64);
	frame->segments_off = word(&cursor, elf->is_64);
	frame->sections_off = word(&cursor, elf->is_64);
	el_cursor_u32(&cursor);
	el_cursor_u16(&cursor);
	frame->segment_size = el_cursor_u16(&cursor);
	frame->n_segments = el_cursor_u16(&cursor);
	frame->section_size = el_cursor_u16(&cursor);
	frame->n_sections = el_cursor_u16(&cursor);
	frame->names = el_cursor_u16(&cursor);
	return cursor.failed ? -ENOEXEC : 0;
}

static void read_segment(struct el_cursor *cursor, bool is_64, struct el_elf_segment *ret)
{
	ret->type = el_cursor_u32(cursor);
	if (is_64)
		ret->flags = el_cursor_u32(cursor);
	ret->off = word(cursor, is_64);
	ret->addr = word(cursor, is_64);
	word(cursor, is_64);
	ret->file_size = word(cursor, is_64);
	ret->memory_size = word(cursor, is_64);
	if (!is_64)
		ret->flags = el_cursor_u32(cursor);
}

static uint32_t read_section(struct el_cursor *cursor, bool is_64, struct el_elf_section *ret)
{
	uint32_t name = el_cursor_u32(cursor);

	ret->name = "";
	ret->type = el_cursor_u32(cursor);
	ret->flags = word(cursor, is_64);
	ret->addr = word(cursor, is_64);
	ret->off = word(cursor, is_64);
	ret->size = word(cursor, is_64);
	ret->link = el_cursor_u32(cursor);
	ret->info = el_cursor_u32(cursor);
	word(cursor, is_64);
	ret->entry_size = word(cursor, is_64);
	return name;
}

/* `n` items of `item_size` bytes at `off`, malloc'ed; -ENOEXEC when out of the file. */
static int read_table(struct el_elf *elf, uint64_t off, size_t n, size_t item_size, uint8_t **ret)
{
	uint8_t *table;
	int err;

	if (off > elf->bytes.size || n * item_size > elf->bytes.size - off)
		return -ENOEXEC;
	table = malloc(n * item_size);
	if (!table)
		return -ENOMEM;
	err = el_bytes_read(&elf->bytes, off, table, n * item_size);
	if (err) {
		free(table);
		return err;
	}
	*ret = table;
	return 0;
}

static int read_segments(struct el_elf *elf, const struct frame *frame)
{
	size_t least = elf->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	uint8_t *table;
	size_t i;
	int err;

	if (!frame->n_segments || frame->segment_size < least || frame->n_segments > SEGMENTS_MAX)
		return 0;
	err = read_table(elf, frame->segments_off, frame->n_segments, frame->segment_size, &table);
	if (err)
		return err == -ENOMEM ? err : 0;
	elf->segments = calloc(frame->n_segments, sizeof(*elf->segments));
	for (i = 0; elf->segments && i < frame->n_segments; i++) {
		struct el_cursor cursor = el_cursor_of(table + i * frame->segment_size, least);

		read_segment(&cursor, elf->is_64, &elf->segments[i]);
	}
	elf->n_segments = elf->segments ? frame->n_segments : 0;
	free(table);
	return elf->segments ? 0 : -ENOMEM;
}

/* Above 0xff00 sections the counts are in section 0 (gABI, e_shnum and e_shstrndx). */
static void read_extended_counts(struct el_elf *elf, struct frame *frame)
{
	uint8_t bytes[sizeof(Elf64_Shdr)];
	struct el_elf_section zero;
	struct el_cursor cursor = el_cursor_of(bytes, sizeof(bytes));
	size_t least = elf->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);

	if (!frame->sections_off || el_bytes_read(&elf->bytes, frame->sections_off, bytes, least))
		return;
	read_section(&cursor, elf->is_64, &zero);
	if (!frame->n_sections)
		frame->n_sections = zero.size < SECTIONS_MAX ? zero.size : 0;
	if (frame->names == SHN_XINDEX)
		frame->names = zero.link;
}

static int name_sections(struct el_elf *elf, uint32_t names, const uint32_t *name_offs)
{
	const struct el_elf_section *table;
	const char *name;
	size_t i;
	int err;

	if (names >= elf->n_sections || elf->sections[names].type != SHT_STRTAB)
		return 0;
	table = &elf->sections[names];
	err = el_piece_init(&elf->names, &elf->bytes, table->off, table->size);
	if (err)
		return err == -ENOMEM ? err : 0;
	for (i = 0; i < elf->n_sections; i++) {
		name = el_piece_string(&elf->names, name_offs[i]);
		elf->sections[i].name = name ? name : "";
	}
	return 0;
}

static int read_sections(struct el_elf *elf, struct frame *frame)
{
	size_t least = elf->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	uint32_t *name_offs;
	uint8_t *table;
	size_t i;
	int err;

	if (!frame->n_sections || frame->names == SHN_XINDEX)
		read_extended_counts(elf, frame);
	if (!frame->n_sections || frame->section_size < least || frame->n_sections > SECTIONS_MAX)
		return 0;
	err = read_table(elf, frame->sections_off, frame->n_sections, frame->section_size, &table);
	if (err)
		return err == -ENOMEM ? err : 0;
	elf->sections = calloc(frame->n_sections, sizeof(*elf->sections));
	name_offs = calloc(frame->n_sections, sizeof(*name_offs));
	if (elf->sections && name_offs) {
		elf->n_sections = frame->n_sections;
		for (i = 0; i < elf->n_sections; i++) {
			struct el_cursor cursor =
				el_cursor_of(table + i * frame->section_size, least);

			name_offs[i] = read_section(&cursor, elf->is_64, &elf->sections[i]);
		}
		err = name_sections(elf, frame->names, name_offs);
	} else {
		err = -ENOMEM;
	}
	free(name_offs);
	free(table);
	return err;
}

/* Notes are {name size, description size, type, name, description}, each padded to 4 bytes. */
static bool take_build_id(struct el_elf *elf, const uint8_t *notes, size_t size)
{
	struct el_cursor cursor = el_cursor_of(notes, size);
	uint32_t name_size, desc_size, type;
	const uint8_t *name, *desc;

	while (el_cursor_left(&cursor) >= 12) {
		name_size = el_cursor_u32(&cursor);
		desc_size = el_cursor_u32(&cursor);
		type = el_cursor_u32(&cursor);
		name = el_cursor_bytes(&cursor, ((size_t)name_size + 3) & ~3ul);
		desc = el_cursor_bytes(&cursor, desc_size);
		if (!name || !desc)
			return false;
		if (type == NT_GNU_BUILD_ID && name_size == 4 && !memcmp(name, "GNU", 4) &&
		    desc_size) {
			elf->build_id_size =
				desc_size < EL_BUILD_ID_MAX ? desc_size : EL_BUILD_ID_MAX;
			memcpy(elf->build_id, desc, elf->build_id_size);
			return true;
		}
		if (el_cursor_left(&cursor) >= (-desc_size & 3))
			el_cursor_bytes(&cursor, -desc_size & 3);
	}
	return false;
}

static bool read_note(struct el_elf *elf, uint64_t off, uint64_t size)
{
	uint8_t *notes;
	bool taken;

	if (!size || size > NOTES_MAX || read_table(elf, off, 1, size, &notes))
		return false;
	taken = take_build_id(elf, notes, size);
	free(notes);
	return taken;
}

static void read_build_id(struct el_elf *elf)
{
	size_t i;

	for (i = 0; i < elf->n_segments; i++)
		if (elf->segments[i].type == PT_NOTE &&
		    read_note(elf, elf->segments[i].off, elf->segments[i].file_size))
			return;
	for (i = 0; i < elf->n_sections; i++)
		if (elf->sections[i].type == SHT_NOTE &&
		    read_note(elf, elf->sections[i].off, elf->sections[i].size))
			return;
}

int el_elf_read(struct el_elf *elf)
{
	struct frame frame;
	int err = read_header(elf, &frame);

	if (err)
		return err;
	err = read_segments(elf, &frame);
	if (err)
		return err;
	err = read_sections(elf, &frame);
	if (err)
		return err;
	if (!elf->n_sections && !elf->n_segments)
		return -ENOEXEC;
	read_build_id(elf);
	return 0;
}

void el_elf_deinit(struct el_elf *elf)
{
	free(elf->sections);
	free(elf->segments);
	el_piece_deinit(&elf->names);
	el_bytes_deinit(&elf->bytes);
	*elf = (struct el_elf){.bytes.fd = -1};
}
