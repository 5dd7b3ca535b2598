/* SPDX-License-Identifier: Apache-2.0 */
/* See targets.h. */
#include "user/fetch/targets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/proc_file.h"
#include "base/time.h"

#define LEARN_NS EL_NS_PER_S /* what is known of a living process is believed this long */

int el_fetch_targets_new(struct el_fetch_targets **ret)
{
	struct el_fetch_targets *targets = calloc(1, sizeof(*targets));
	struct stat stat;

	if (!targets)
		return -ENOMEM;
	for (size_t i = 0; i < EL_FETCH_ROOTS_MAX; i++)
		targets->roots[i].fd = -1;
	targets->last_proc = -1;
	targets->host_root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (!fstatat(AT_FDCWD, "/proc/self/ns/mnt", &stat, 0))
		targets->own_namespace = stat.st_ino;
	*ret = targets;
	return 0;
}

void el_fetch_targets_free(struct el_fetch_targets *targets)
{
	if (!targets)
		return;
	for (size_t i = 0; i < EL_FETCH_ROOTS_MAX; i++)
		if (targets->roots[i].fd >= 0)
			close(targets->roots[i].fd);
	if (targets->host_root >= 0)
		close(targets->host_root);
	if (targets->last_proc >= 0)
		close(targets->last_proc);
	free(targets);
}

static bool same_start(int proc, uint64_t start_ns)
{
	struct el_proc_stat stat;

	if (el_proc_file_stat(proc, "stat", &stat))
		return false;
	return !start_ns || stat.start_tick == start_ns / EL_PROC_TICK_NS;
}

/* Below the folder of a process that is gone nothing is found, whoever has its pid now. */
bool el_fetch_target_lives(const struct el_fetch_target *target)
{
	return target->proc >= 0 && !faccessat(target->proc, "stat", F_OK, 0);
}

/* "Uid:\treal\teffective..." and "NSpid:\toutermost\t...\tinnermost" of proc(5). */
static bool read_status(int proc, struct el_fetch_known_target *known)
{
	char text[8192];
	unsigned int user;
	char *line, *end, *last;

	if (el_proc_file_read(proc, "status", text, sizeof(text)) < 0)
		return false;
	/* The name of line 1 has its newlines escaped. */
	line = strstr(text, "\nUid:\t");
	if (!line || sscanf(line, "\nUid:\t%*u\t%u", &user) != 1)
		return false;
	known->user = user;
	line = strstr(text, "\nNSpid:\t");
	end = line ? strchr(line + 1, '\n') : NULL;
	if (!end)
		return false;
	*end = '\0';
	last = strrchr(line, '\t');
	known->pid_inside = (uint32_t)strtoul(last + 1, NULL, 10);
	return true;
}

static struct el_fetch_root *find_root(struct el_fetch_targets *targets,
				       const struct el_fetch_known_target *known)
{
	for (size_t i = 0; i < EL_FETCH_ROOTS_MAX; i++) {
		struct el_fetch_root *root = &targets->roots[i];

		if (root->fd >= 0 && root->namespace == known->namespace &&
		    root->dev == known->dev && root->inode == known->inode) {
			root->used = ++targets->used;
			return root;
		}
	}
	return NULL;
}

/* In the place of a free one, or of the one not asked for the longest time. Takes `fd`. */
static void keep_root(struct el_fetch_targets *targets, const struct el_fetch_known_target *known,
		      int fd)
{
	struct el_fetch_root *oldest = &targets->roots[0];

	for (size_t i = 1; i < EL_FETCH_ROOTS_MAX; i++)
		if (targets->roots[i].used < oldest->used)
			oldest = &targets->roots[i];
	if (oldest->fd >= 0)
		close(oldest->fd);
	*oldest = (struct el_fetch_root){known->namespace, known->dev, known->inode,
					 ++targets->used, fd};
}

static void learn(struct el_fetch_targets *targets, struct el_fetch_target *target)
{
	struct el_fetch_known_target known = {.image = target->image, .learnt_ns = el_now_ns()};
	el_auto_fd int root = openat(target->proc, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct el_fetch_root *kept;
	struct stat stat;

	if (root < 0 || fstat(root, &stat) || !read_status(target->proc, &known))
		return;
	known.dev = stat.st_dev;
	known.inode = stat.st_ino;
	if (fstatat(target->proc, "ns/mnt", &stat, 0))
		return;
	known.namespace = stat.st_ino;
	known.host_namespace = known.namespace == targets->own_namespace;
	kept = find_root(targets, &known);
	if (kept) {
		/* Namespaces reuse their numbers: what lives knows better than what was kept. */
		close(kept->fd);
		kept->fd = el_take_fd(&root);
	} else {
		keep_root(targets, &known, el_take_fd(&root));
	}
	targets->known[target->image % EL_FETCH_TARGETS_MAX] = known;
}

/* The folder of /proc of the process that is meant, or -1. */
static int open_proc(struct el_fetch_targets *targets, struct el_fetch_target *target)
{
	char path[32];

	target->proc = targets->last_proc;
	if (targets->last_image == target->image && targets->last_pid == target->pid &&
	    targets->last_start_ns == target->start_ns && el_fetch_target_lives(target))
		return targets->last_proc;
	if (targets->last_proc >= 0)
		close(targets->last_proc);
	targets->last_proc = -1;
	snprintf(path, sizeof(path), "/proc/%u", target->pid);
	el_auto_fd int proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0 || !same_start(proc, target->start_ns))
		return -1;
	targets->last_image = target->image;
	targets->last_pid = target->pid;
	targets->last_start_ns = target->start_ns;
	targets->last_proc = el_take_fd(&proc);
	return targets->last_proc;
}

void el_fetch_targets_open(struct el_fetch_targets *targets, uint32_t image, uint32_t pid,
			   uint64_t start_ns, struct el_fetch_target *ret)
{
	struct el_fetch_target target = {
		.image = image, .pid = pid, .start_ns = start_ns, .root = -1};
	const struct el_fetch_known_target *known = &targets->known[image % EL_FETCH_TARGETS_MAX];
	const struct el_fetch_root *root;

	target.proc = pid ? open_proc(targets, &target) : -1;
	if (target.proc >= 0 &&
	    (known->image != image || el_now_ns() - known->learnt_ns > LEARN_NS))
		learn(targets, &target);
	if (image && known->image == image) {
		root = find_root(targets, known);
		target.root = root ? root->fd : -1;
		target.known = true;
		target.host_namespace = known->host_namespace;
		target.pid_inside = known->pid_inside;
		target.user = known->user;
	}
	*ret = target;
}
