/* SPDX-License-Identifier: Apache-2.0 */
/* See protocol.h: the small messages. Answers are in protocol_answer.c. */
#include "user/symbolize/protocol.h"

#include <errno.h>
#include <string.h>

static int verdict(const struct el_cursor *cursor)
{
	return cursor->failed ? -EBADMSG : 0;
}

void el_protocol_put_image(struct el_buffer *buffer, const struct el_image *image)
{
	el_buffer_add_u32(buffer, image->id);
	el_buffer_add_u32(buffer, image->pid);
	el_buffer_add_u64(buffer, image->start_ns);
}

int el_protocol_get_image(struct el_cursor *cursor, struct el_image *ret)
{
	struct el_image image = {0};

	image.id = el_cursor_u32(cursor);
	image.pid = el_cursor_u32(cursor);
	image.start_ns = el_cursor_u64(cursor);
	if (!cursor->failed)
		*ret = image;
	return verdict(cursor);
}

void el_protocol_put_mapping(struct el_buffer *buffer, const struct el_mapping *mapping)
{
	const char *path = mapping->path ? mapping->path : "";

	el_buffer_add_u32(buffer, mapping->id);
	el_buffer_add_u32(buffer, mapping->flags);
	el_buffer_add_u64(buffer, mapping->start);
	el_buffer_add_u64(buffer, mapping->end);
	el_buffer_add_u64(buffer, mapping->offset);
	el_buffer_add_u32(buffer, mapping->dev_major);
	el_buffer_add_u32(buffer, mapping->dev_minor);
	el_buffer_add_u64(buffer, mapping->inode);
	el_buffer_add(buffer, mapping->build_id, sizeof(mapping->build_id));
	el_buffer_add_u8(buffer, mapping->build_id_size);
	el_buffer_add(buffer, path, strnlen(path, EL_PATH_BYTES_MAX));
	el_buffer_add_u8(buffer, 0);
}

int el_protocol_get_mapping(struct el_cursor *cursor, struct el_mapping *ret)
{
	struct el_mapping mapping = {0};
	const void *build_id;

	mapping.id = el_cursor_u32(cursor);
	mapping.flags = el_cursor_u32(cursor);
	mapping.start = el_cursor_u64(cursor);
	mapping.end = el_cursor_u64(cursor);
	mapping.offset = el_cursor_u64(cursor);
	mapping.dev_major = el_cursor_u32(cursor);
	mapping.dev_minor = el_cursor_u32(cursor);
	mapping.inode = el_cursor_u64(cursor);
	build_id = el_cursor_bytes(cursor, sizeof(mapping.build_id));
	if (build_id)
		memcpy(mapping.build_id, build_id, sizeof(mapping.build_id));
	mapping.build_id_size = el_cursor_u8(cursor);
	mapping.path = el_cursor_string(cursor);
	if (mapping.build_id_size > sizeof(mapping.build_id))
		el_cursor_fail(cursor);
	if (!cursor->failed)
		*ret = mapping;
	return verdict(cursor);
}

void el_protocol_put_queries(struct el_buffer *buffer, const struct el_query *queries, size_t n)
{
	el_buffer_add_u32(buffer, n);
	el_buffer_add(buffer, queries, n * sizeof(*queries));
}

int el_protocol_get_queries(struct el_cursor *cursor, struct el_queries *ret)
{
	uint32_t n = el_cursor_u32(cursor);
	const void *bytes =
		n <= EL_QUERIES_MAX ? el_cursor_bytes(cursor, n * sizeof(struct el_query)) : NULL;

	if (!bytes || cursor->failed)
		return -EBADMSG;
	if (el_vec_reserve(&ret->all, n))
		return -ENOMEM;
	memcpy(ret->all.at, bytes, n * sizeof(struct el_query));
	ret->all.n = n;
	return 0;
}

void el_protocol_put_stats(struct el_buffer *buffer, const struct el_symbolizer_stats *stats)
{
	el_buffer_add(buffer, stats, sizeof(*stats));
}

int el_protocol_get_stats(struct el_cursor *cursor, struct el_symbolizer_stats *ret)
{
	const void *bytes = el_cursor_bytes(cursor, sizeof(*ret));

	if (bytes)
		memcpy(ret, bytes, sizeof(*ret));
	return verdict(cursor);
}
