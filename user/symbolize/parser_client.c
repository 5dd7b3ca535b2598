/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See parser.h: the collector's side. Whatever the parser does (crash, hang,
 * nonsense), every request ends: the parser is ended, its input quarantined, a
 * new one told what the old one knew, and asked again, a bounded number of times.
 */
#include <errno.h>
#include <string.h>

#include "user/symbolize/channel.h"
#include "user/symbolize/parser_life.h"
#include "user/symbolize/protocol.h"

#define DEADLINE_MS 20000
#define RESTARTS_MAX 8       /* of one request */
#define QUERIES_AT_ONCE 4096 /* bounds an answer, and what one bad input can cost */

static int write_out(struct el_parser *parser, enum el_parser_message type)
{
	const struct el_channel channel = {parser->requests, el_parser_wait, parser};

	if (parser->out.err)
		return parser->out.err;
	return el_channel_write(&channel, type, parser->out.bytes.at, parser->out.bytes.n);
}

static struct el_buffer *begin(struct el_parser *parser)
{
	parser->out.bytes.n = 0;
	parser->out.err = 0;
	return &parser->out;
}

static int replay_image(struct el_parser *parser, const struct el_mirror_image *image)
{
	int err;

	el_protocol_put_image(begin(parser), &image->image);
	err = write_out(parser, EL_PARSER_ADD_IMAGE);
	for (size_t i = 0; !err && i < image->mappings.n; i++) {
		el_buffer_add_u32(begin(parser), image->image.id);
		el_protocol_put_mapping(&parser->out, &image->mappings.at[i]);
		err = write_out(parser, EL_PARSER_ADD_MAPPING);
	}
	if (!err && image->ended) {
		el_buffer_add_u32(begin(parser), image->image.id);
		err = write_out(parser, EL_PARSER_END_IMAGE);
	}
	return err;
}

/* A parser that knows all we know. Clobbers parser->out. */
static int ensure(struct el_parser *parser)
{
	int err;

	if (parser->pid)
		return 0;
	err = el_parser_start(parser);
	for (size_t i = 0; !err && i < parser->mirror.images.n; i++) {
		if (!parser->mirror.images.at[i].dropped)
			err = replay_image(parser, &parser->mirror.images.at[i]);
	}
	if (err)
		el_parser_bury(parser, err);
	return err;
}

/* Sends what is in parser->out and expects no answer. The mirror must hold it already. */
static int tell(struct el_parser *parser, enum el_parser_message type)
{
	if (parser->pid) {
		int err = write_out(parser, type);

		if (!err)
			return 0;
		el_parser_bury(parser, err);
	}
	return ensure(parser);
}

/* Takes what follows the errno of an answer; -EBADMSG when the parser talks nonsense. */
typedef int take_answer(struct el_cursor *cursor, void *context);

/* One try: 0 with the parser's own 0 or -errno in *ret; or -errno of the talk. */
static int ask_once(struct el_parser *parser, enum el_parser_message type, take_answer *take,
		    void *context, int *ret)
{
	const struct el_channel channel = {parser->requests, el_parser_wait, parser};
	struct el_cursor cursor;
	uint32_t answer_type, number;
	int err = write_out(parser, type);

	if (!err)
		err = el_channel_read(&channel, &answer_type, &parser->in);
	if (err)
		return err;
	cursor = el_cursor_of(parser->in.bytes.at, parser->in.bytes.n);
	number = el_cursor_u32(&cursor);
	if (cursor.failed || answer_type != EL_PARSER_ANSWER || number > 4095)
		return -EBADMSG;
	if (!number && take)
		err = take(&cursor, context);
	if (!err)
		*ret = -(int)number;
	return err;
}

/* Fills parser->out with a request; called again after a restart. */
typedef void put_request(struct el_buffer *out, const void *context);

static int ask(struct el_parser *parser, enum el_parser_message type, put_request *put,
	       const void *request, take_answer *take, void *context)
{
	int err = 0, answer;

	for (int i = 0; i <= RESTARTS_MAX; i++) {
		err = ensure(parser);
		if (err)
			continue;
		put(begin(parser), request);
		err = ask_once(parser, type, take, context, &answer);
		if (!err)
			return answer;
		if (err == -ENOMEM && parser->out.err)
			return err;
		el_parser_bury(parser, err);
	}
	return err == -ENOMEM ? err : -EIO;
}

/* --- parser.h --- */

int el_parser_new_over(const struct el_parser_options *options,
		       const struct el_symbolizer_calls *calls, struct el_parser **ret,
		       struct el_error *error)
{
	struct el_parser *parser = calloc(1, sizeof(*parser));
	int err;

	if (!parser)
		return el_error_set(error, -ENOMEM, "not enough memory to start the parser");
	parser->requests = parser->upcalls = -1;
	parser->deadline_ms = options->deadline_ms ? options->deadline_ms : DEADLINE_MS;
	err = el_quarantine_init(&parser->quarantine);
	parser->process = (struct el_parser_process){
		.options = options->symbolizer,
		.calls = calls,
		.page = parser->quarantine.page,
	};
	if (!err)
		err = el_parser_start(parser);
	if (err) {
		el_parser_free(parser);
		return el_error_set(error, err,
				    "cannot start the processes that read symbols: %s; check the "
				    "limits on processes and open files (ulimit -u, ulimit -n)",
				    strerror(-err));
	}
	*ret = parser;
	return 0;
}

