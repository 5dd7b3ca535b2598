/* SPDX-License-Identifier: Apache-2.0 */
/* See paths.h: one allocation a path, a hash index over them. */
#include "user/process/paths.h"

#include <stddef.h>
#include <string.h>

#include "base/hash.h"

#define SWEEP_AT_LEAST 4096 /* paths, before the first sweep */

struct wanted {
	const char *text;
	size_t size;
};

static bool equal(const void *owner, uint32_t position, const void *wanted)
{
	const struct el_paths *paths = owner;
	const struct wanted *want = wanted;
	const char *have = paths->all.at[position]->text;

	return !strncmp(have, want->text, want->size) && !have[want->size];
}

void el_paths_deinit(struct el_paths *paths)
{
	for (size_t i = 0; i < paths->all.n; i++)
		free(paths->all.at[i]);
	el_vec_deinit(&paths->all);
	el_index_deinit(&paths->index);
}

const char *el_paths_add(struct el_paths *paths, const char *text)
{
	struct wanted want = {text ? text : "", text ? strnlen(text, EL_PATH_MAX) : 0};
	uint64_t hash = el_hash_bytes(2, want.text, want.size);
	uint32_t found = el_index_find(&paths->index, hash, equal, paths, &want);
	struct el_path *path;

	if (found != EL_INDEX_NONE)
		return paths->all.at[found]->text;
	if (paths->all.n >= EL_INDEX_NONE || el_vec_reserve(&paths->all, paths->all.n + 1))
		return NULL;
	path = malloc(sizeof(*path) + want.size + 1);
	if (!path)
		return NULL;
	path->used = false;
	memcpy(path->text, want.text, want.size);
	path->text[want.size] = '\0';
	if (el_index_add(&paths->index, hash, paths->all.n)) {
		free(path);
		return NULL;
	}
	paths->all.at[paths->all.n++] = path;
	return path->text;
}

bool el_paths_sweep_due(const struct el_paths *paths)
{
	return paths->all.n >= SWEEP_AT_LEAST && paths->all.n / 2 >= paths->n_after_sweep;
}

void el_paths_mark(const char *text)
{
	struct el_path *path = (struct el_path *)(text - offsetof(struct el_path, text));

	path->used = true;
}

int el_paths_sweep(struct el_paths *paths)
{
	size_t kept = 0;
	int err = 0;

	el_index_clear(&paths->index);
	for (size_t i = 0; i < paths->all.n; i++) {
		struct el_path *path = paths->all.at[i];
		int add_err;

		if (!path->used) {
			free(path);
			continue;
		}
		path->used = false;
		/* A path that is not found again is only stored twice. */
		add_err = el_index_add(&paths->index,
				       el_hash_bytes(2, path->text, strlen(path->text)), kept);
		err = err ? err : add_err;
		paths->all.at[kept++] = path;
	}
	paths->all.n = paths->n_after_sweep = kept;
	return err;
}
