/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See acquire.h. Failures of the parser are not failures here: what could not
 * be acquired is a miss of the questions to come.
 */
#include "user/symbolize/acquire.h"

#include <errno.h>
#include <string.h>

#include "base/hash.h"
#include "base/search.h"
#include "base/time.h"

/* Between reads of a process with JIT code not seen before, and while it stays in known code. */
#define REFRESH_NEW_NS (100 * EL_NS_PER_MS)
#define REFRESH_KNOWN_NS EL_NS_PER_S
#define RESCAN_NS EL_NS_PER_S
#define RESCAN_LEAF_NS (100 * EL_NS_PER_MS)
#define HANGS_MAX 2

/* Only being out of memory ends a recording. */
static int grave(int err)
{
	return err == -ENOMEM ? err : 0;
}

void el_acquire_init(struct el_acquire *acquire, struct el_parser *parser,
		     struct el_processes *processes)
{
	*acquire = (struct el_acquire){.parser = parser, .processes = processes};
}

void el_acquire_deinit(struct el_acquire *acquire)
{
	for (size_t i = 0; i < acquire->images.n; i++)
		el_vec_deinit(&acquire->images.at[i].mappings);
	el_vec_deinit(&acquire->images);
	el_vec_deinit(&acquire->waiting);
	el_index_deinit(&acquire->by_id);
}

/* --- images --- */

static bool has_id(const void *owner, uint32_t position, const void *wanted)
{
	const struct el_acquire *acquire = owner;

	return acquire->images.at[position].id == *(const uint32_t *)wanted;
}

static struct el_acquire_image *find(struct el_acquire *acquire, uint32_t id)
{
	uint32_t at = el_index_find(&acquire->by_id, el_hash_u64(0, id), has_id, acquire, &id);

	return at == EL_INDEX_NONE ? NULL : &acquire->images.at[at];
}

struct el_acquire_image *el_acquire_image(struct el_acquire *acquire, uint32_t id)
{
	struct el_acquire_image *row = find(acquire, id);
	const struct el_process *process;
	struct el_image image = {.id = id};

	if (row)
		return row;
	process = el_processes_get(acquire->processes, id);
	if (process) {
		image.pid = process->key.tgid;
		image.start_ns = process->key.start_ns;
	}
	if (el_vec_reserve(&acquire->images, acquire->images.n + 1) ||
	    el_index_add(&acquire->by_id, el_hash_u64(0, id), acquire->images.n))
		return NULL;
	row = &acquire->images.at[acquire->images.n++];
	*row = (struct el_acquire_image){.id = id, .pid = image.pid};
	acquire->n_images++;
	if (process && process->kernel_thread)
		row->scan_tried = row->ended = true;
	else if (el_parser_add_image(acquire->parser, &image) == -ENOMEM)
		return NULL;
	return row;
}

int el_acquire_first_sight(struct el_acquire *acquire, uint32_t id, uint64_t time_ns)
{
	const struct el_process *process = el_processes_get(acquire->processes, id);
	struct el_acquire_image *row = el_acquire_image(acquire, id);
	size_t n_mappings = 0;
	int err = 0;

	if (!row)
		return -ENOMEM;
	if (row->scan_tried || !process || process->scanned)
		return 0;
	row->scan_tried = true;
	if (process->told) {
		(void)el_processes_scan_cgroup(acquire->processes, id);
		return 0;
	}
	if (process->to_ns == UINT64_MAX)
		err = el_processes_scan(acquire->processes, time_ns, row->pid);
	if (err == -ENOMEM)
		return err;
	process = el_processes_get(acquire->processes, id);
	el_process_mappings(acquire->processes, id, &n_mappings);
	/* Side-band may have told all there is about a process that is gone. */
	if (!n_mappings && !(process && (process->scanned || process->kernel_thread)))
		acquire->n_unread++;
	return 0;
}