int el_parser_new(const struct el_parser_options *options, struct el_parser **ret,
		  struct el_error *error)
{
	return el_parser_new_over(options, &el_symbolizer_calls, ret, error);
}

void el_parser_free(struct el_parser *parser)
{
	if (!parser)
		return;
	el_parser_stop(parser);
	el_mirror_deinit(&parser->mirror);
	el_quarantine_deinit(&parser->quarantine);
	el_buffer_deinit(&parser->out);
	el_buffer_deinit(&parser->in);
	free(parser);
}

int el_parser_add_image(struct el_parser *parser, const struct el_image *image)
{
	int err = el_mirror_add_image(&parser->mirror, image);

	if (err)
		return err;
	el_protocol_put_image(begin(parser), image);
	return tell(parser, EL_PARSER_ADD_IMAGE);
}

int el_parser_end_image(struct el_parser *parser, uint32_t image)
{
	struct el_mirror_image *row = el_mirror_find(&parser->mirror, image);

	if (!row)
		return -ENOENT;
	row->ended = true;
	el_buffer_add_u32(begin(parser), image);
	return tell(parser, EL_PARSER_END_IMAGE);
}

int el_parser_drop_image(struct el_parser *parser, uint32_t image)
{
	el_mirror_drop_image(&parser->mirror, image);
	el_buffer_add_u32(begin(parser), image);
	return tell(parser, EL_PARSER_DROP_IMAGE);
}

int el_parser_add_mapping(struct el_parser *parser, uint32_t image,
			  const struct el_mapping *mapping)
{
	int err = el_mirror_add_mapping(&parser->mirror, image, mapping);

	if (err)
		return err;
	el_buffer_add_u32(begin(parser), image);
	el_protocol_put_mapping(&parser->out, mapping);
	return tell(parser, EL_PARSER_ADD_MAPPING);
}

static void put_u32(struct el_buffer *out, const void *value)
{
	el_buffer_add(out, value, sizeof(uint32_t));
}

static void put_u64(struct el_buffer *out, const void *value)
{
	el_buffer_add(out, value, sizeof(uint64_t));
}

static void put_nothing(struct el_buffer *out, const void *context)
{
	(void)out;
	(void)context;
}

int el_parser_refresh(struct el_parser *parser, uint32_t image)
{
	return ask(parser, EL_PARSER_REFRESH, put_u32, &image, NULL, NULL);
}

int el_parser_evict(struct el_parser *parser, size_t limit)
{
	const uint64_t bytes = limit;

	el_buffer_deinit(&parser->out);
	el_buffer_deinit(&parser->in);
	return ask(parser, EL_PARSER_EVICT, put_u64, &bytes, NULL, NULL);
}

struct resolution {
	uint32_t image;
	const struct el_query *queries;
	size_t n;
	struct el_answer *answer;
};

static void put_resolution(struct el_buffer *out, const void *context)
{
	const struct resolution *resolution = context;

	el_buffer_add_u32(out, resolution->image);
	el_protocol_put_queries(out, resolution->queries, resolution->n);
}

static int take_resolution(struct el_cursor *cursor, void *context)
{
	const struct resolution *resolution = context;

	return el_protocol_get_answer(cursor, resolution->n, resolution->answer);
}

/* Answers that nobody gave: the parser failed on these too often. */
static int give_up(const struct el_query *queries, size_t n, struct el_answer *answer)
{
	int err = el_vec_reserve(&answer->locations, answer->locations.n + n);

	for (size_t i = 0; !err && i < n; i++) {
		struct el_answer_location location = {
			.addr = queries[i].addr,
			.miss = EL_MISS_QUARANTINED,
			.first_line = answer->lines.n,
		};

		err = el_vec_push(&answer->by_query, (uint32_t)answer->locations.n);
		if (!err)
			err = el_vec_push(&answer->locations, location);
	}
	return err;
}

int el_parser_resolve(struct el_parser *parser, uint32_t image, const struct el_query *queries,
		      size_t n, struct el_answer *answer)
{
	struct resolution chunk = {.image = image, .queries = queries, .answer = answer};
	int err = 0;

	for (; n && !err; n -= chunk.n, chunk.queries += chunk.n) {
		chunk.n = n < QUERIES_AT_ONCE ? n : QUERIES_AT_ONCE;
		err = ask(parser, EL_PARSER_RESOLVE, put_resolution, &chunk, take_resolution,
			  &chunk);
		if (err == -EIO)
			return give_up(chunk.queries, n,
				       answer); /* the next chunks would fare no better */
		if (err)
			err = give_up(chunk.queries, chunk.n, answer);
	}
	return err;
}

static int take_stats(struct el_cursor *cursor, void *context)
{
	return el_protocol_get_stats(cursor, context);
}

int el_parser_symbolizer_stats(struct el_parser *parser, struct el_symbolizer_stats *ret)
{
	return ask(parser, EL_PARSER_STATS, put_nothing, NULL, take_stats, ret);
}

void el_parser_stats(const struct el_parser *parser, struct el_parser_stats *ret)
{
	*ret = parser->stats;
}

pid_t el_parser_pid(const struct el_parser *parser)
{
	return parser->pid;
}

pid_t el_parser_fetcher_pid(const struct el_parser *parser)
{
	return parser->fetcher;
}
