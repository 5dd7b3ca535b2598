/* SPDX-License-Identifier: Apache-2.0 */
/* The table of process images; see images.h. */
#include "user/process/images.h"

#include <string.h>

#include "base/hash.h"
#include "base/proc_stat.h"
#include "base/search.h"
#include "user/process/proc_maps.h"

static uint64_t key_hash(const struct el_image_key *key)
{
	return el_hash_u64(el_hash_u64(key->tgid, key->exec_id), key->start_ns);
}

static bool same_key(const void *owner, uint32_t position, const void *wanted)
{
	const struct el_processes *processes = owner;
	const struct el_image_key *have = &processes->images.at[position]->process.key;
	const struct el_image_key *want = wanted;

	return have->tgid == want->tgid && have->exec_id == want->exec_id &&
	       have->start_ns == want->start_ns;
}

static bool same_pid(const void *owner, uint32_t position, const void *wanted)
{
	const struct el_processes *processes = owner;

	return processes->newest.at[position].pid == *(const uint32_t *)wanted;
}

/* Where in images the id is or would be. */
static size_t position_of(const struct el_processes *processes, uint32_t id)
{
	return el_partition(processes->images.n, i, processes->images.at[i]->process.id < id);
}

struct image *el_images_get(const struct el_processes *processes, uint32_t id)
{
	size_t at = position_of(processes, id);

	if (at == processes->images.n || processes->images.at[at]->process.id != id)
		return NULL;
	return processes->images.at[at];
}

struct image *el_images_newest(const struct el_processes *processes, uint32_t pid)
{
	uint32_t at =
		el_index_find(&processes->by_pid, el_hash_u64(4, pid), same_pid, processes, &pid);

	return at == EL_INDEX_NONE ? NULL : el_images_get(processes, processes->newest.at[at].id);
}

struct image *el_images_of_key(const struct el_processes *processes, const struct el_image_key *key)
{
	uint32_t at = el_index_find(&processes->by_key, key_hash(key), same_key, processes, key);

	return at == EL_INDEX_NONE ? NULL : processes->images.at[at];
}

/* Links `image` among those of its pid: as the newest, or, told late, before the newest. */
static int link_image(struct el_processes *processes, struct image *image)
{
	uint32_t pid = image->process.key.tgid;
	uint64_t hash = el_hash_u64(4, pid);
	uint32_t at = el_index_find(&processes->by_pid, hash, same_pid, processes, &pid);
	struct newest added = {pid, image->process.id};
	struct image *newest;
	int err;

	image->previous = 0;
	if (at == EL_INDEX_NONE) {
		err = el_vec_push(&processes->newest, added);
		return err ? err : el_index_add(&processes->by_pid, hash, processes->newest.n - 1);
	}
	newest = el_images_get(processes, processes->newest.at[at].id);
	if (newest && newest->process.from_ns > image->process.from_ns) {
		image->previous = newest->previous;
		newest->previous = image->process.id;
		return 0;
	}
	image->previous = processes->newest.at[at].id;
	processes->newest.at[at].id = image->process.id;
	return 0;
}

struct image *el_images_add(struct el_processes *processes, uint32_t pid, uint64_t from_ns)
{
	struct image *before = el_images_newest(processes, pid);
	struct image *image;

	if (el_vec_reserve(&processes->images, processes->images.n + 1))
		return NULL;
	image = calloc(1, sizeof(*image));
	if (!image)
		return NULL;
	image->process.id = processes->next_image;
	image->process.key.tgid = pid;
	image->process.from_ns = from_ns;
	image->process.to_ns = EL_NEVER;
	if (link_image(processes, image)) {
		free(image);
		return NULL;
	}
	processes->next_image++;
	processes->images.at[processes->images.n++] = image;
	if (before && before->process.from_ns > from_ns)
		el_images_end(processes, image, before->process.from_ns);
	else if (before)
		el_images_end(processes, before, from_ns);
	return image;
}

int el_images_bind(struct el_processes *processes, struct image *image,
		   const struct el_image_key *key)
{
	image->process.key = *key;
	image->start_known = EL_START_EXACT;
	image->exec_id_known = image->bound = true;
	return el_index_add(&processes->by_key, key_hash(key),
			    position_of(processes, image->process.id));
}

void el_images_end(struct el_processes *processes, struct image *image, uint64_t time_ns)
{
	if (image->process.to_ns != EL_NEVER)
		return;
	image->process.to_ns = time_ns > image->process.from_ns ? time_ns : image->process.from_ns;
	el_mappings_end_all(&image->mappings, image->process.to_ns);
	processes->n_ended_unseen += !image->sampled;
}

