/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of functions from .eh_frame_hdr and .eh_frame; see fdes.h. */
#include "symbolizer/fdes.h"

#include "base/cursor.h"
#include "base/search.h"

/* Pointer encodings (LSB Core, "DWARF Exception Header Encoding"). */
#define PE_omit 0xff
#define PE_pcrel 0x10
#define PE_datarel 0x30
#define PE_application 0x70
#define PE_table (PE_datarel | 0x0b) /* sdata4 */

#define LIST_MAX (4u << 20)

/* A pointer read at `cursor`, whose next byte has the address `addr`. */
static uint64_t read_pointer(struct el_cursor *cursor, uint8_t encoding, uint64_t addr,
			     uint64_t data, bool is_64)
{
	uint64_t value;

	switch (encoding & 0x0f) {
	case 0x00:
		value = el_cursor_uint(cursor, is_64 ? 8 : 4);
		break;
	case 0x01:
		value = el_cursor_uleb(cursor);
		break;
	case 0x02:
		value = el_cursor_u16(cursor);
		break;
	case 0x03:
		value = el_cursor_u32(cursor);
		break;
	case 0x04:
	case 0x0c:
		value = el_cursor_u64(cursor);
		break;
	case 0x09:
		value = el_cursor_sleb(cursor);
		break;
	case 0x0a:
		value = (int16_t)el_cursor_u16(cursor);
		break;
	case 0x0b:
		value = (int32_t)el_cursor_u32(cursor);
		break;
	default:
		el_cursor_fail(cursor);
		return 0;
	}
	if ((encoding & PE_application) == PE_pcrel)
		value += addr;
	else if ((encoding & PE_application) == PE_datarel)
		value += data;
	return is_64 ? value : (uint32_t)value;
}

static int read_header(struct el_fdes *fdes, struct el_elf *elf,
		       const struct el_elf_segment *segment)
{
	struct el_cursor cursor;
	const uint8_t *at;
	uint8_t pointer, count, table;
	int err;

	err = el_piece_init(&fdes->header, &elf->bytes, segment->off, segment->file_size);
	if (err)
		return err == -ENOMEM ? err : 0;
	at = el_piece_range(&fdes->header, 0, segment->file_size < 32 ? segment->file_size : 32);
	if (!at)
		return 0;
	cursor = el_cursor_of(at, segment->file_size < 32 ? segment->file_size : 32);
	if (el_cursor_u8(&cursor) != 1)
		return 0;
	pointer = el_cursor_u8(&cursor);
	count = el_cursor_u8(&cursor);
	table = el_cursor_u8(&cursor);
	if (table != PE_table || pointer == PE_omit || count == PE_omit)
		return 0;
	read_pointer(&cursor, pointer, 0, 0, elf->is_64);
	fdes->n = read_pointer(&cursor, count, 0, 0, elf->is_64);
	fdes->header_addr = segment->addr;
	fdes->table_off = cursor.at - at;
	if (cursor.failed || fdes->table_off > segment->file_size)
		fdes->n = 0;
	else if (fdes->n > (segment->file_size - fdes->table_off) / 8)
		fdes->n = (segment->file_size - fdes->table_off) / 8;
	return 0;
}

/* The pointer encoding of FDEs out of a CIE's augmentation ('R'); PE_omit when it cannot be told.
 */
static uint8_t cie_encoding(struct el_cursor cursor, bool is_64)
{
	const char *augmentation;
	uint8_t version = el_cursor_u8(&cursor), encoding;

	augmentation = el_cursor_string(&cursor);
	if (!augmentation)
		return PE_omit;
	el_cursor_uleb(&cursor);
	el_cursor_sleb(&cursor);
	if (version == 1)
		el_cursor_u8(&cursor);
	else
		el_cursor_uleb(&cursor);
	if (*augmentation != 'z')
		return *augmentation ? PE_omit : 0;
	el_cursor_uleb(&cursor);
	for (augmentation++; *augmentation; augmentation++) {
		encoding = el_cursor_u8(&cursor);
		if (cursor.failed)
			return PE_omit;
		if (*augmentation == 'R')
			return encoding;
		if (*augmentation == 'P')
			read_pointer(&cursor, encoding, 0, 0, is_64);
		else if (*augmentation == 'S' || *augmentation == 'B')
			cursor.at--; /* no byte of its own */
		else if (*augmentation != 'L')
			return PE_omit;
	}
	return 0;
}

/* Opens the CIE or FDE at `addr`: cursor after the length; its id field not yet read. */
static bool open_entry(struct el_elf *elf, uint64_t addr, uint8_t *bytes, size_t bytes_size,
		       struct el_cursor *ret, uint64_t *id_addr)
{
	size_t size = el_elf_code(elf, addr, bytes, bytes_size);
	uint64_t length;

