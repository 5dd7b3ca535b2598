/* SPDX-License-Identifier: Apache-2.0 */
/* The asking side of the fetcher: deadlines, and what happens after one passed; see fetcher.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/time.h"
#include "base/vec.h"
#include "user/fetch/fetcher.h"
#include "user/fetch/protocol.h"

struct el_fetcher_client {
	int socket; /* -1: no fetcher any more */
	uint32_t sequence;
	int (*renew)(void *context);
	void *renew_context;
	struct el_buffer body;    /* of the request that is being made */
	EL_VEC(uint32_t) hanging; /* images whose memory hung a read */
	struct el_fetcher_client_stats stats;
};

/* What a request asks for, and where its answer goes. */
struct call {
	enum el_fetch_type type;
	const struct el_image *image;
	unsigned int deadline_ms;
	int result; /* out: what the fetcher said: 0 or -errno */
	int fd;     /* out: -1 none */
	void *bytes;
	size_t size; /* room in bytes; out: how many came */
};

int el_fetcher_client_new(int socket, struct el_fetcher_client **ret)
{
	struct el_fetcher_client *client = calloc(1, sizeof(*client));

	if (!client)
		return -ENOMEM;
	client->socket = socket;
	*ret = client;
	return 0;
}

void el_fetcher_client_free(struct el_fetcher_client *client)
{
	if (!client)
		return;
	if (client->socket >= 0)
		close(client->socket);
	el_buffer_deinit(&client->body);
	el_vec_deinit(&client->hanging);
	free(client);
}

void el_fetcher_client_on_hang(struct el_fetcher_client *client, int (*renew)(void *context),
			       void *context)
{
	client->renew = renew;
	client->renew_context = context;
}

void el_fetcher_client_stats(const struct el_fetcher_client *client,
			     struct el_fetcher_client_stats *ret)
{
	*ret = client->stats;
}

static uint64_t deadline_in(unsigned int ms)
{
	return el_now_ns() + ms * EL_NS_PER_MS;
}

static void renew(struct el_fetcher_client *client)
{
	close(client->socket);
	client->socket = client->renew ? client->renew(client->renew_context) : -1;
}

static int send_request(struct el_fetcher_client *client, const struct call *call)
{
	static const struct el_image nobody;
	const struct el_image *image = call->image ? call->image : &nobody;
	struct el_fetch_request request = {.magic = EL_FETCH_MAGIC,
					   .type = call->type,
					   .size = (uint32_t)client->body.bytes.n,
					   .sequence = ++client->sequence,
					   .image = image->id,
					   .pid = image->pid,
					   .start_ns = image->start_ns};

	return el_fetch_send(client->socket, &request, sizeof(request), client->body.bytes.at,
			     request.size, -1);
}

/* One request and its reply: 0 whatever it says; -ECONNRESET: the fetcher is gone or talks
 * nonsense. */
static int ask_once(struct el_fetcher_client *client, struct call *call)
{
	uint64_t deadline_ns = deadline_in(call->deadline_ms);
	struct el_fetch_reply reply;
	int err = send_request(client, call);

	if (!err)
		err = el_fetch_receive(client->socket, &reply, sizeof(reply), deadline_ns,
				       &call->fd);
	if (err)
		return err;
	if (reply.magic != EL_FETCH_MAGIC || reply.sequence != client->sequence ||
	    reply.size > call->size || reply.result > 0)
		return -ECONNRESET;
	err = el_fetch_receive(client->socket, call->bytes, reply.size, deadline_ns, NULL);
	if (err)
		return err;
	call->size = reply.size;
	call->result = reply.result;
	return 0;
}

static void drop_fd(struct call *call)
{
	if (call->fd >= 0)
		close(call->fd);
	call->fd = -1;
}

/* 0 or -errno. The body of the request is in client->body. */
static int ask(struct el_fetcher_client *client, struct call *call)
{
	size_t room = call->size;

	call->fd = -1;
	if (client->body.err || client->body.bytes.n > EL_FETCH_BODY_MAX)
		return client->body.err ? client->body.err : -EINVAL;
	for (int tries = 0; tries < 2; tries++) {
		int err;

		if (client->socket < 0)
			return -ETIMEDOUT;
		call->size = room;
		err = ask_once(client, call);
		if (!err && !call->result)
			return 0;
		drop_fd(call);
		if (!err) /* -ETIMEDOUT too: a file system may say so, and the fetcher is well */
			return call->result;
		if (err == -ETIMEDOUT) {
			client->stats.hangs++;
			renew(client);
			return err;
		}
		if (err != -ECONNRESET && err != -EPIPE)
			return err;
		client->stats.deaths++;
		renew(client);
	}
	return -EIO;
}