int el_acquire_kernel(struct el_acquire *acquire)
{
	const struct el_image image = {0};
	const struct el_process_mapping *all;
	size_t n = 0;
	int err;

	if (acquire->kernel)
		return 0;
	acquire->kernel = true;
	err = el_parser_add_image(acquire->parser, &image);
	all = el_process_mappings(acquire->processes, 0, &n);
	for (size_t i = 0; !err && i < n; i++)
		err = el_parser_add_mapping(acquire->parser, 0, &all[i].mapping);
	return grave(err);
}

static void rebuild_index(struct el_acquire *acquire)
{
	size_t n = 0;

	el_index_clear(&acquire->by_id);
	for (size_t i = 0; i < acquire->images.n; i++) {
		if (!acquire->images.at[i].id)
			continue;
		acquire->images.at[n] = acquire->images.at[i];
		/* Cannot fail: the index had room for more. */
		(void)el_index_add(&acquire->by_id, el_hash_u64(0, acquire->images.at[n].id), n);
		n++;
	}
	acquire->images.n = n;
}

void el_acquire_drop(struct el_acquire *acquire, uint32_t id)
{
	struct el_acquire_image *row = find(acquire, id);

	if (!row)
		return;
	el_vec_deinit(&row->mappings);
	*row = (struct el_acquire_image){0};
	(void)el_parser_drop_image(acquire->parser, id);
}

/* --- what is wanted --- */

/* Adds to the ascending list; *ret: it is new there. 0 or -ENOMEM. */
static int remember(struct el_acquire_image *image, uint32_t mapping, bool *ret)
{
	size_t low = el_partition(image->mappings.n, i, image->mappings.at[i] < mapping);
	int err;

	*ret = false;
	if (low < image->mappings.n && image->mappings.at[low] == mapping)
		return 0;
	err = el_vec_push(&image->mappings, mapping);
	if (err)
		return err;
	memmove(image->mappings.at + low + 1, image->mappings.at + low,
		(image->mappings.n - 1 - low) * sizeof(mapping));
	image->mappings.at[low] = mapping;
	*ret = true;
	return 0;
}

static int want(struct el_acquire *acquire, struct el_acquire_image *image, uint32_t mapping)
{
	const struct el_acquire_waiting row = {image->id, mapping};
	bool new;
	int err = remember(image, mapping, &new);

	return err || !new ? err : el_vec_push(&acquire->waiting, row);
}

bool el_acquire_is_jit(const struct el_mapping *mapping)
{
	/* Shared memory that a runtime maps twice, to write here and to run there. */
	static const char *const paths[] = {"/memfd:", "/dev/zero", "/SYSV", "/dev/shm/"};

	if (!mapping || mapping->flags & EL_MAPPING_ANONYMOUS)
		return true;
	for (size_t i = 0; mapping->path && i < sizeof(paths) / sizeof(*paths); i++) {
		if (!strncmp(mapping->path, paths[i], strlen(paths[i])))
			return true;
	}
	return false;
}

int el_acquire_stack(struct el_acquire *acquire, uint32_t id, const struct el_frame *frames,
		     size_t n, uint64_t time_ns, bool *ret_jit)
{
	struct el_acquire_image *image = el_acquire_image(acquire, id);
	bool jit = false;
	int err = 0;

	if (!image)
		return -ENOMEM;
	for (size_t i = 0; !err && i < n; i++) {
		const struct el_process_mapping *row =
			el_process_mapping_at(acquire->processes, id, frames[i].addr, time_ns);

		/* A caller in no mapping is a bad walk; a leaf is always code. */
		if (!row)
			image->moved_leaf |= !i;
		else
			err = want(acquire, image, row->mapping.id);
		jit |= row ? el_acquire_is_jit(&row->mapping) : !i;
	}
	image->jit_new |= jit;
	*ret_jit = jit;
	return err;
}

/* --- what is done about it --- */

static int compare_id(const void *wanted, const void *row)
{
	uint32_t id = *(const uint32_t *)wanted;
	const struct el_process_mapping *mapping = row;

	return (id > mapping->mapping.id) - (id < mapping->mapping.id);
}

