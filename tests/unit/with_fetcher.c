/* SPDX-License-Identifier: Apache-2.0 */
/* See with_fetcher.h. What cannot be set up ends the test program. */
#include "with_fetcher.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc_file.h"

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

int fetcher_fork(pid_t *ret_pid)
{
	int pair[2];

	must(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), "socketpair");
	*ret_pid = fork();
	if (!*ret_pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pair[0]);
		el_fetcher_main(pair[1]);
	}
	close(pair[1]);
	return pair[0];
}

static int renew(void *context)
{
	struct with_fetcher *with = context;

	child_end(with->pid);
	with->n_renewed++;
	with->socket = fetcher_fork(&with->pid);
	return with->socket;
}

void with_fetcher_start(struct with_fetcher *with)
{
	memset(with, 0, sizeof(*with));
	with->socket = fetcher_fork(&with->pid);
	must(!el_fetcher_client_new(with->socket, &with->client), "client");
	el_fetcher_client_on_hang(with->client, renew, with);
	el_fetcher_client_source(with->client, &with->source);
}

void with_fetcher_end(struct with_fetcher *with)
{
	el_fetcher_client_free(with->client);
	child_end(with->pid);
}

pid_t child_start(int (*body)(int ready, const char *folder), const char *folder)
{
	int ready[2];
	char byte = 0;
	pid_t pid;

	must(!pipe2(ready, O_CLOEXEC), "pipe");
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(body(ready[1], folder));
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1) {
		waitpid(pid, NULL, 0);
		pid = -1;
	}
	close(ready[0]);
	return pid;
}

void child_tell(int ready)
{
	if (write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

void child_end(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

struct el_image image_of(pid_t pid, unsigned int id)
{
	struct el_proc_stat stat = {0};
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	must(!el_proc_file_stat(AT_FDCWD, path, &stat), path);
	/* Exact within the tick, as the kernel's own. */
	return (struct el_image){id, pid, stat.start_tick * EL_PROC_TICK_NS + 1234567};
}

void folder_make(char *path, size_t size)
{
	snprintf(path, size, "/tmp/el-unit-XXXXXX");
	must(mkdtemp(path) != NULL, path);
	chmod(path, 0755);
}

void folder_remove(const char *path)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf '%s'", path);
	must(!system(command), command);
}

void file_write(const char *folder, const char *name, const char *text)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	must(file != NULL, path);
	fputs(text, file);
	must(!fclose(file), path);
}

int fd_holds(int fd, const char *text)
{
	char bytes[256] = "";
	ssize_t n;

	if (fd < 0)
		return 0;
	n = pread(fd, bytes, sizeof(bytes) - 1, 0);
	close(fd);
	return n >= (ssize_t)strlen(text) && !strncmp(bytes, text, strlen(text));
}
