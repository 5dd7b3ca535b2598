/* SPDX-License-Identifier: Apache-2.0 */
/* See launch.h: fork, a pipe that holds the child back, a pipe that carries exec's errno. */
#include "user/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user/options.h"

static void change_environment(const char *const *environment)
{
	for (; environment && *environment; environment++) {
		if (strchr(*environment, '='))
			putenv((char *)*environment);
		else
			unsetenv(*environment);
	}
}

/* The child's part; holds until the parent closes its end, or dies. */
__attribute__((noreturn)) static void run_child(char *const *argv, const char *const *environment,
						int hold, int error_fd)
{
	sigset_t none;
	char go;
	int err;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	if (read(hold, &go, 1) != 1)
		_exit(EL_EXIT_FAILED); /* the parent gave up */
	change_environment(environment);
	execvp(argv[0], argv);
	err = errno;
	if (write(error_fd, &err, sizeof(err)) < 0)
		_exit(EL_EXIT_FAILED);
	_exit(err == ENOENT ? EL_EXIT_NOT_FOUND : EL_EXIT_NOT_EXECUTABLE);
}

static int no_pipe(int err, struct el_error *error)
{
	return el_error_set(error, err, "cannot make a pipe: %s%s", strerror(-err),
			    err == -EMFILE ? ". Raise the limit with ulimit -n" : "");
}

int el_child_start(char *const *argv, const char *const *environment, struct el_child *ret,
		   struct el_error *error)
{
	int hold[2], failed[2];

	if (pipe2(hold, O_CLOEXEC))
		return no_pipe(-errno, error);
	if (pipe2(failed, O_CLOEXEC)) {
		int err = no_pipe(-errno, error);

		close(hold[0]);
		close(hold[1]);
		return err;
	}
	*ret = (struct el_child){.hold_fd = hold[1], .error_fd = failed[0], .pidfd = -1};
	ret->pid = fork();
	if (!ret->pid) {
		close(hold[1]);
		run_child(argv, environment, hold[0], failed[1]);
	}
	close(hold[0]);
	close(failed[1]);
	if (ret->pid < 0) {
		close(hold[1]);
		close(failed[0]);
		return el_error_set(error, -errno, "cannot start a process: %s", strerror(errno));
	}
	ret->pidfd = syscall(SYS_pidfd_open, ret->pid, 0);
	return 0;
}

static int not_run(const char *program, int err, struct el_error *error)
{
	if (err != -ENOENT)
		return el_error_set(error, err, "cannot run %s: %s. Is it an executable file?",
				    program, strerror(-err));
	/* exec says the same of a file and of what the file names to run it. */
	if (strchr(program, '/') && !access(program, F_OK))
		return el_error_set(error, err,
				    "cannot run %s: the interpreter of its #! line, or the loader "
				    "it was linked for, does not exist",
				    program);
	return el_error_set(error, err,
			    "no such command: %s. Give a program on the PATH, or a path to one",
			    program);
}

int el_child_release(struct el_child *child, char *const *argv, struct el_error *error)
{
	ssize_t got;
	int err;

	if (write(child->hold_fd, "", 1) < 0)
		return el_error_set(error, -errno, "cannot start %s: %s", argv[0], strerror(errno));
	close(child->hold_fd);
	child->hold_fd = -1;
	do
		got = read(child->error_fd, &err, sizeof(err));
	while (got < 0 && errno == EINTR);
	if (got != sizeof(err))
		return 0;
	waitpid(child->pid, &child->status, 0);
	child->ended = true;
	error->exit_status = err == ENOENT ? EL_EXIT_NOT_FOUND : EL_EXIT_NOT_EXECUTABLE;
	return not_run(argv[0], -err, error);
}

bool el_child_ended(struct el_child *child)
{
	if (!child->ended && waitpid(child->pid, &child->status, WNOHANG) == child->pid)
		child->ended = true;
	return child->ended;
}

int el_child_exit_code(const struct el_child *child)
{
	if (!child->ended)
		return EL_EXIT_OK;
	return WIFSIGNALED(child->status) ? EL_EXIT_SIGNAL + WTERMSIG(child->status)
					  : WEXITSTATUS(child->status);
}

void el_child_deinit(struct el_child *child)
{
	if (child->pid <= 0)
		return;
	if (child->hold_fd >= 0) {
		close(child->hold_fd); /* the child reads the end and leaves */
		waitpid(child->pid, &child->status, 0);
	}
	close(child->error_fd);
	if (child->pidfd >= 0)
		close(child->pidfd);
	child->pid = 0;
}
