/* SPDX-License-Identifier: Apache-2.0 */
/* See known.h. */
#include "user/symbolize/known.h"

#include <string.h>

#include "base/hash.h"

int el_known_init(struct el_known *known)
{
	*known = (struct el_known){0};
	return el_answer_init(&known->answer);
}

void el_known_deinit(struct el_known *known)
{
	el_answer_deinit(&known->answer);
	el_vec_deinit(&known->rows);
	el_index_deinit(&known->by_key);
}

static uint64_t hash_of(const struct el_known_key *key)
{
	return el_hash_bytes(0, key, sizeof(*key));
}

static bool equal(const void *owner, uint32_t position, const void *wanted)
{
	const struct el_known *known = owner;

	return !memcmp(&known->rows.at[position].key, wanted, sizeof(struct el_known_key));
}

uint32_t el_known_find(const struct el_known *known, const struct el_known_key *key)
{
	uint32_t at = el_index_find(&known->by_key, hash_of(key), equal, known, key);

	return at == EL_INDEX_NONE ? EL_INDEX_NONE : known->rows.at[at].location;
}

int el_known_add(struct el_known *known, const struct el_known_key *key, uint32_t location)
{
	struct el_known_row row = {.key = *key, .location = location};
	int err = el_vec_reserve(&known->rows, known->rows.n + 1);

	if (!err)
		err = el_index_add(&known->by_key, hash_of(key), known->rows.n);
	return err ? err : el_vec_push(&known->rows, row);
}

/* Equal strings of one answer have one index; equal functions need not. */
static bool same_function(const struct el_answer *answer, uint32_t a, uint32_t b)
{
	const struct el_answer_function *left = &answer->functions.at[a];
	const struct el_answer_function *right = &answer->functions.at[b];

	return a == b || (left->name == right->name && left->system_name == right->system_name &&
			  left->file == right->file && left->start_line == right->start_line);
}

static bool same_object(const struct el_answer *answer, uint32_t a, uint32_t b)
{
	const struct el_answer_object *left = &answer->objects.at[a];
	const struct el_answer_object *right = &answer->objects.at[b];

	return a == b ||
	       (left->path == right->path && left->build_id_size == right->build_id_size &&
		!memcmp(left->build_id, right->build_id, left->build_id_size));
}

bool el_known_same(const struct el_known *known, uint32_t a, uint32_t b)
{
	const struct el_answer *answer = &known->answer;
	const struct el_answer_location *left = &answer->locations.at[a];
	const struct el_answer_location *right = &answer->locations.at[b];

	if (a == b)
		return true;
	if (left->miss != right->miss || left->n_lines != right->n_lines ||
	    !same_object(answer, left->object, right->object))
		return false;
	for (uint32_t i = 0; i < left->n_lines; i++) {
		const struct el_answer_line *x = &answer->lines.at[left->first_line + i];
		const struct el_answer_line *y = &answer->lines.at[right->first_line + i];

		if (x->line != y->line || !same_function(answer, x->function, y->function))
			return false;
	}
	return true;
}

size_t el_known_size(const struct el_known *known)
{
	const struct el_answer *answer = &known->answer;

	return known->rows.capacity * (sizeof(*known->rows.at) + 16) +
	       answer->strings.bytes.capacity + answer->strings.start.capacity * 20 +
	       answer->functions.capacity * sizeof(*answer->functions.at) +
	       answer->lines.capacity * sizeof(*answer->lines.at) +
	       answer->locations.capacity * sizeof(*answer->locations.at);
}
