/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protobuf wire format, as far as profiles need it: writing fields into a
 * buffer, and walking the fields of a message that nobody vouches for.
 * Format: protobuf.dev, "Encoding". Groups (wire types 3 and 4) are refused.
 */
#ifndef EL_PROTOBUF_H
#define EL_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/cursor.h"

/* A key is field << 3 | wire type. */
enum el_protobuf_wire {
	EL_PROTOBUF_VARINT = 0,
	EL_PROTOBUF_FIXED64 = 1,
	EL_PROTOBUF_BYTES = 2,
	EL_PROTOBUF_FIXED32 = 5,
};

static inline void el_protobuf_key(struct el_buffer *buffer, uint32_t field, uint32_t wire)
{
	el_buffer_add_uleb(buffer, field << 3 | wire);
}

/* A number; 0 is what a missing field means, and is not written. */
static inline void el_protobuf_number(struct el_buffer *buffer, uint32_t field, uint64_t value)
{
	if (!value)
		return;
	el_protobuf_key(buffer, field, EL_PROTOBUF_VARINT);
	el_buffer_add_uleb(buffer, value);
}

/* Text, a message or a packed column. */
static inline void el_protobuf_bytes(struct el_buffer *buffer, uint32_t field, const void *bytes,
				     size_t size)
{
	el_protobuf_key(buffer, field, EL_PROTOBUF_BYTES);
	el_buffer_add_uleb(buffer, size);
	el_buffer_add(buffer, bytes, size);
}

/* The same from a buffer, with its error. */
static inline void el_protobuf_buffer(struct el_buffer *buffer, uint32_t field,
				      const struct el_buffer *content)
{
	if (content->err)
		buffer->err = content->err;
	el_protobuf_bytes(buffer, field, content->bytes.at, content->bytes.n);
}

struct el_protobuf_field {
	uint32_t number;
	uint32_t wire;        /* enum el_protobuf_wire */
	uint64_t value;       /* of a varint or fixed field */
	const uint8_t *bytes; /* of a field of bytes, in place; never NULL */
	size_t size;
};

/* The next field; false at the end, or when the message is damaged: then cursor->failed. */
static inline bool el_protobuf_next(struct el_cursor *cursor, struct el_protobuf_field *ret)
{
	uint64_t key, size;

	if (!el_cursor_left(cursor))
		return false;
	key = el_cursor_uleb(cursor);
	*ret = (struct el_protobuf_field){.number = key >> 3, .wire = key & 7, .bytes = cursor->at};
	switch (ret->wire) {
	case EL_PROTOBUF_VARINT:
		ret->value = el_cursor_uleb(cursor);
		break;
	case EL_PROTOBUF_FIXED64:
		ret->value = el_cursor_u64(cursor);
		break;
	case EL_PROTOBUF_FIXED32:
		ret->value = el_cursor_u32(cursor);
		break;
	case EL_PROTOBUF_BYTES:
		size = el_cursor_uleb(cursor);
		ret->bytes = cursor->at;
		ret->size = size;
		if (!el_cursor_bytes(cursor, size))
			ret->size = 0;
		break;
	default:
		el_cursor_fail(cursor);
	}
	if (!ret->number || key >> 3 > UINT32_MAX)
		el_cursor_fail(cursor);
	return !cursor->failed;
}

#endif
