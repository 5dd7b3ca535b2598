/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes and descriptors over the socket; see protocol.h. */
#include "user/fetch/protocol.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/time.h"

union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static void attach_fd(struct msghdr *message, union control *control, int fd)
{
	struct cmsghdr *header;

	memset(control, 0, sizeof(*control));
	message->msg_control = control->bytes;
	message->msg_controllen = sizeof(control->bytes);
	header = CMSG_FIRSTHDR(message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
}

static size_t skip(struct iovec *piece, size_t sent)
{
	size_t n = sent < piece->iov_len ? sent : piece->iov_len;

	piece->iov_base = (char *)piece->iov_base + n;
	piece->iov_len -= n;
	return sent - n;
}

int el_fetch_send(int socket, const void *header, size_t header_size, const void *body,
		  size_t body_size, int fd)
{
	struct iovec pieces[2] = {{(void *)header, header_size}, {(void *)body, body_size}};

	while (pieces[0].iov_len || pieces[1].iov_len) {
		struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};
		union control control;
		ssize_t sent;

		if (fd >= 0)
			attach_fd(&message, &control, fd);
		sent = sendmsg(socket, &message, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return -errno;
		fd = -1;
		skip(&pieces[1], skip(&pieces[0], sent));
	}
	return 0;
}

static int wait_readable(int socket, uint64_t deadline_ns)
{
	for (;;) {
		struct pollfd poll_fd = {.fd = socket, .events = POLLIN};
		uint64_t now_ns = el_now_ns(), left_ms;
		int ready;

		if (now_ns >= deadline_ns)
			return -ETIMEDOUT;
		left_ms = (deadline_ns - now_ns) / EL_NS_PER_MS + 1;
		ready = poll(&poll_fd, 1, left_ms < 60000 ? (int)left_ms : 60000);
		if (ready > 0)
			return 0;
		if (ready < 0 && errno != EINTR)
			return -errno;
	}
}

/* Keeps the first descriptor that is wanted, closes the rest. */
static void take_fds(struct msghdr *message, int **ret_fd)
{
	for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header;
	     header = CMSG_NXTHDR(message, header)) {
		size_t n = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof(fd));
			if (*ret_fd) {
				**ret_fd = fd;
				*ret_fd = NULL;
			} else {
				close(fd);
			}
		}
	}
}

int el_fetch_receive(int socket, void *bytes, size_t size, uint64_t deadline_ns, int *ret_fd)
{
	int *wanted = ret_fd;

	while (size) {
		struct iovec piece = {bytes, size};
		union control control;
		struct msghdr message = {.msg_iov = &piece,
					 .msg_iovlen = 1,
					 .msg_control = control.bytes,
					 .msg_controllen = sizeof(control.bytes)};
		ssize_t got;
		int err = deadline_ns == UINT64_MAX ? 0 : wait_readable(socket, deadline_ns);

		if (err)
			return err;
		got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		take_fds(&message, &wanted);
		if (!got)
			return -ECONNRESET;
		bytes = (char *)bytes + got;
		size -= got;
	}
	return 0;
}
