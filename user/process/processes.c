/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the side-band tells about processes, and what is asked about them; see
 * process.h. Side-band knows pids but no exec ids: it speaks of the newest
 * image of a pid. Samples are matched to images in sample_image.c.
 */
#include <string.h>

#include "base/proc_stat.h"
#include "base/time.h"
#include "user/process/images.h"

#define PRUNE_AT_LEAST 4096
/* A sample may come this much later than the end of its image. */
#define PRUNE_AFTER_NS EL_NS_PER_S
#define SAME_START_NS (2 * EL_PROC_TICK_NS)
#define KERNEL_START (1ull << 63)

static uint64_t boot_offset(void)
{
	uint64_t monotonic = el_now_ns();

	return el_clock_ns(CLOCK_BOOTTIME) - monotonic;
}

/* Image 0: upper half of the address space, from the beginning to the end of time. */
static int add_kernel(struct el_processes *processes)
{
	struct el_mapping mapping = {
		.start = KERNEL_START, .end = UINT64_MAX, .flags = EL_MAPPING_KERNEL};
	struct image *kernel = el_images_add(processes, 0, 0);

	if (!kernel)
		return -ENOMEM;
	kernel->process.scanned = kernel->process.kernel_thread = kernel->sampled = true;
	kernel->process.generation = 1;
	mapping.path = el_paths_add(&processes->paths, "[kernel]");
	if (!mapping.path ||
	    el_mappings_put(&kernel->mappings, &mapping, 0, 0, &processes->next_mapping) < 0)
		return -ENOMEM;
	strcpy(kernel->process.comm, "kernel");
	return el_images_bind(processes, kernel, &kernel->process.key);
}

int el_processes_new(struct el_processes **ret)
{
	struct el_processes *processes = calloc(1, sizeof(*processes));

	if (!processes)
		return -ENOMEM;
	processes->next_mapping = 1;
	processes->prune_at = PRUNE_AT_LEAST;
	processes->boot_offset_ns = boot_offset();
	if (el_strings_init(&processes->strings) || add_kernel(processes)) {
		el_processes_free(processes);
		return -ENOMEM;
	}
	*ret = processes;
	return 0;
}

void el_processes_free(struct el_processes *processes)
{
	if (!processes)
		return;
	el_images_deinit(processes);
	el_paths_deinit(&processes->paths);
	el_cgroups_deinit(&processes->cgroups);
	el_strings_deinit(&processes->strings);
	free(processes);
}

static struct image *alive(const struct el_processes *processes, uint32_t pid)
{
	struct image *image = pid ? el_images_newest(processes, pid) : NULL;

	return image && image->process.to_ns == EL_NEVER ? image : NULL;
}

static bool long_unseen(const struct image *image, uint64_t now_ns)
{
	return !image->sampled && image->process.to_ns < now_ns &&
	       now_ns - image->process.to_ns > PRUNE_AFTER_NS;
}

/* An exec storm must not fill memory with processes that no sample ever hit. */
static void prune(struct el_processes *processes, uint64_t now_ns)
{
	size_t twice;

	if (processes->n_ended_unseen < processes->prune_at)
		return;
	el_images_drop(processes, long_unseen, now_ns, NULL, NULL);
	twice = 2 * processes->n_ended_unseen;
	processes->prune_at = twice > PRUNE_AT_LEAST ? twice : PRUNE_AT_LEAST;
}

/* Whether a scan or a sample was faster than the news of the fork. */
static bool is_known_child(const struct el_processes *processes, const struct image *image,
			   uint64_t fork_ns)
{
	uint64_t start_ns = image->process.key.start_ns;
	uint64_t said_ns = fork_ns + processes->boot_offset_ns;

	if (image->start_known == EL_START_UNKNOWN)
		return false;
	return start_ns < said_ns ? said_ns - start_ns <= SAME_START_NS
				  : start_ns - said_ns <= SAME_START_NS;
}

int el_processes_fork(struct el_processes *processes, uint64_t time_ns, uint32_t parent,
		      uint32_t child)
{
	const struct image *from;
	struct image *image;

	if (!child || child == parent)
		return 0;
	image = alive(processes, child);
	if (image && is_known_child(processes, image, time_ns)) {
		image->process.parent_pid = parent;
		return 0;
	}
	image = el_images_add(processes, child, time_ns);
	if (!image)
		return -ENOMEM;
	image->process.parent_pid = parent;
	from = alive(processes, parent);
	if (!from)
		return 0;
	memcpy(image->process.comm, from->process.comm, sizeof(image->process.comm));
	image->process.cgroup = from->process.cgroup;
	image->process.kernel_thread = from->process.kernel_thread;
	image->process.scanned = from->process.scanned;
	image->process.told = from->process.told;
	image->process.key.exec_id = from->process.key.exec_id;
	image->exec_id_known = from->exec_id_known;
	/* Nothing happened to the parent's since its own fork, if they are still to be copied. */
	image->inherits_from = from->inherits_from ? from->inherits_from : from->process.id;
	image->inherit_ns = from->inherits_from ? from->inherit_ns : time_ns;
	image->process.generation = 1;
	return 0;
}

