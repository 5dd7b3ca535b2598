/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bounded reader over bytes that nobody vouches for: DWARF, protobuf,
 * messages between our processes. An attempt to read past the end sets
 * `failed`, reads as zero from then on, and never touches memory outside.
 * Little-endian, unaligned. Check `failed` once, after a group of reads.
 */
#ifndef EL_BASE_CURSOR_H
#define EL_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct el_cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
};

static inline struct el_cursor el_cursor_of(const void *bytes, size_t size)
{
	return (struct el_cursor){.at = bytes, .end = (const uint8_t *)bytes + size};
}

static inline size_t el_cursor_left(const struct el_cursor *cursor)
{
	return cursor->end - cursor->at;
}

static inline void el_cursor_fail(struct el_cursor *cursor)
{
	cursor->failed = true;
	cursor->at = cursor->end;
}

/* The next `size` bytes in place, or NULL. */
static inline const void *el_cursor_bytes(struct el_cursor *cursor, size_t size)
{
	const void *bytes = cursor->at;

	if (size > el_cursor_left(cursor)) {
		el_cursor_fail(cursor);
		return NULL;
	}
	cursor->at += size;
	return bytes;
}

static inline uint64_t el_cursor_uint(struct el_cursor *cursor, size_t size)
{
	const void *bytes = el_cursor_bytes(cursor, size);
	uint64_t value = 0;

	if (bytes)
		memcpy(&value, bytes, size);
	return value;
}

static inline uint8_t el_cursor_u8(struct el_cursor *cursor)
{
	return el_cursor_uint(cursor, 1);
}

static inline uint16_t el_cursor_u16(struct el_cursor *cursor)
{
	return el_cursor_uint(cursor, 2);
}

static inline uint32_t el_cursor_u32(struct el_cursor *cursor)
{
	return el_cursor_uint(cursor, 4);
}

static inline uint64_t el_cursor_u64(struct el_cursor *cursor)
{
	return el_cursor_uint(cursor, 8);
}

/* The groups of seven bits of a LEB128; `ret_bits` is where the next would go, `ret_last` the last
 * byte. */
static inline uint64_t el_cursor_leb_bits(struct el_cursor *cursor, unsigned int *ret_bits,
					  uint8_t *ret_last)
{
	uint64_t value = 0;
	unsigned int bits = 0;
	uint8_t byte;

	do {
		byte = el_cursor_u8(cursor);
		if (bits < 64)
			value |= (uint64_t)(byte & 0x7f) << bits;
		bits += 7;
	} while (byte & 0x80);
	*ret_bits = bits;
	*ret_last = byte;
	return value;
}

/* ULEB128 as of DWARF 5 section 7.6, and protobuf's varint; bits past 64 are dropped. */
static inline uint64_t el_cursor_uleb(struct el_cursor *cursor)
{
	unsigned int bits;
	uint8_t last;

	return el_cursor_leb_bits(cursor, &bits, &last);
}

static inline int64_t el_cursor_sleb(struct el_cursor *cursor)
{
	unsigned int bits;
	uint8_t last;
	uint64_t value = el_cursor_leb_bits(cursor, &bits, &last);

	if (bits < 64 && (last & 0x40))
		value |= ~0ull << bits;
	return (int64_t)value;
}

/* A NUL-terminated string in place, or NULL when no NUL is left. */
static inline const char *el_cursor_string(struct el_cursor *cursor)
{
	const void *nul = memchr(cursor->at, 0, el_cursor_left(cursor));
	const char *text = (const char *)cursor->at;

	if (!nul) {
		el_cursor_fail(cursor);
		return NULL;
	}
	cursor->at = (const uint8_t *)nul + 1;
	return text;
}

#endif
