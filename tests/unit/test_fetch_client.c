/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlines and garbage: a read that hangs, a fetcher that dies, requests out of form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/skip.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "user/fetch/protocol.h"
#include "with_fetcher.h"

#define HANGING 0x200000000ull

static double seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* A page that waits for whoever reads it. Ends without a word where that is not allowed. */
static int hanging_child(int ready, const char *folder)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.range = {HANGING, 4096},
					.mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	(void)folder;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
		return 1;
	if (mmap((void *)HANGING, 4096, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ||
	    ioctl(fd, UFFDIO_REGISTER, &range))
		return 1;
	child_tell(ready);
	return 0;
}

static ssize_t read_at(struct with_fetcher *with, const struct el_image *image, uint64_t addr)
{
	char byte;

	return with->source.read_memory(with->source.context, image, addr, &byte, 1);
}

static void hanging_read_ends_at_its_deadline_and_is_not_repeated(void **state)
{
	struct el_image hanging, self = image_of(getpid(), 2);
	struct el_fetcher_client_stats stats;
	struct with_fetcher with;
	pid_t pid = child_start(hanging_child, NULL);
	double start;

	(void)state;
	if (pid < 0)
		skip_because("no userfaultfd here");
	hanging = image_of(pid, 1);
	with_fetcher_start(&with);
	start = seconds();
	assert_int_equal(read_at(&with, &hanging, HANGING), -ETIMEDOUT);
	assert_true(seconds() - start > 0.9 && seconds() - start < 1.9);
	assert_int_equal(with.n_renewed, 1);
	/* The new one works, for others and for this one's files; its memory is left alone. */
	start = seconds();
	assert_int_equal(read_at(&with, &hanging, HANGING), -ETIMEDOUT);
	assert_int_equal(read_at(&with, &self, (uintptr_t)&start), 1);
	assert_true(seconds() - start < 0.5);
	el_fetcher_client_stats(with.client, &stats);
	assert_int_equal(stats.hangs, 1);
	assert_int_equal(stats.reads_refused, 1);
	with_fetcher_end(&with);
	child_end(pid);
}

static void dead_fetcher_is_renewed_and_asked_again(void **state)
{
	struct el_image self = image_of(getpid(), 1);
	struct el_fetcher_client_stats stats;
	struct with_fetcher with;

	(void)state;
	with_fetcher_start(&with);
	kill(with.pid, SIGKILL);
	assert_int_equal(read_at(&with, &self, (uintptr_t)&stats), 1);
	assert_int_equal(with.n_renewed, 1);
	el_fetcher_client_stats(with.client, &stats);
	assert_int_equal(stats.deaths, 1);
	with_fetcher_end(&with);
}

static void without_a_new_fetcher_every_call_times_out_at_once(void **state)
{
	struct el_fetcher_client *client;
	struct el_source source;
	struct el_image self = image_of(getpid(), 1);
	pid_t pid;
	int socket = fetcher_fork(&pid);
	char byte;

	(void)state;
	assert_int_equal(el_fetcher_client_new(socket, &client), 0);
	el_fetcher_client_source(client, &source);
	child_end(pid);
	assert_int_equal(source.open_perf_map(source.context, &self), -ETIMEDOUT);
	assert_int_equal(source.open_kallsyms(source.context), -ETIMEDOUT);
	assert_int_equal(source.read_memory(source.context, &self, 4096, &byte, 1), -ETIMEDOUT);
	el_fetcher_client_free(client);
}

static void lying_fetcher_is_not_believed(void **state)
{
	struct el_fetch_reply reply = {.magic = EL_FETCH_MAGIC, .sequence = 1, .size = 1u << 30};
	struct el_fetcher_client *client;
	struct el_source source;
	struct el_image self = image_of(getpid(), 1);
	char bytes[16];
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(el_fetcher_client_new(pair[0], &client), 0);
	el_fetcher_client_source(client, &source);
	assert_int_equal(el_fetch_send(pair[1], &reply, sizeof(reply), NULL, 0, 2), 0);
	assert_int_equal(source.read_memory(source.context, &self, 4096, bytes, sizeof(bytes)),
			 -ETIMEDOUT);
	close(pair[1]);
	el_fetcher_client_free(client);
}

static int drain(int socket)
{
	char bytes[65536];
	int n = 0;

	while (recv(socket, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		n++;
	return n;
}

static void garbage_is_answered_and_survived(void **state)
{
	struct el_fetch_request request = {.magic = 0x12345678};
	struct el_fetch_reply reply;
	pid_t pid;
	int socket = fetcher_fork(&pid);
	uint64_t seed = 42;

	(void)state;
	assert_int_equal(el_fetch_send(socket, &request, sizeof(request), NULL, 0, -1), 0);
	assert_int_equal(el_fetch_receive(socket, &reply, sizeof(reply), UINT64_MAX, NULL), 0);
	assert_int_equal(reply.result, -EINVAL);
	for (int i = 0; i < 4000; i++) {
		uint8_t body[64];

		request = (struct el_fetch_request){.magic = EL_FETCH_MAGIC, .image = 1};
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		request.type = (seed >> 40) % (EL_N_FETCH_TYPES + 1);
		request.size = (seed >> 50) % sizeof(body);
		request.pid = (seed >> 30) % 3 ? (uint32_t)getpid() : (uint32_t)(seed >> 20);
		request.sequence = i;
		for (size_t j = 0; j < sizeof(body); j++)
			body[j] = (seed = seed * 6364136223846793005ull + 1) >> 56;
		assert_int_equal(
			el_fetch_send(socket, &request, sizeof(request), body, request.size, -1),
			0);
		assert_int_equal(el_fetch_receive(socket, &reply, sizeof(reply), UINT64_MAX, NULL),
				 0);
		assert_int_equal(reply.magic, EL_FETCH_MAGIC);
		assert_true(reply.result <= 0 && reply.size < 1u << 24);
		if (reply.size)
			drain(socket);
	}
	assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
	close(socket);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void body_cut_short_or_too_long_is_refused(void **state)
{
	pid_t pid;
	int socket = fetcher_fork(&pid);

	(void)state;
	for (uint32_t type = 0; type < EL_N_FETCH_TYPES; type++) {
		struct el_fetch_request request = {
			.magic = EL_FETCH_MAGIC, .type = type, .size = 3, .sequence = 7};
		struct el_fetch_reply reply;

		assert_int_equal(el_fetch_send(socket, &request, sizeof(request), "abc", 3, -1), 0);
		assert_int_equal(el_fetch_receive(socket, &reply, sizeof(reply), UINT64_MAX, NULL),
				 0);
		assert_int_equal(reply.result, -EINVAL);
		assert_int_equal(reply.sequence, 7);
	}
	close(socket);
	child_end(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hanging_read_ends_at_its_deadline_and_is_not_repeated),
		cmocka_unit_test(dead_fetcher_is_renewed_and_asked_again),
		cmocka_unit_test(without_a_new_fetcher_every_call_times_out_at_once),
		cmocka_unit_test(lying_fetcher_is_not_believed),
		cmocka_unit_test(garbage_is_answered_and_survived),
		cmocka_unit_test(body_cut_short_or_too_long_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
