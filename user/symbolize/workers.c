/* SPDX-License-Identifier: Apache-2.0 */
/* See workers.h. Between fork and body only what is safe after a fork from any process of ours. */
#include "user/symbolize/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EL_SHADOW_MEMORY 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define EL_SHADOW_MEMORY 1
#endif

static void reset_signals(void)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGPIPE};
	sigset_t none;

	sigemptyset(&none);
	for (int i = 1; i < 32; i++)
		signal(i, SIG_DFL);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void limit_resources(const struct el_worker *worker)
{
	struct rlimit limit = {0, 0};

	setrlimit(RLIMIT_CORE, &limit);
	/* The parser holds one descriptor per file seen. */
	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
#ifndef EL_SHADOW_MEMORY
	if (worker->address_space) {
		limit.rlim_cur = limit.rlim_max = worker->address_space;
		setrlimit(RLIMIT_AS, &limit);
	}
#else
	(void)worker;
#endif
}

/* Moves the sockets to their places and closes everything but them and stderr. 0 or -1. */
static int arrange_descriptors(const struct el_worker *worker)
{
	int high[EL_WORKER_SOCKETS_MAX];
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return -1;
	/* First out of the way, so that no move lands on a socket still to be moved. */
	for (size_t i = 0; i < worker->n_sockets; i++) {
		high[i] = fcntl(worker->sockets[i], F_DUPFD,
				EL_WORKER_SOCKET + EL_WORKER_SOCKETS_MAX);
		if (high[i] < 0)
			return -1;
	}
	for (size_t i = 0; i < worker->n_sockets; i++) {
		if (dup2(high[i], EL_WORKER_SOCKET + i) < 0)
			return -1;
	}
	/* Standard input and output stay taken, so that no file gets their numbers. */
	if (dup2(null, 0) < 0 || dup2(null, 1) < 0)
		return -1;
	return close_range(EL_WORKER_SOCKET + worker->n_sockets, ~0u, 0);
}

int el_worker_start(const struct el_worker *worker, pid_t *ret)
{
	pid_t parent = getpid();
	sigset_t all, before;
	pid_t pid;
	int err;

	/* A Ctrl-C must not reach the worker before it ignores it. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	err = -errno;
	if (pid)
		sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid < 0)
		return err;
	if (!pid) {
		prctl(PR_SET_NAME, worker->name);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* The parent may have died before the line above. */
		if (getppid() != parent)
			_exit(1);
		reset_signals();
		if (arrange_descriptors(worker))
			_exit(1);
		limit_resources(worker);
		worker->body(worker->context);
		_exit(1);
	}
	*ret = pid;
	return 0;
}

/* Polls for up to `ms`: a process held in the kernel must not hold us too. */
static bool reap(pid_t pid, unsigned int ms, int *ret_status)
{
	struct timespec step = {.tv_nsec = 1000000};

	for (;;) {
		pid_t reaped = waitpid(pid, ret_status, WNOHANG);

		if (reaped == pid)
			return true;
		if (reaped < 0 && errno != EINTR) {
			*ret_status = 0; /* somebody else reaped it */
			return true;
		}
		if (!ms--)
			return false;
		nanosleep(&step, NULL);
	}
}

enum el_worker_end el_worker_end(pid_t pid, bool gone)
{
	int status;

	if (gone && reap(pid, 1000, &status)) {
		if (WIFSIGNALED(status) &&
		    (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM))
			return EL_WORKER_KILLED;
		return EL_WORKER_CRASHED;
	}
	kill(pid, SIGKILL);
	reap(pid, 200, &status);
	return EL_WORKER_UNKNOWN;
}
