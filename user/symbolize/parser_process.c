/* SPDX-License-Identifier: Apache-2.0 */
/* See parser_process.h: a loop over requests; each row of the table decodes one and calls the
 * symbolizer. */
#include "user/symbolize/parser_process.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <unistd.h>

#include "base/time.h"
#include "user/fetch/fetcher.h"
#include "user/symbolize/channel.h"
#include "user/symbolize/workers.h"
#include "user/symbolize/protocol.h"

const struct el_symbolizer_calls el_symbolizer_calls = {
	.new = el_symbolizer_new,
	.add_image = el_symbolizer_add_image,
	.end_image = el_symbolizer_end_image,
	.drop_image = el_symbolizer_drop_image,
	.add_mapping = el_symbolizer_add_mapping,
	.refresh = el_symbolizer_refresh,
	.resolve = el_symbolizer_resolve,
	.evict = el_symbolizer_evict,
	.stats = el_symbolizer_stats,
};

struct server {
	const struct el_parser_process *process;
	struct el_source fetcher; /* what the fetcher's client offers */
	struct el_symbolizer *symbolizer;
	struct el_buffer reply; /* u32 errno, then what the request asked for */
};

static int renew_fetcher(void *context)
{
	struct server *server = context;
	int upcalls = EL_WORKER_SOCKET + EL_PARSER_SOCKET_UPCALLS;
	int fd;

	el_parsing_progress(server->process->page);
	if (el_channel_send_fd(upcalls, -1))
		return -1;
	fd = el_channel_receive_fd(upcalls);
	return fd < 0 ? -1 : fd;
}

/* --- the symbolizer's source: the fetcher's, each answer of which is progress --- */

static int open_mapping(void *context, const struct el_image *image,
			const struct el_mapping *mapping)
{
	struct server *server = context;

	el_parsing_progress(server->process->page);
	return server->fetcher.open_mapping(server->fetcher.context, image, mapping);
}

static int open_debug(void *context, const struct el_image *image,
		      const struct el_debug_request *request)
{
	struct server *server = context;

	el_parsing_progress(server->process->page);
	return server->fetcher.open_debug(server->fetcher.context, image, request);
}

static int open_perf_map(void *context, const struct el_image *image)
{
	struct server *server = context;

	el_parsing_progress(server->process->page);
	return server->fetcher.open_perf_map(server->fetcher.context, image);
}

static int open_kallsyms(void *context)
{
	struct server *server = context;

	el_parsing_progress(server->process->page);
	return server->fetcher.open_kallsyms(server->fetcher.context);
}

static ssize_t read_memory(void *context, const struct el_image *image, uint64_t addr, void *bytes,
			   size_t size)
{
	struct server *server = context;

	el_parsing_progress(server->process->page);
	return server->fetcher.read_memory(server->fetcher.context, image, addr, bytes, size);
}

static bool parsing(void *context, uint64_t identity)
{
	const struct server *server = context;

	return el_parsing_begin(server->process->page, identity);
}

static uint64_t now(void *context)
{
	(void)context;
	return el_now_ns();
}

/* --- one function per message: 0 or -errno; an answer is added to server->reply --- */

static int add_image(struct server *server, struct el_cursor *cursor)
{
	struct el_image image;
	int err = el_protocol_get_image(cursor, &image);

	return err ? err : server->process->calls->add_image(server->symbolizer, &image);
}

static int end_image(struct server *server, struct el_cursor *cursor)
{
	return server->process->calls->end_image(server->symbolizer, el_cursor_u32(cursor));
}

static int drop_image(struct server *server, struct el_cursor *cursor)
{
	server->process->calls->drop_image(server->symbolizer, el_cursor_u32(cursor));
	return 0;
}

static int add_mapping(struct server *server, struct el_cursor *cursor)
{
	uint32_t image = el_cursor_u32(cursor);
	struct el_mapping mapping;
	int err = el_protocol_get_mapping(cursor, &mapping);

	if (err)
		return err;
	return server->process->calls->add_mapping(server->symbolizer, image, &mapping);
}

static int refresh(struct server *server, struct el_cursor *cursor)
{
	return server->process->calls->refresh(server->symbolizer, el_cursor_u32(cursor));
}

