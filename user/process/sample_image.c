/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which image a sample belongs to. A sample carries the whole key; side-band
 * and scans know less, so the first sample of an image names it.
 */
#include <string.h>

#include "base/time.h"
#include "user/process/images.h"

/* begin_new_exec() (fs/exec.c) tells of the exec a moment before it counts self_exec_id up. */
#define EXEC_RACE_NS EL_NS_PER_MS
/* An ended image of unknown start is this long still the one that a sample means. */
#define LATE_NS EL_NS_PER_S

static bool may_be(const struct image *image, const struct el_record_sample *sample)
{
	const struct el_process *process = &image->process;

	if (image->bound || process->from_ns > sample->time_ns ||
	    !el_images_same_start(image, sample->image.start_ns))
		return false;
	if (image->exec_id_known && process->key.exec_id != sample->image.exec_id)
		return false;
	return image->start_known != EL_START_UNKNOWN || process->to_ns == EL_NEVER ||
	       sample->time_ns < process->to_ns + LATE_NS;
}

/* Nothing told of this image: it was there before us, or news were lost. */
static struct image *add_unknown(struct el_processes *processes,
				 const struct el_record_sample *sample)
{
	const struct el_image_key *key = &sample->image;
	const struct image *before = el_images_newest(processes, key->tgid);
	uint64_t from_ns = key->start_ns > processes->boot_offset_ns
				   ? key->start_ns - processes->boot_offset_ns
				   : 0;
	struct image *image;

	/* Of the same process: an exec that we missed lies between the two. */
	if (from_ns > sample->time_ns || (before && el_images_same_start(before, key->start_ns)))
		from_ns = sample->time_ns;
	image = el_images_add(processes, key->tgid, from_ns);
	if (image && before) {
		image->process.parent_pid = before->process.parent_pid;
		image->process.cgroup = before->process.cgroup;
	}
	return image;
}

static struct image *claim(struct el_processes *processes, const struct el_record_sample *sample)
{
	struct image *image = el_images_newest(processes, sample->image.tgid);

	while (image && !may_be(image, sample))
		image = image->previous ? el_images_get(processes, image->previous) : NULL;
	if (!image)
		image = add_unknown(processes, sample);
	if (!image)
		return NULL;
	if (image->by_exec && !image->exec_id_known && (sample->flags & EL_SAMPLE_KERNEL_MODE) &&
	    sample->time_ns - image->process.from_ns < EXEC_RACE_NS)
		return image;
	return el_images_bind(processes, image, &sample->image) ? NULL : image;
}

/* What a sample says beyond its key. */
static void note(struct el_processes *processes, struct image *image,
		 const struct el_record_sample *sample)
{
	struct el_process *process = &image->process;
	uint32_t path;

	if (!image->sampled) {
		image->sampled = true;
		processes->n_ended_unseen -= process->to_ns != EL_NEVER;
	}
	if (sample->flags & EL_SAMPLE_KERNEL_THREAD)
		process->kernel_thread = process->scanned = true;
	if (!process->comm[0] && sample->tid == sample->image.tgid)
		memcpy(process->comm, sample->comm, sizeof(process->comm) - 1);
	if (image->cgroup_id != sample->cgroup_id &&
	    el_cgroups_find(&processes->cgroups, sample->cgroup_id, &path)) {
		process->cgroup = path;
		image->cgroup_id = sample->cgroup_id;
	}
}

struct el_process *el_processes_of_sample(struct el_processes *processes,
					  const struct el_record_sample *sample)
{
	struct image *image = processes->last;

	if (!image || memcmp(&image->process.key, &sample->image, sizeof(sample->image)))
		image = el_images_of_key(processes, &sample->image);
	if (!image)
		image = claim(processes, sample);
	if (!image)
		return NULL;
	processes->last = image->bound ? image : NULL;
	note(processes, image, sample);
	return &image->process;
}
