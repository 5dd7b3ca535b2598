/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fetcher process: a loop over requests. Each row of the table reads one
 * request's body and answers it with a descriptor or with bytes of memory.
 */
#include "user/fetch/fetcher.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/cursor.h"
#include "user/fetch/files.h"
#include "user/fetch/protocol.h"

struct answer {
	int result; /* 0 or -errno */
	int fd;     /* -1: none */
	uint8_t *bytes;
	size_t size;
};

struct fetcher {
	int socket;
	struct el_fetch_targets *targets;
};

typedef void serve(const struct fetcher *fetcher, const struct el_fetch_target *target,
		   struct el_cursor *body, struct answer *answer);

static void answer_fd(struct answer *answer, int fd)
{
	answer->result = fd < 0 ? fd : 0;
	answer->fd = fd < 0 ? -1 : fd;
}

static bool is_whole(struct el_cursor *body, struct answer *answer)
{
	if (body->failed || el_cursor_left(body))
		answer->result = -EINVAL;
	return !answer->result;
}

static void serve_mapping(const struct fetcher *fetcher, const struct el_fetch_target *target,
			  struct el_cursor *body, struct answer *answer)
{
	struct el_mapping mapping = {0};

	mapping.start = el_cursor_u64(body);
	mapping.end = el_cursor_u64(body);
	mapping.offset = el_cursor_u64(body);
	mapping.inode = el_cursor_u64(body);
	mapping.flags = el_cursor_u32(body);
	mapping.dev_major = el_cursor_u32(body);
	mapping.dev_minor = el_cursor_u32(body);
	mapping.build_id_size = el_cursor_u32(body) != 0;
	mapping.path = el_cursor_string(body);
	if (is_whole(body, answer))
		answer_fd(answer, el_fetch_mapping_file(fetcher->targets, target, &mapping));
}

static void serve_debug(const struct fetcher *fetcher, const struct el_fetch_target *target,
			struct el_cursor *body, struct answer *answer)
{
	struct el_debug_request request = {0};

	request.build_id_size = el_cursor_u32(body);
	request.build_id = el_cursor_bytes(body, request.build_id_size);
	request.debuglink = el_cursor_string(body);
	request.path = el_cursor_string(body);
	if (is_whole(body, answer))
		answer_fd(answer, el_fetch_debug_file(fetcher->targets, target, &request));
}

static void serve_perf_map(const struct fetcher *fetcher, const struct el_fetch_target *target,
			   struct el_cursor *body, struct answer *answer)
{
	(void)fetcher;
	if (is_whole(body, answer))
		answer_fd(answer, el_fetch_perf_map(target));
}

static void serve_kallsyms(const struct fetcher *fetcher, const struct el_fetch_target *target,
			   struct el_cursor *body, struct answer *answer)
{
	int fd;

	(void)fetcher;
	(void)target;
	if (!is_whole(body, answer))
		return;
	fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	answer_fd(answer, fd < 0 ? -errno : fd);
}

/* The read that may never return; process_vm_readv() knows the pid only, so who it is is asked
 * after. */
static void serve_memory(const struct fetcher *fetcher, const struct el_fetch_target *target,
			 struct el_cursor *body, struct answer *answer)
{
	uint64_t addr = el_cursor_u64(body), size = el_cursor_u64(body);
	struct iovec local, remote;
	ssize_t got;

	(void)fetcher;
	if (!is_whole(body, answer))
		return;
	if (!size || size > EL_FETCH_MEMORY_MAX || addr > UINT64_MAX - size)
		answer->result = -EINVAL;
	else if (target->proc < 0)
		answer->result = -ESRCH;
	else if (!(answer->bytes = malloc(size)))
		answer->result = -ENOMEM;
	if (answer->result)
		return;
	local = (struct iovec){answer->bytes, size};
	remote = (struct iovec){(void *)(uintptr_t)addr, size};
	got = process_vm_readv((pid_t)target->pid, &local, 1, &remote, 1, 0);
	if (got < 0)
		answer->result = -errno;
	else if (!el_fetch_target_lives(target))
		answer->result = -ESRCH;
	else
		answer->size = got;
}

static serve *const serve_type[EL_N_FETCH_TYPES] = {
	[EL_FETCH_MAPPING] = serve_mapping,   [EL_FETCH_DEBUG] = serve_debug,
	[EL_FETCH_PERF_MAP] = serve_perf_map, [EL_FETCH_KALLSYMS] = serve_kallsyms,
	[EL_FETCH_MEMORY] = serve_memory,
};

static int reply(const struct fetcher *fetcher, uint32_t sequence, const struct answer *answer)
{
	struct el_fetch_reply reply = {.magic = EL_FETCH_MAGIC,
				       .sequence = sequence,
				       .result = answer->result,
				       .size = (uint32_t)answer->size};

	return el_fetch_send(fetcher->socket, &reply, sizeof(reply), answer->bytes, answer->size,
			     answer->fd);
}

/* After bytes that are no request nobody knows where the next one begins: what has come goes. */
static int refuse_garbage(const struct fetcher *fetcher)
{
	struct answer answer = {.result = -EINVAL, .fd = -1};
	char garbage[4096];

	while (recv(fetcher->socket, garbage, sizeof(garbage), MSG_DONTWAIT) > 0)
		;
	return reply(fetcher, 0, &answer);
}

/* 0, or -errno when the other side is gone. */
static int serve_request(const struct fetcher *fetcher)
{
	struct el_fetch_request request;
	struct answer answer = {.fd = -1};
	uint8_t bytes[EL_FETCH_BODY_MAX];
	struct el_cursor body;
	struct el_fetch_target target;
	int err = el_fetch_receive(fetcher->socket, &request, sizeof(request), UINT64_MAX, NULL);

	if (err)
		return err;
	if (request.magic != EL_FETCH_MAGIC || request.size > sizeof(bytes) ||
	    request.type >= EL_N_FETCH_TYPES)
		return refuse_garbage(fetcher);
	err = el_fetch_receive(fetcher->socket, bytes, request.size, UINT64_MAX, NULL);
	if (err)
		return err;
	body = el_cursor_of(bytes, request.size);
	el_fetch_targets_open(fetcher->targets, request.image, request.pid, request.start_ns,
			      &target);
	serve_type[request.type](fetcher, &target, &body, &answer);
	err = reply(fetcher, request.sequence, &answer);
	if (answer.fd >= 0)
		close(answer.fd);
	free(answer.bytes);
	return err;
}

void el_fetcher_main(int socket)
{
	struct fetcher fetcher = {.socket = socket};

	if (el_fetch_targets_new(&fetcher.targets))
		_exit(1);
	while (!serve_request(&fetcher))
		;
	el_fetch_targets_free(fetcher.targets);
	_exit(0);
}
