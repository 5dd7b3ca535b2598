/* SPDX-License-Identifier: Apache-2.0 */
/* See build.h: the life of a builder, and the tables whose rows have one size. */
#include "user/profile/builder.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/hash.h"

/* What tells a row from others: its first bytes, up to the whole of it. */
#define SAMPLE_KEY_SIZE offsetof(struct el_profile_sample, values)
#define COUNTER_KEY_SIZE offsetof(struct el_profile_counter, sentence)

struct row_key {
	const void *bytes;
	size_t size;
	size_t row_size;
};

static bool row_equal(const void *owner, uint32_t position, const void *wanted)
{
	const struct row_key *key = wanted;

	return !memcmp((const char *)owner + position * key->row_size, key->bytes, key->size);
}

/* Finds or appends a row of any table. */
static int intern(struct el_profile_builder *builder, struct el_index *index, void **at, size_t *n,
		  size_t *capacity, const struct row_key *key, uint32_t *ret)
{
	uint64_t hash = el_hash_bytes(builder->seed, key->bytes, key->size);
	uint32_t found = el_index_find(index, hash, row_equal, *at, key);
	int err;

	if (found != EL_INDEX_NONE) {
		*ret = found;
		return 0;
	}
	if (*n >= EL_INDEX_NONE)
		return -EOVERFLOW;
	err = el_vec_grow(at, capacity, key->row_size, *n + 1);
	if (!err)
		err = el_index_add(index, hash, *n);
	if (err)
		return err;
	memcpy((char *)*at + *n * key->row_size, key->bytes, key->row_size);
	*ret = (*n)++;
	return 0;
}

#define INTERN(builder, table, row, key_size, ret)                                                 \
	intern((builder), &(builder)->table, (void **)&(builder)->profile->table.at,               \
	       &(builder)->profile->table.n, &(builder)->profile->table.capacity,                  \
	       &(struct row_key){(row), (key_size), sizeof(*(row))}, (ret))

/* --- life --- */

static int index_rows(struct el_profile_builder *builder, struct el_index *index, const void *at,
		      size_t first, size_t n, size_t row_size, size_t key_size)
{
	int err = 0;

	for (size_t i = first; i < n && !err; i++)
		err = el_index_add(
			index,
			el_hash_bytes(builder->seed, (const char *)at + i * row_size, key_size), i);
	return err;
}

#define INDEX_ROWS(builder, table, first, key_size)                                                \
	index_rows((builder), &(builder)->table, (builder)->profile->table.at, (first),            \
		   (builder)->profile->table.n, sizeof(*(builder)->profile->table.at), (key_size))

static int index_profile(struct el_profile_builder *builder)
{
	int err = INDEX_ROWS(builder, objects, 1, sizeof(struct el_profile_object));

	if (!err)
		err = INDEX_ROWS(builder, mappings, 1, sizeof(struct el_profile_mapping));
	if (!err)
		err = INDEX_ROWS(builder, functions, 1, sizeof(struct el_profile_function));
	if (!err)
		err = INDEX_ROWS(builder, processes, 1, sizeof(struct el_profile_process));
	if (!err)
		err = INDEX_ROWS(builder, samples, 0, SAMPLE_KEY_SIZE);
	if (!err)
		err = INDEX_ROWS(builder, counters, 0, COUNTER_KEY_SIZE);
	if (!err)
		err = INDEX_ROWS(builder, comments, 0, sizeof(uint32_t));
	if (!err)
		err = el_profile_builder_index_tails(builder);
	return err;
}

int el_profile_builder_adopt(struct el_profile *profile, struct el_profile_builder **ret)
{
	struct el_profile_builder *builder = calloc(1, sizeof(*builder));
	int err;

	if (!builder)
		return -ENOMEM;
	/* Without randomness the seed stays 0: slower against crafted names, never wrong. */
	if (getrandom(&builder->seed, sizeof(builder->seed), GRND_NONBLOCK) < 0)
		builder->seed = 0;
	builder->profile = profile;
	err = index_profile(builder);
	if (err) {
		builder->profile = NULL;
		el_profile_builder_free(builder);
		return err;
	}
	*ret = builder;
	return 0;
}

int el_profile_builder_new(struct el_profile_builder **ret)
{
	struct el_profile *profile;
	int err = el_profile_new(&profile);

	if (err)
		return err;
	err = el_profile_builder_adopt(profile, ret);
	if (err)
		el_profile_free(profile);
	return err;
}

void el_profile_builder_free(struct el_profile_builder *builder)
{
	if (!builder)
		return;
	el_profile_free(builder->profile);
	el_index_deinit(&builder->objects);
	el_index_deinit(&builder->mappings);
	el_index_deinit(&builder->functions);
	el_index_deinit(&builder->locations);
	el_index_deinit(&builder->stacks);
	el_index_deinit(&builder->processes);
	el_index_deinit(&builder->samples);
	el_index_deinit(&builder->counters);
	el_index_deinit(&builder->comments);
	free(builder);
}

struct el_profile *el_profile_builder_profile(struct el_profile_builder *builder)
{
	return builder->profile;
}

