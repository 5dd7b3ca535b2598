/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growable byte buffer with a sticky error, for writers that produce many
 * small pieces: check `err` once at the end. A zeroed one is empty.
 */
#ifndef EL_BASE_BUFFER_H
#define EL_BASE_BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/vec.h"

struct el_buffer {
	EL_VEC(uint8_t) bytes;
	int err; /* 0 or -ENOMEM: pieces are missing */
};

static inline void el_buffer_add(struct el_buffer *buffer, const void *bytes, size_t size)
{
	if (!buffer->err)
		buffer->err = el_vec_reserve(&buffer->bytes, buffer->bytes.n + size);
	if (buffer->err || !size)
		return;
	memcpy(buffer->bytes.at + buffer->bytes.n, bytes, size);
	buffer->bytes.n += size;
}

static inline void el_buffer_add_u8(struct el_buffer *buffer, uint8_t value)
{
	el_buffer_add(buffer, &value, sizeof(value));
}

static inline void el_buffer_add_u32(struct el_buffer *buffer, uint32_t value)
{
	el_buffer_add(buffer, &value, sizeof(value));
}

static inline void el_buffer_add_u64(struct el_buffer *buffer, uint64_t value)
{
	el_buffer_add(buffer, &value, sizeof(value));
}

static inline void el_buffer_add_uleb(struct el_buffer *buffer, uint64_t value)
{
	uint8_t bytes[10];
	size_t n = 0;

	do {
		bytes[n++] = (value & 0x7f) | (value > 0x7f ? 0x80 : 0);
		value >>= 7;
	} while (value);
	el_buffer_add(buffer, bytes, n);
}

static inline void el_buffer_deinit(struct el_buffer *buffer)
{
	el_vec_deinit(&buffer->bytes);
	buffer->err = 0;
}

#endif