static int resolve(struct server *server, struct el_cursor *cursor)
{
	uint32_t image = el_cursor_u32(cursor);
	struct el_queries queries = {0};
	struct el_answer answer;
	int err = el_answer_init(&answer);

	if (err)
		return err;
	err = el_protocol_get_queries(cursor, &queries);
	if (!err)
		err = server->process->calls->resolve(server->symbolizer, image, queries.all.at,
						      queries.all.n, &answer);
	if (!err)
		el_protocol_put_answer(&server->reply, &answer);
	el_vec_deinit(&queries.all);
	el_answer_deinit(&answer);
	return err;
}

static int evict(struct server *server, struct el_cursor *cursor)
{
	server->process->calls->evict(server->symbolizer, el_cursor_u64(cursor));
	el_buffer_deinit(&server->reply);
	el_buffer_add_u32(&server->reply, 0);
	malloc_trim(0);
	return 0;
}

static int stats(struct server *server, struct el_cursor *cursor)
{
	struct el_symbolizer_stats stats = {0};

	(void)cursor;
	server->process->calls->stats(server->symbolizer, &stats);
	el_protocol_put_stats(&server->reply, &stats);
	return 0;
}

static const struct request {
	int (*serve)(struct server *server, struct el_cursor *cursor);
	bool answered;
} requests[] = {
	[EL_PARSER_ADD_IMAGE] = {add_image},
	[EL_PARSER_END_IMAGE] = {end_image},
	[EL_PARSER_DROP_IMAGE] = {drop_image},
	[EL_PARSER_ADD_MAPPING] = {add_mapping},
	[EL_PARSER_REFRESH] = {refresh, .answered = true},
	[EL_PARSER_RESOLVE] = {resolve, .answered = true},
	[EL_PARSER_EVICT] = {evict, .answered = true},
	[EL_PARSER_STATS] = {stats, .answered = true},
};

static int answer(struct server *server, const struct el_channel *channel, int err)
{
	struct el_buffer *reply = &server->reply;
	uint32_t number;

	if (!err)
		err = reply->err;
	if (!err && reply->bytes.n > EL_MESSAGE_MAX)
		err = -EMSGSIZE;
	number = -err;
	if (reply->bytes.n < sizeof(number))
		return -ENOMEM;
	memcpy(reply->bytes.at, &number, sizeof(number));
	return el_channel_write(channel, EL_PARSER_ANSWER, reply->bytes.at,
				err ? sizeof(number) : reply->bytes.n);
}

/* Until the other side is gone or talks nonsense. */
static void serve(struct server *server)
{
	struct el_channel channel = {.fd = EL_WORKER_SOCKET + EL_PARSER_SOCKET_REQUESTS};
	struct el_buffer message = {0};
	uint32_t type;

	while (!el_channel_read(&channel, &type, &message)) {
		struct el_cursor cursor = el_cursor_of(message.bytes.at, message.bytes.n);
		int err;

		if (type >= sizeof(requests) / sizeof(*requests) || !requests[type].serve)
			break;
		server->reply.bytes.n = 0;
		server->reply.err = 0;
		el_buffer_add_u32(&server->reply, 0);
		err = requests[type].serve(server, &cursor);
		el_parsing_begin(server->process->page, 0);
		if (cursor.failed)
			break;
		if (requests[type].answered && answer(server, &channel, err))
			break;
	}
	el_buffer_deinit(&message);
}

void el_parser_process_main(void *context)
{
	const struct el_parser_process *process = context;
	struct server server = {.process = process};
	struct el_fetcher_client *fetcher;
	const struct el_source source = {
		.context = &server,
		.open_mapping = open_mapping,
		.open_debug = open_debug,
		.open_perf_map = open_perf_map,
		.open_kallsyms = open_kallsyms,
		.read_memory = read_memory,
		.parsing = parsing,
		.now = now,
	};

	if (el_fetcher_client_new(EL_WORKER_SOCKET + EL_PARSER_SOCKET_FETCHER, &fetcher))
		_exit(1);
	el_fetcher_client_on_hang(fetcher, renew_fetcher, &server);
	el_fetcher_client_source(fetcher, &server.fetcher);
	if (process->calls->new (&source, &process->options, &server.symbolizer))
		_exit(1);
	serve(&server);
	_exit(0);
}