	*ret = el_cursor_of(bytes, size);
	length = el_cursor_u32(ret);
	*id_addr = addr + 4;
	if (length == UINT32_MAX) {
		length = el_cursor_u64(ret);
		*id_addr += 8;
	}
	if (ret->failed || !length)
		return false;
	if (length < el_cursor_left(ret))
		ret->end = ret->at + length;
	return true;
}

static bool read_fde(struct el_elf *elf, uint64_t addr, struct el_fde *ret)
{
	uint8_t bytes[128], cie_bytes[256];
	struct el_cursor cursor, cie;
	uint64_t id_addr, cie_id_addr;
	uint8_t encoding;
	uint32_t id;

	if (!open_entry(elf, addr, bytes, sizeof(bytes), &cursor, &id_addr))
		return false;
	id = el_cursor_u32(&cursor);
	if (!id || !open_entry(elf, id_addr - id, cie_bytes, sizeof(cie_bytes), &cie, &cie_id_addr))
		return false;
	if (el_cursor_u32(&cie))
		return false;
	encoding = cie_encoding(cie, elf->is_64);
	if (encoding == PE_omit)
		return false;
	ret->start = read_pointer(&cursor, encoding, id_addr + 4, 0, elf->is_64);
	ret->end = ret->start + read_pointer(&cursor, encoding & 0x0f, 0, 0, elf->is_64);
	return !cursor.failed && ret->end > ret->start;
}

static int by_start(const void *a, const void *b)
{
	const struct el_fde *left = a, *right = b;

	return (left->start > right->start) - (left->start < right->start);
}

/* Every FDE of .eh_frame, where the linker left no table. */
static int read_all(struct el_fdes *fdes, struct el_elf *elf)
{
	const struct el_elf_section *section = el_elf_find(elf, ".eh_frame");
	uint64_t off = 0, length;
	uint8_t bytes[12];
	struct el_fde fde;
	int err = 0;

	if (!section || elf->type == ET_REL)
		return 0;
	while (off + 4 <= section->size && fdes->list.n < LIST_MAX && !err) {
		struct el_cursor cursor = el_cursor_of(
			bytes, el_elf_code(elf, section->addr + off, bytes, sizeof(bytes)));

		length = el_cursor_u32(&cursor);
		if (length == UINT32_MAX)
			length = el_cursor_u64(&cursor) + 8;
		if (cursor.failed || !length || length > section->size)
			break;
		if (read_fde(elf, section->addr + off, &fde))
			err = el_vec_push(&fdes->list, fde);
		off += length + 4;
	}
	if (fdes->list.n)
		qsort(fdes->list.at, fdes->list.n, sizeof(*fdes->list.at), by_start);
	return err;
}

int el_fdes_read(struct el_fdes *fdes, struct el_elf *elf)
{
	size_t i;
	int err;

	if (fdes->ready)
		return 0;
	fdes->ready = true;
	for (i = 0; i < elf->n_segments; i++) {
		if (elf->segments[i].type != PT_GNU_EH_FRAME)
			continue;
		err = read_header(fdes, elf, &elf->segments[i]);
		if (err || fdes->n)
			return err;
	}
	return read_all(fdes, elf);
}

void el_fdes_deinit(struct el_fdes *fdes)
{
	el_piece_deinit(&fdes->header);
	el_vec_deinit(&fdes->list);
	*fdes = (struct el_fdes){0};
}

static bool before_in_header(struct el_fdes *fdes, struct el_elf *elf, uint64_t addr,
			     struct el_fde *ret)
{
	uint64_t low = 0, high = fdes->n, middle;
	const uint8_t *at;
	int32_t pair[2];

	while (low < high) {
		middle = low + (high - low) / 2;
		at = el_piece_range(&fdes->header, fdes->table_off + middle * 8, 8);
		if (!at)
			return false;
		memcpy(pair, at, sizeof(pair));
		if (fdes->header_addr + pair[0] <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	at = low ? el_piece_range(&fdes->header, fdes->table_off + (low - 1) * 8, 8) : NULL;
	if (!at)
		return false;
	memcpy(pair, at, sizeof(pair));
	return read_fde(elf, fdes->header_addr + pair[1], ret) && ret->start <= addr;
}

bool el_fdes_before(struct el_fdes *fdes, struct el_elf *elf, uint64_t addr, struct el_fde *ret)
{
	size_t low = el_partition(fdes->list.n, i, fdes->list.at[i].start <= addr);

	if (fdes->n)
		return before_in_header(fdes, elf, addr, ret);
	if (!low)
		return false;
	*ret = fdes->list.at[low - 1];
	return true;
}

size_t el_fdes_bytes(const struct el_fdes *fdes)
{
	return el_piece_resident(&fdes->header) + fdes->list.capacity * sizeof(*fdes->list.at);
}
