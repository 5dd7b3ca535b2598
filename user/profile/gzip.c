/* SPDX-License-Identifier: Apache-2.0 */
/* See gzip.h; zlib does the work. */
#include "user/profile/gzip.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16) /* zlib: largest window, gzip header */
#define CHUNK (64u << 10)
#define INPUT_CHUNK (1u << 30) /* avail_in is 32 bits */

struct el_gzip {
	z_stream stream;
	struct el_buffer *out;
};

int el_gzip_new(struct el_buffer *out, struct el_gzip **ret)
{
	struct el_gzip *gzip = calloc(1, sizeof(*gzip));

	if (!gzip)
		return -ENOMEM;
	gzip->out = out;
	if (deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(gzip);
		return -ENOMEM;
	}
	*ret = gzip;
	return 0;
}

/* Gives zlib room until it has taken everything. */
static void deflate_all(struct el_gzip *gzip, int flush)
{
	struct el_buffer *out = gzip->out;
	z_stream *stream = &gzip->stream;

	do {
		if (!out->err)
			out->err = el_vec_reserve(&out->bytes, out->bytes.n + CHUNK);
		if (out->err)
			return;
		stream->next_out = out->bytes.at + out->bytes.n;
		stream->avail_out = CHUNK;
		deflate(stream, flush);
		out->bytes.n += CHUNK - stream->avail_out;
	} while (!stream->avail_out);
}

void el_gzip_add(struct el_gzip *gzip, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	while (size) {
		size_t part = size < INPUT_CHUNK ? size : INPUT_CHUNK;

		gzip->stream.next_in = (uint8_t *)at;
		gzip->stream.avail_in = part;
		deflate_all(gzip, Z_NO_FLUSH);
		at += part;
		size -= part;
	}
}

int el_gzip_finish(struct el_gzip *gzip)
{
	gzip->stream.avail_in = 0;
	deflate_all(gzip, Z_FINISH);
	return gzip->out->err;
}

void el_gzip_free(struct el_gzip *gzip)
{
	if (!gzip)
		return;
	deflateEnd(&gzip->stream);
	free(gzip);
}

bool el_gzip_is(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	return size >= 2 && at[0] == 0x1f && at[1] == 0x8b;
}

/* One member; `*at` moves past it. */
static int unpack_member(z_stream *stream, const uint8_t **at, const uint8_t *end, size_t limit,
			 struct el_buffer *out)
{
	int status = Z_OK;

	while (status != Z_STREAM_END) {
		size_t part = (size_t)(end - *at) < INPUT_CHUNK ? (size_t)(end - *at) : INPUT_CHUNK;

		if (out->bytes.n >= limit)
			return -EFBIG;
		if (el_vec_reserve(&out->bytes, out->bytes.n + CHUNK))
			return -ENOMEM;
		stream->next_in = (uint8_t *)*at;
		stream->avail_in = part;
		stream->next_out = out->bytes.at + out->bytes.n;
		stream->avail_out = CHUNK;
		status = inflate(stream, Z_NO_FLUSH);
		*at += part - stream->avail_in;
		out->bytes.n += CHUNK - stream->avail_out;
		if (status == Z_MEM_ERROR)
			return -ENOMEM;
		if (status == Z_BUF_ERROR || (status == Z_OK && *at == end && stream->avail_out))
			return -ENODATA;
		if (status != Z_OK && status != Z_STREAM_END)
			return -EINVAL;
	}
	return 0;
}

int el_gzip_unpack(const void *bytes, size_t size, size_t limit, struct el_buffer *ret)
{
	const uint8_t *at = bytes, *end = at + size;
	z_stream stream = {0};
	int err;

	if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
		return -ENOMEM;
	do {
		err = unpack_member(&stream, &at, end, limit, ret);
		if (!err && at != end && inflateReset(&stream) != Z_OK)
			err = -EINVAL;
	} while (!err && at != end);
	inflateEnd(&stream);
	return err;
}