/* For requests that are answered by a descriptor. */
static int ask_fd(struct el_fetcher_client *client, enum el_fetch_type type,
		  const struct el_image *image)
{
	struct call call = {.type = type, .image = image, .deadline_ms = EL_FETCH_FILE_DEADLINE_MS};
	int err = ask(client, &call);

	if (err)
		return err;
	return call.fd < 0 ? -EIO : call.fd;
}

static void add_string(struct el_buffer *body, const char *text)
{
	text = text ? text : "";
	el_buffer_add(body, text, strlen(text) + 1);
}

static int open_mapping(void *context, const struct el_image *image,
			const struct el_mapping *mapping)
{
	struct el_fetcher_client *client = context;
	struct el_buffer *body = &client->body;

	body->bytes.n = 0;
	el_buffer_add_u64(body, mapping->start);
	el_buffer_add_u64(body, mapping->end);
	el_buffer_add_u64(body, mapping->offset);
	el_buffer_add_u64(body, mapping->inode);
	el_buffer_add_u32(body, mapping->flags);
	el_buffer_add_u32(body, mapping->dev_major);
	el_buffer_add_u32(body, mapping->dev_minor);
	el_buffer_add_u32(body, mapping->build_id_size != 0);
	add_string(body, mapping->path);
	return ask_fd(client, EL_FETCH_MAPPING, image);
}

static int open_debug(void *context, const struct el_image *image,
		      const struct el_debug_request *request)
{
	struct el_fetcher_client *client = context;
	struct el_buffer *body = &client->body;

	body->bytes.n = 0;
	el_buffer_add_u32(body, (uint32_t)request->build_id_size);
	el_buffer_add(body, request->build_id, request->build_id_size);
	add_string(body, request->debuglink);
	add_string(body, request->path);
	return ask_fd(client, EL_FETCH_DEBUG, image);
}

static int open_perf_map(void *context, const struct el_image *image)
{
	struct el_fetcher_client *client = context;

	client->body.bytes.n = 0;
	return ask_fd(client, EL_FETCH_PERF_MAP, image);
}

static int open_kallsyms(void *context)
{
	struct el_fetcher_client *client = context;

	client->body.bytes.n = 0;
	return ask_fd(client, EL_FETCH_KALLSYMS, NULL);
}

static bool hung_before(const struct el_fetcher_client *client, uint32_t image)
{
	for (size_t i = 0; i < client->hanging.n; i++)
		if (client->hanging.at[i] == image)
			return true;
	return false;
}

/* At most EL_FETCH_MEMORY_MAX bytes. How many came, or -errno. */
static ssize_t read_chunk(struct el_fetcher_client *client, const struct el_image *image,
			  uint64_t addr, void *bytes, size_t size)
{
	struct call call = {.type = EL_FETCH_MEMORY,
			    .image = image,
			    .deadline_ms = EL_FETCH_MEMORY_DEADLINE_MS,
			    .bytes = bytes,
			    .size = size};
	uint64_t hangs = client->stats.hangs;
	int err;

	client->body.bytes.n = 0;
	el_buffer_add_u64(&client->body, addr);
	el_buffer_add_u64(&client->body, size);
	err = ask(client, &call);
	/* Unremembered, it hangs again: no harm but a second. */
	if (client->stats.hangs != hangs)
		(void)el_vec_push(&client->hanging, image->id);
	drop_fd(&call);
	return err ? err : (ssize_t)call.size;
}

static ssize_t read_memory(void *context, const struct el_image *image, uint64_t addr, void *bytes,
			   size_t size)
{
	struct el_fetcher_client *client = context;
	size_t done = 0;

	if (hung_before(client, image->id)) {
		client->stats.reads_refused++;
		return -ETIMEDOUT;
	}
	while (done < size) {
		size_t want = size - done;
		ssize_t got;

		want = want < EL_FETCH_MEMORY_MAX ? want : EL_FETCH_MEMORY_MAX;
		got = read_chunk(client, image, addr + done, (char *)bytes + done, want);
		if (got < 0)
			return done ? (ssize_t)done : got;
		done += got;
		if ((size_t)got < want)
			break;
	}
	return done;
}

void el_fetcher_client_source(struct el_fetcher_client *client, struct el_source *ret)
{
	*ret = (struct el_source){
		.context = client,
		.open_mapping = open_mapping,
		.open_debug = open_debug,
		.open_perf_map = open_perf_map,
		.open_kallsyms = open_kallsyms,
		.read_memory = read_memory,
	};
}