static void set_comm(struct image *image, const char *comm)
{
	size_t size = strnlen(comm, sizeof(image->process.comm) - 1);

	memset(image->process.comm, 0, sizeof(image->process.comm));
	memcpy(image->process.comm, comm, size);
}

int el_processes_exec(struct el_processes *processes, uint64_t time_ns, uint32_t pid,
		      const char *comm)
{
	const struct image *before = alive(processes, pid);
	struct image *image;

	if (!pid)
		return 0;
	image = el_images_add(processes, pid, time_ns);
	if (!image)
		return -ENOMEM;
	image->by_exec = image->process.told = true;
	set_comm(image, comm);
	if (before) {
		struct el_image_key key = before->process.key;

		key.exec_id++;
		image->process.key = key;
		image->process.parent_pid = before->process.parent_pid;
		image->process.cgroup = before->process.cgroup;
		image->start_known = before->start_known;
		image->exec_id_known = before->exec_id_known;
		if (image->start_known == EL_START_EXACT && image->exec_id_known &&
		    el_images_bind(processes, image, &key))
			return -ENOMEM;
	}
	prune(processes, time_ns);
	return 0;
}

int el_processes_comm(struct el_processes *processes, uint64_t time_ns, uint32_t pid, uint32_t tid,
		      const char *comm)
{
	struct image *image = pid == tid ? alive(processes, pid) : NULL;

	(void)time_ns; /* the name a process had last is the one it is shown by */
	if (image)
		set_comm(image, comm);
	return 0;
}

int el_processes_exit(struct el_processes *processes, uint64_t time_ns, uint32_t pid)
{
	struct image *image = alive(processes, pid);

	if (image)
		el_images_end(processes, image, time_ns);
	prune(processes, time_ns);
	return 0;
}

int el_processes_mmap(struct el_processes *processes, uint64_t time_ns, uint32_t pid,
		      const struct el_mapping *mapping)
{
	struct image *image = alive(processes, pid);

	if (!pid)
		return 0;
	if (!image)
		image = el_images_add(processes, pid, time_ns);
	if (!image)
		return -ENOMEM;
	return el_images_map(processes, image, mapping, time_ns, time_ns);
}

int el_processes_cgroup(struct el_processes *processes, uint64_t cgroup_id, const char *path)
{
	return el_cgroups_add(&processes->cgroups, &processes->strings, cgroup_id, path);
}

struct el_process *el_processes_get(struct el_processes *processes, uint32_t id)
{
	return (struct el_process *)el_images_get(processes, id);
}

const struct el_process_mapping *el_process_mapping_at(struct el_processes *processes, uint32_t id,
						       uint64_t addr, uint64_t time_ns)
{
	struct image *image = el_images_get(processes, id);

	if (!image || el_images_inherit(processes, image))
		return NULL;
	return el_mappings_at(&image->mappings, addr, time_ns);
}

const struct el_process_mapping *el_process_mappings(struct el_processes *processes, uint32_t id,
						     size_t *ret_n)
{
	struct image *image = el_images_get(processes, id);

	if (!image || el_images_inherit(processes, image)) {
		*ret_n = 0;
		return NULL;
	}
	*ret_n = image->mappings.all.n;
	return image->mappings.all.at;
}

const char *el_processes_string(const struct el_processes *processes, uint32_t string)
{
	return el_strings_get(&processes->strings, string);
}

static bool ended(const struct image *image, uint64_t time_ns)
{
	return image->process.to_ns < time_ns;
}

void el_processes_forget(struct el_processes *processes, uint64_t time_ns,
			 void (*gone)(void *context, uint32_t id), void *context)
{
	el_images_drop(processes, ended, time_ns, gone, context);
	for (size_t i = 0; i < processes->images.n; i++)
		el_mappings_forget(&processes->images.at[i]->mappings, time_ns);
}

void el_processes_counts(const struct el_processes *processes, struct el_processes_counts *ret)
{
	*ret = (struct el_processes_counts){processes->images.n, processes->n_mappings_refused};
}
