/* SPDX-License-Identifier: Apache-2.0 */
/* See parser_life.h. */
#include "user/symbolize/parser_life.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/time.h"
#include "user/fetch/fetcher.h"
#include "user/symbolize/channel.h"
#include "user/symbolize/workers.h"

#define DEADLINES_MAX 16 /* of one wait, however busy the parser claims to be */
#define ADDRESS_SPACE (8ull << 30)

static uint64_t now_ms(void)
{
	return el_now_ns() / EL_NS_PER_MS;
}

/* --- the two processes --- */

static void fetcher_body(void *context)
{
	(void)context;
	el_fetcher_main(EL_WORKER_SOCKET);
}

static int socket_pair(int *ret_ours, int *ret_theirs)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	*ret_ours = pair[0];
	*ret_theirs = pair[1];
	return 0;
}

static enum el_worker_end end_worker(struct el_parser *parser, pid_t *pid, bool gone)
{
	enum el_worker_end end = el_worker_end(*pid, gone);

	if (end == EL_WORKER_UNKNOWN)
		(void)el_vec_push(&parser->unreaped, *pid);
	*pid = 0;
	return end;
}

static void reap_late(struct el_parser *parser)
{
	size_t n = 0;

	for (size_t i = 0; i < parser->unreaped.n; i++) {
		if (!waitpid(parser->unreaped.at[i], NULL, WNOHANG))
			parser->unreaped.at[n++] = parser->unreaped.at[i];
	}
	parser->unreaped.n = n;
}

/* *ret: the end of its socket that the parser gets. */
static int start_fetcher(struct el_parser *parser, int *ret)
{
	struct el_worker worker = {.name = "everline-fetch", .n_sockets = 1, .body = fetcher_body};
	el_auto_fd int ours = -1, theirs = -1;
	int err;

	reap_late(parser);
	if (parser->fetcher)
		end_worker(parser, &parser->fetcher, false);
	err = socket_pair(&ours, &theirs);
	if (err)
		return err;
	worker.sockets[0] = theirs;
	err = el_worker_start(&worker, &parser->fetcher);
	if (!err)
		*ret = el_take_fd(&ours);
	return err;
}

int el_parser_start(struct el_parser *parser)
{
	el_auto_fd int fetcher = -1, requests = -1, their_requests = -1, upcalls = -1,
		       their_upcalls = -1;
	struct el_worker worker = {
		.name = "everline-parser",
		.n_sockets = EL_N_PARSER_SOCKETS,
		.address_space = ADDRESS_SPACE,
		.body = el_parser_process_main,
		.context = &parser->process,
	};
	int err = start_fetcher(parser, &fetcher);

	if (!err)
		err = socket_pair(&requests, &their_requests);
	if (!err)
		err = socket_pair(&upcalls, &their_upcalls);
	if (err)
		return err;
	worker.sockets[EL_PARSER_SOCKET_REQUESTS] = their_requests;
	worker.sockets[EL_PARSER_SOCKET_UPCALLS] = their_upcalls;
	worker.sockets[EL_PARSER_SOCKET_FETCHER] = fetcher;
	err = el_worker_start(&worker, &parser->pid);
	if (err)
		return err;
	parser->requests = el_take_fd(&requests);
	parser->upcalls = el_take_fd(&upcalls);
	return 0;
}

void el_parser_bury(struct el_parser *parser, int err)
{
	bool gone = err == -ECONNRESET || err == -EPIPE;
	enum el_worker_end end;
	bool guilty;

	if (!parser->pid)
		return;
	close(parser->requests);
	close(parser->upcalls);
	parser->requests = parser->upcalls = -1;
	end = end_worker(parser, &parser->pid, gone);
	guilty = err == -ETIMEDOUT || err == -EBADMSG || (gone && end == EL_WORKER_CRASHED);
	parser->stats.parser_restarts++;
	parser->stats.quarantined += el_quarantine_on_death(&parser->quarantine, guilty);
}

/* The parser's fetcher hangs or died: a new one. Failure closes the parser's wait with an answer
 * without socket. */
static void serve_upcall(struct el_parser *parser)
{
	el_auto_fd int fetcher = -1;
	int stray = el_channel_receive_fd(parser->upcalls);

	if (stray >= 0) {
		close(stray); /* no honest parser sends one */
		return;
	}
	if (stray != -ENOENT)
		return;
	parser->stats.fetcher_restarts++;
	if (start_fetcher(parser, &fetcher))
		fetcher = -1;
	el_channel_send_fd(parser->upcalls, fetcher);
}

int el_parser_wait(void *context, short events)
{
	struct el_parser *parser = context;
	uint64_t steps = el_quarantine_steps(&parser->quarantine);
	uint64_t begin = now_ms(), last = begin;

	for (;;) {
		struct pollfd fds[] = {{.fd = parser->requests, .events = events},
				       {.fd = parser->upcalls, .events = POLLIN}};
		uint64_t now = now_ms();
		int n;

		if (now - last >= parser->deadline_ms) {
			uint64_t steps_now = el_quarantine_steps(&parser->quarantine);

			if (steps_now == steps ||
			    now - begin >= (uint64_t)parser->deadline_ms * DEADLINES_MAX)
				return -ETIMEDOUT;
			steps = steps_now;
			last = now;
		}
		n = poll(fds, 2, parser->deadline_ms - (now - last));
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n <= 0)
			continue;
		if (fds[1].revents & POLLIN)
			serve_upcall(parser);
		if (fds[0].revents)
			return 0;
		if (fds[1].revents & (POLLHUP | POLLERR))
			return -ECONNRESET;
	}
}

void el_parser_stop(struct el_parser *parser)
{
	if (parser->requests >= 0)
		close(parser->requests);
	if (parser->upcalls >= 0)
		close(parser->upcalls);
	parser->requests = parser->upcalls = -1;
	if (parser->pid)
		end_worker(parser, &parser->pid, false);
	if (parser->fetcher)
		end_worker(parser, &parser->fetcher, false);
	el_vec_deinit(&parser->unreaped);
}
