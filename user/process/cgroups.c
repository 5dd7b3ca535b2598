/* SPDX-License-Identifier: Apache-2.0 */
/* See cgroups.h. */
#include "user/process/cgroups.h"

#include <string.h>

#include "base/hash.h"

#define CGROUPS_MAX 65536u      /* ids; then the oldest names are forgotten, all at once */
#define STRINGS_MAX (16u << 20) /* bytes of paths; then new ones read as unknown */

static bool equal(const void *owner, uint32_t position, const void *wanted)
{
	const struct el_cgroups *cgroups = owner;

	return cgroups->all.at[position].id == *(const uint64_t *)wanted;
}

static struct el_cgroup *find(const struct el_cgroups *cgroups, uint64_t id)
{
	uint32_t at = el_index_find(&cgroups->index, el_hash_u64(3, id), equal, cgroups, &id);

	return at == EL_INDEX_NONE ? NULL : &cgroups->all.at[at];
}

void el_cgroups_deinit(struct el_cgroups *cgroups)
{
	el_vec_deinit(&cgroups->all);
	el_index_deinit(&cgroups->index);
}

static int add_path(struct el_strings *strings, const char *path, size_t size, uint32_t *ret)
{
	if (strings->bytes.n + size > STRINGS_MAX) {
		*ret = 0;
		return 0;
	}
	return el_strings_add_bytes(strings, path, size, ret);
}

int el_cgroups_add(struct el_cgroups *cgroups, struct el_strings *strings, uint64_t id,
		   const char *path)
{
	struct el_cgroup *known = find(cgroups, id);
	struct el_cgroup added = {.id = id};
	int err = add_path(strings, path, strlen(path), &added.path);

	if (err)
		return err;
	if (known) {
		known->path = added.path;
		return 0;
	}
	if (cgroups->all.n >= CGROUPS_MAX) {
		cgroups->all.n = 0;
		el_index_clear(&cgroups->index);
	}
	err = el_vec_push(&cgroups->all, added);
	if (err)
		return err;
	err = el_index_add(&cgroups->index, el_hash_u64(3, id), cgroups->all.n - 1);
	if (err)
		cgroups->all.n--;
	return err;
}

bool el_cgroups_find(const struct el_cgroups *cgroups, uint64_t id, uint32_t *ret_path)
{
	const struct el_cgroup *known = find(cgroups, id);

	if (known)
		*ret_path = known->path;
	return known != NULL;
}

/* A line is "HIERARCHY:CONTROLLERS:PATH"; hierarchy 0 without controllers is version 2. */
int el_cgroups_parse(const char *text, size_t size, struct el_strings *strings, uint32_t *ret)
{
	const char *end = text + size, *best = NULL;
	size_t best_size = 0;

	while (text < end) {
		const char *newline = memchr(text, '\n', end - text);
		const char *line_end = newline ? newline : end;
		const char *colon = memchr(text, ':', line_end - text);
		const char *path = colon ? memchr(colon + 1, ':', line_end - colon - 1) : NULL;

		if (path) {
			size_t path_size = line_end - ++path;
			bool version2 = path - text == 3 && *text == '0';

			/* On a machine with both, version 2 is empty but for "/". */
			if (version2 && path_size > 1)
				return add_path(strings, path, path_size, ret);
			if (path_size > best_size) {
				best = path;
				best_size = path_size;
			}
		}
		text = line_end + 1;
	}
	if (!best) {
		*ret = 0;
		return 0;
	}
	return add_path(strings, best, best_size, ret);
}
