/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the collector and the parser process say to each other, as bytes:
 * images, mappings, queries and answers. Pure encoding and decoding, no
 * sockets. Both ends run the same program on the same machine, so integers
 * and arrays go over as they lie in memory; but the parser may have been taken
 * over by its input, so every size and index of an answer is checked here.
 */
#ifndef EL_PROTOCOL_H
#define EL_PROTOCOL_H

#include "base/buffer.h"
#include "base/cursor.h"
#include "symbolizer/symbolizer.h"

enum el_parser_message {
	/* To the parser; not answered, so that they cost no round trip. */
	EL_PARSER_ADD_IMAGE = 1, /* image */
	EL_PARSER_END_IMAGE,     /* u32 image */
	EL_PARSER_DROP_IMAGE,    /* u32 image */
	EL_PARSER_ADD_MAPPING,   /* u32 image, mapping */
	/* To the parser; each answered by one EL_PARSER_ANSWER. */
	EL_PARSER_REFRESH, /* u32 image */
	EL_PARSER_RESOLVE, /* u32 image, queries */
	EL_PARSER_EVICT,   /* u64 limit */
	EL_PARSER_STATS,   /* nothing */
	/* From the parser: u32 0 or errno, then by request: nothing, an answer, nothing, the stats.
	 */
	EL_PARSER_ANSWER,
};

#define EL_QUERIES_MAX 65536   /* of one resolve message */
#define EL_PATH_BYTES_MAX 8192 /* of a mapping; longer ones are cut */
#define EL_INLINES_MAX 4096    /* lines of one location */

void el_protocol_put_image(struct el_buffer *buffer, const struct el_image *image);
void el_protocol_put_mapping(struct el_buffer *buffer, const struct el_mapping *mapping);
void el_protocol_put_queries(struct el_buffer *buffer, const struct el_query *queries, size_t n);
void el_protocol_put_answer(struct el_buffer *buffer, const struct el_answer *answer);
void el_protocol_put_stats(struct el_buffer *buffer, const struct el_symbolizer_stats *stats);

/* Each returns 0 or -EBADMSG (cut short, an index or size out of range) or -ENOMEM. */
int el_protocol_get_image(struct el_cursor *cursor, struct el_image *ret);
/* ret->path points into the message. */
int el_protocol_get_mapping(struct el_cursor *cursor, struct el_mapping *ret);

struct el_queries {
	EL_VEC(struct el_query) all;
};
int el_protocol_get_queries(struct el_cursor *cursor, struct el_queries *ret);
/*
 * Appends an answer to `n_queries` queries to `answer`, an initialised one,
 * with all indexes moved. Nothing is appended to its locations and by_query
 * unless the whole message is good.
 */
int el_protocol_get_answer(struct el_cursor *cursor, size_t n_queries, struct el_answer *answer);
int el_protocol_get_stats(struct el_cursor *cursor, struct el_symbolizer_stats *ret);

#endif
