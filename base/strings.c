/* SPDX-License-Identifier: Apache-2.0 */
/* See strings.h: one byte pool, one array of starts, one hash index. */
#include "base/strings.h"

#include <stdbool.h>
#include <string.h>

#include "base/hash.h"

struct wanted {
	const char *text;
	size_t size;
};

static bool equal(const void *owner, uint32_t position, const void *wanted)
{
	const struct el_strings *strings = owner;
	const struct wanted *want = wanted;
	const char *have = strings->bytes.at + strings->start.at[position];

	return !strncmp(have, want->text, want->size) && !have[want->size];
}

int el_strings_init(struct el_strings *strings)
{
	uint32_t empty;

	*strings = (struct el_strings){0};
	return el_strings_add(strings, "", &empty);
}

void el_strings_deinit(struct el_strings *strings)
{
	el_vec_deinit(&strings->bytes);
	el_vec_deinit(&strings->start);
	el_index_deinit(&strings->index);
}

int el_strings_add_bytes(struct el_strings *strings, const char *text, size_t size, uint32_t *ret)
{
	struct wanted want = {text ? text : "", text ? strnlen(text, size) : 0};
	uint64_t hash = el_hash_bytes(1, want.text, want.size);
	uint32_t found = el_index_find(&strings->index, hash, equal, strings, &want);
	int err;

	if (found != EL_INDEX_NONE) {
		*ret = found;
		return 0;
	}
	if (strings->bytes.n + want.size + 1 > UINT32_MAX)
		return -ENOMEM;
	err = el_vec_reserve(&strings->bytes, strings->bytes.n + want.size + 1);
	if (!err)
		err = el_vec_reserve(&strings->start, strings->start.n + 1);
	if (!err)
		err = el_index_add(&strings->index, hash, strings->start.n);
	if (err)
		return err;
	strings->start.at[strings->start.n] = strings->bytes.n;
	memcpy(strings->bytes.at + strings->bytes.n, want.text, want.size);
	strings->bytes.at[strings->bytes.n + want.size] = '\0';
	strings->bytes.n += want.size + 1;
	*ret = strings->start.n++;
	return 0;
}

int el_strings_add(struct el_strings *strings, const char *text, uint32_t *ret)
{
	return el_strings_add_bytes(strings, text, text ? strlen(text) : 0, ret);
}

const char *el_strings_get(const struct el_strings *strings, uint32_t index)
{
	return index < strings->start.n ? strings->bytes.at + strings->start.at[index] : "";
}