static int announce(struct el_acquire *acquire, const struct el_acquire_waiting *wanted)
{
	size_t n;
	const struct el_process_mapping *all =
		el_process_mappings(acquire->processes, wanted->image, &n);
	const struct el_process_mapping *row =
		n ? bsearch(&wanted->mapping, all, n, sizeof(*all), compare_id) : NULL;

	if (!row)
		return 0; /* forgotten meanwhile */
	return grave(el_parser_add_mapping(acquire->parser, wanted->image, &row->mapping));
}

/* The descriptor of a JIT list lives in an ordinary file's memory, hit or not: all files first. */
static int want_all(struct el_acquire *acquire, struct el_acquire_image *image)
{
	const struct el_process *process = el_processes_get(acquire->processes, image->id);
	const struct el_process_mapping *all;
	size_t n = 0;
	int err = 0;

	if (!process || image->files_generation == process->generation + 1)
		return 0;
	image->files_generation = process->generation + 1;
	all = el_process_mappings(acquire->processes, image->id, &n);
	for (size_t i = 0; !err && i < n; i++) {
		if (all[i].to_ns == UINT64_MAX)
			err = want(acquire, image, all[i].mapping.id);
	}
	return err;
}

static bool refresh_due(const struct el_acquire_image *image, uint64_t now, bool all)
{
	uint64_t since = now - image->refreshed_ns;

	if (!image->jit_sampled || image->ended || image->hangs >= HANGS_MAX)
		return false;
	return all || since >= (image->jit_new ? REFRESH_NEW_NS : REFRESH_KNOWN_NS);
}

static int refresh(struct el_acquire *acquire, struct el_acquire_image *image, uint64_t now)
{
	struct el_parser_stats before, after;
	int err;

	el_parser_stats(acquire->parser, &before);
	err = el_parser_refresh(acquire->parser, image->id);
	el_parser_stats(acquire->parser, &after);
	/* A process that hangs whoever reads its memory would hold up everybody else's symbols. */
	image->hangs += after.fetcher_restarts != before.fetcher_restarts;
	image->refreshed_ns = now;
	image->jit_sampled = image->jit_new = false;
	return grave(err);
}

static int rescan(struct el_acquire *acquire, struct el_acquire_image *image, uint64_t now,
		  bool all)
{
	uint64_t since = now - image->scanned_ns;
	int err;

	if (!image->moved && !image->moved_leaf)
		return 0;
	if (!all && since < (image->moved_leaf ? RESCAN_LEAF_NS : RESCAN_NS))
		return 0;
	image->moved = image->moved_leaf = false;
	image->scanned_ns = now;
	err = el_processes_scan(acquire->processes, now, image->pid);
	return grave(err);
}

static bool alive(const struct el_acquire *acquire, const struct el_acquire_image *image)
{
	const struct el_process *process = el_processes_get(acquire->processes, image->id);

	return process && process->to_ns == UINT64_MAX;
}

static int announce_waiting(struct el_acquire *acquire)
{
	int err = 0;

	for (size_t i = 0; !err && i < acquire->waiting.n; i++)
		err = announce(acquire, &acquire->waiting.at[i]);
	acquire->waiting.n = 0;
	return err;
}

int el_acquire_run(struct el_acquire *acquire, bool all)
{
	uint64_t now = el_now_ns();
	bool freed = false;
	int err = 0;

	for (size_t i = 0; !err && i < acquire->images.n; i++) {
		struct el_acquire_image *image = &acquire->images.at[i];

		freed |= !image->id;
		if (!image->id || image->ended || !alive(acquire, image))
			continue;
		err = rescan(acquire, image, now, all);
		if (!err && refresh_due(image, now, all))
			err = want_all(acquire, image);
	}
	if (!err)
		err = announce_waiting(acquire);
	for (size_t i = 0; !err && i < acquire->images.n; i++) {
		struct el_acquire_image *image = &acquire->images.at[i];

		if (!image->id || image->ended)
			continue;
		if (!alive(acquire, image)) {
			image->ended = true;
			err = grave(el_parser_end_image(acquire->parser, image->id));
		} else if (refresh_due(image, now, all)) {
			err = refresh(acquire, image, now);
		}
	}
	if (freed)
		rebuild_index(acquire);
	return err;
}
