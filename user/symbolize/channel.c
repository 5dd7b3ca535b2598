/* SPDX-License-Identifier: Apache-2.0 */
/* See channel.h. All calls are MSG_DONTWAIT, so that one loop serves both the waiting and the timed
 * side. */
#include "user/symbolize/channel.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

static int wait_for(const struct el_channel *channel, short events)
{
	struct pollfd fd = {.fd = channel->fd, .events = events};

	if (channel->wait)
		return channel->wait(channel->context, events);
	while (poll(&fd, 1, -1) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

static int send_all(const struct el_channel *channel, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	ssize_t sent;
	int err;

	while (size) {
		sent = send(channel->fd, at, size, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent >= 0) {
			at += sent;
			size -= sent;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return -errno;
		err = wait_for(channel, POLLOUT);
		if (err)
			return err;
	}
	return 0;
}

static int receive_all(const struct el_channel *channel, void *bytes, size_t size)
{
	uint8_t *at = bytes;
	ssize_t received;
	int err;

	while (size) {
		received = recv(channel->fd, at, size, MSG_DONTWAIT);
		if (received > 0) {
			at += received;
			size -= received;
			continue;
		}
		if (!received)
			return -ECONNRESET;
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return -errno;
		err = wait_for(channel, POLLIN);
		if (err)
			return err;
	}
	return 0;
}

/* Small messages are the rule: header and body go out in one call. */
#define SMALL 1024

int el_channel_write(const struct el_channel *channel, uint32_t type, const void *bytes,
		     size_t size)
{
	struct el_message_header header = {.type = type, .size = size};
	uint8_t both[sizeof(header) + SMALL];
	int err;

	if (size > EL_MESSAGE_MAX)
		return -EMSGSIZE;
	memcpy(both, &header, sizeof(header));
	if (size <= SMALL) {
		if (size)
			memcpy(both + sizeof(header), bytes, size);
		return send_all(channel, both, sizeof(header) + size);
	}
	err = send_all(channel, both, sizeof(header));
	return err ? err : send_all(channel, bytes, size);
}

int el_channel_read(const struct el_channel *channel, uint32_t *ret_type, struct el_buffer *bytes)
{
	struct el_message_header header;
	size_t step = 1 << 20;
	int err;

	bytes->bytes.n = 0;
	err = receive_all(channel, &header, sizeof(header));
	if (err)
		return err;
	if (header.size > EL_MESSAGE_MAX)
		return -EBADMSG;
	/* Memory grows with what really arrives, not with what is claimed. */
	while (bytes->bytes.n < header.size) {
		size_t left = header.size - bytes->bytes.n;
		size_t part = left < step ? left : step;

		err = el_vec_reserve(&bytes->bytes, bytes->bytes.n + part);
		if (!err)
			err = receive_all(channel, bytes->bytes.at + bytes->bytes.n, part);
		if (err)
			return err;
		bytes->bytes.n += part;
	}
	*ret_type = header.type;
	return 0;
}

union fd_control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int el_channel_send_fd(int socket, int fd)
{
	union fd_control control = {0};
	char byte = fd >= 0;
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	struct cmsghdr *header;

	if (fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	}
	while (sendmsg(socket, &message, MSG_NOSIGNAL) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

int el_channel_receive_fd(int socket)
{
	union fd_control control = {0};
	char byte;
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *header;
	ssize_t size;
	int fd;

	do {
		size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	} while (size < 0 && errno == EINTR);
	if (size < 0)
		return -errno;
	if (!size)
		return -ECONNRESET;
	header = CMSG_FIRSTHDR(&message);
	if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
	    header->cmsg_len != CMSG_LEN(sizeof(int)))
		return -ENOENT;
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}