static int compare_ticks(const void *left, const void *right)
{
	const struct el_profile_tick *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
	if (a->cpu != b->cpu)
		return (a->cpu > b->cpu) - (a->cpu < b->cpu);
	if (a->sample != b->sample)
		return (a->sample > b->sample) - (a->sample < b->sample);
	return (a->weight > b->weight) - (a->weight < b->weight);
}

static void sort_ticks(struct el_profile *profile)
{
	if (profile->ticks.n)
		qsort(profile->ticks.at, profile->ticks.n, sizeof(*profile->ticks.at),
		      compare_ticks);
}

int el_profile_builder_finish(struct el_profile_builder *builder, struct el_profile **ret,
			      struct el_error *error)
{
	struct el_profile *profile = builder->profile;
	int err;

	sort_ticks(profile);
	err = el_profile_check(profile, error);
	if (err)
		return err;
	builder->profile = NULL;
	*ret = profile;
	return 0;
}

void el_profile_builder_release(struct el_profile_builder *builder)
{
	sort_ticks(builder->profile);
	builder->profile = NULL;
	el_profile_builder_free(builder);
}

/* --- rows --- */

static bool is_string(const struct el_profile_builder *builder, uint32_t string)
{
	return string < builder->profile->strings.start.n;
}

int el_profile_build_string(struct el_profile_builder *builder, const char *text, uint32_t *ret)
{
	return el_strings_add(&builder->profile->strings, text, ret);
}

int el_profile_build_object(struct el_profile_builder *builder,
			    const struct el_profile_object *object, uint32_t *ret)
{
	if (!is_string(builder, object->path) || !is_string(builder, object->build_id) ||
	    object->code >= EL_N_CODES)
		return -EINVAL;
	return INTERN(builder, objects, object, sizeof(*object), ret);
}

int el_profile_build_mapping(struct el_profile_builder *builder,
			     const struct el_profile_mapping *mapping, uint32_t *ret)
{
	if (mapping->object >= builder->profile->objects.n || mapping->start > mapping->limit)
		return -EINVAL;
	return INTERN(builder, mappings, mapping, sizeof(*mapping), ret);
}

int el_profile_build_function(struct el_profile_builder *builder,
			      const struct el_profile_function *function, uint32_t *ret)
{
	if (!is_string(builder, function->name) || !is_string(builder, function->system_name) ||
	    !is_string(builder, function->file) || function->code >= EL_N_CODES)
		return -EINVAL;
	return INTERN(builder, functions, function, sizeof(*function), ret);
}

int el_profile_build_process(struct el_profile_builder *builder,
			     const struct el_profile_process *process, uint32_t *ret)
{
	if (!is_string(builder, process->comm) || !is_string(builder, process->cgroup))
		return -EINVAL;
	return INTERN(builder, processes, process, sizeof(*process), ret);
}

int el_profile_build_sample(struct el_profile_builder *builder,
			    const struct el_profile_sample *sample, uint32_t *ret)
{
	struct el_profile *profile = builder->profile;
	struct el_profile_sample empty = *sample;
	uint32_t position;
	int err;

	if (sample->stack >= profile->stacks.n || sample->process >= profile->processes.n ||
	    !is_string(builder, sample->thread))
		return -EINVAL;
	memset(empty.values, 0, sizeof(empty.values));
	err = INTERN(builder, samples, &empty, SAMPLE_KEY_SIZE, &position);
	if (err)
		return err;
	for (size_t v = 0; v < EL_MAX_VALUES; v++) {
		uint64_t sum;

		if (__builtin_add_overflow(profile->samples.at[position].values[v],
					   sample->values[v], &sum))
			return -EOVERFLOW;
		profile->samples.at[position].values[v] = sum;
	}
	*ret = position;
	return 0;
}

int el_profile_build_tick(struct el_profile_builder *builder, const struct el_profile_tick *tick,
			  uint32_t *ret)
{
	struct el_profile *profile = builder->profile;
	int err;

	if (tick->sample >= profile->samples.n)
		return -EINVAL;
	if (profile->ticks.n >= EL_INDEX_NONE)
		return -EOVERFLOW;
	err = el_vec_push(&profile->ticks, *tick);
	if (!err)
		*ret = profile->ticks.n - 1;
	return err;
}

int el_profile_build_counter(struct el_profile_builder *builder,
			     const struct el_profile_counter *counter, uint32_t *ret)
{
	struct el_profile_counter empty = *counter;
	struct el_profile_counter *row;
	uint32_t position;
	uint64_t sum;
	int err;

	if (!is_string(builder, counter->name) || !is_string(builder, counter->unit) ||
	    !is_string(builder, counter->sentence))
		return -EINVAL;
	empty.value = 0;
	err = INTERN(builder, counters, &empty, COUNTER_KEY_SIZE, &position);
	if (err)
		return err;
	row = &builder->profile->counters.at[position];
	if (__builtin_add_overflow(row->value, counter->value, &sum))
		return -EOVERFLOW;
	row->value = sum;
	*ret = position;
	return 0;
}

int el_profile_build_comment(struct el_profile_builder *builder, const char *text, uint32_t *ret)
{
	uint32_t string;
	int err = el_profile_build_string(builder, text, &string);

	if (err)
		return err;
	return INTERN(builder, comments, &string, sizeof(string), ret);
}