bool el_images_same_start(const struct image *image, uint64_t start_ns)
{
	return image->start_known == EL_START_UNKNOWN ||
	       image->process.key.start_ns / EL_PROC_TICK_NS == start_ns / EL_PROC_TICK_NS;
}

int el_images_inherit(struct el_processes *processes, struct image *image)
{
	const struct image *from = el_images_get(processes, image->inherits_from);
	int err;

	if (!image->inherits_from)
		return 0;
	image->inherits_from = 0;
	if (!from)
		return 0;
	err = el_mappings_inherit(&image->mappings, &from->mappings, image->inherit_ns,
				  &processes->next_mapping);
	if (image->process.to_ns != EL_NEVER)
		el_mappings_end_all(&image->mappings, image->process.to_ns);
	return err;
}

int el_images_map(struct el_processes *processes, struct image *image,
		  const struct el_mapping *mapping, uint64_t from_ns, uint64_t now_ns)
{
	struct el_mapping wanted = *mapping;
	int put;

	if (wanted.start >= wanted.end)
		return 0;
	if (!wanted.path || !strcmp(wanted.path, "//anon"))
		wanted.path = "";
	if (wanted.build_id_size > EL_BUILD_ID_MAX)
		wanted.build_id_size = 0;
	wanted.flags = el_mapping_kind(wanted.path, wanted.inode);
	wanted.path = el_paths_add(&processes->paths, wanted.path);
	if (!wanted.path || el_images_inherit(processes, image))
		return -ENOMEM;
	put = el_mappings_put(&image->mappings, &wanted, from_ns, now_ns, &processes->next_mapping);
	if (put == -ENOSPC) {
		processes->n_mappings_refused++;
		return 0;
	}
	if (put > 0)
		image->process.generation++;
	return put < 0 ? put : 0;
}

static void free_image(struct image *image)
{
	el_mappings_deinit(&image->mappings);
	free(image);
}

/* After images moved: which is where, and which comes before which. */
static void index_again(struct el_processes *processes)
{
	processes->newest.n = 0;
	processes->last = NULL;
	el_index_clear(&processes->by_key);
	el_index_clear(&processes->by_pid);
	for (size_t i = 0; i < processes->images.n; i++) {
		struct image *image = processes->images.at[i];

		/* There were more before: nothing needs to grow, so nothing can fail. */
		link_image(processes, image);
		if (image->bound)
			el_index_add(&processes->by_key, key_hash(&image->process.key), i);
	}
}

static void sweep_paths(struct el_processes *processes)
{
	if (!el_paths_sweep_due(&processes->paths))
		return;
	for (size_t i = 0; i < processes->images.n; i++) {
		const struct el_mappings *mappings = &processes->images.at[i]->mappings;

		for (size_t m = 0; m < mappings->all.n; m++)
			el_paths_mark(mappings->all.at[m].mapping.path);
	}
	el_paths_sweep(&processes->paths);
}

void el_images_drop(struct el_processes *processes, bool (*drop)(const struct image *, uint64_t),
		    uint64_t time_ns, void (*gone)(void *context, uint32_t id), void *context)
{
	size_t kept = 0;

	/* Children copy what their parents had while these are there. */
	for (size_t i = 0; i < processes->images.n; i++) {
		struct image *image = processes->images.at[i];
		const struct image *from = el_images_get(processes, image->inherits_from);

		if (from && drop(from, time_ns) && !drop(image, time_ns))
			el_images_inherit(processes, image);
	}
	processes->n_ended_unseen = 0;
	for (size_t i = 0; i < processes->images.n; i++) {
		struct image *image = processes->images.at[i];

		if (drop(image, time_ns)) {
			if (gone)
				gone(context, image->process.id);
			free_image(image);
			continue;
		}
		processes->n_ended_unseen += image->process.to_ns != EL_NEVER && !image->sampled;
		processes->images.at[kept++] = image;
	}
	processes->images.n = kept;
	index_again(processes);
	sweep_paths(processes);
}

void el_images_deinit(struct el_processes *processes)
{
	for (size_t i = 0; i < processes->images.n; i++)
		free_image(processes->images.at[i]);
	el_vec_deinit(&processes->images);
	el_vec_deinit(&processes->newest);
	el_index_deinit(&processes->by_key);
	el_index_deinit(&processes->by_pid);
}
