/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Length-prefixed, bounded messages over a stream socket between our own
 * processes. It knows nothing of what the messages mean. Neither side trusts
 * the sizes the other one claims: what is over EL_MESSAGE_MAX is refused.
 */
#ifndef EL_CHANNEL_H
#define EL_CHANNEL_H

#include <stdint.h>

#include "base/buffer.h"

#define EL_MESSAGE_MAX (256u << 20) /* bytes of one message without its header */

struct el_message_header {
	uint32_t type;
	uint32_t size; /* of what follows, bytes */
};

struct el_channel {
	int fd;
	/* Called when the socket would block, with POLLIN or POLLOUT: 0 to try again,
	 * -errno to give up. NULL: wait for ever. */
	int (*wait)(void *context, short events);
	void *context;
};

/* 0; -EPIPE or -ECONNRESET when the other side is gone, -EMSGSIZE, or what wait() said. */
int el_channel_write(const struct el_channel *channel, uint32_t type, const void *bytes,
		     size_t size);
/*
 * Reads one message into `bytes`, whose old content goes. 0; -ECONNRESET when
 * the other side is gone, -EBADMSG when it claims too much, -ENOMEM, or what
 * wait() said. After any of these the stream is of no more use.
 */
int el_channel_read(const struct el_channel *channel, uint32_t *ret_type, struct el_buffer *bytes);

/* One byte with or without a descriptor: -1 for none. 0 or -errno. */
int el_channel_send_fd(int socket, int fd);
/* Waits for that byte and gives its descriptor, or -errno; -ENOENT when none came with it. */
int el_channel_receive_fd(int socket);

#endif
