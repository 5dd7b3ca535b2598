/* SPDX-License-Identifier: Apache-2.0 */
/* See jit_objects.h. */
#include "symbolizer/jit_objects.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/search.h"
#include "symbolizer/jit_elf.h"

#define READ_AT_ONCE (4u << 20)

static void free_object(struct el_jit_object *object)
{
	el_object_put(object->object);
	free(object);
}

void el_jit_objects_deinit(struct el_jit_objects *objects)
{
	for (size_t i = 0; i < objects->all.n; i++)
		free_object(objects->all.at[i]);
	el_vec_deinit(&objects->all);
	el_vec_deinit(&objects->ranges);
}

static bool is_late(const struct el_jit_look *look)
{
	return look->memory->now(look->memory->context) > look->deadline_ns;
}

/* The registered bytes, malloc'ed: 0, -EBADMSG when they are no ELF image, -EFBIG, -ETIME, ... */
static int read_bytes(const struct el_jit_objects *objects, const struct el_jit_look *look,
		      const struct el_gdbjit_entry *entry, uint8_t **ret)
{
	const struct el_gdbjit_memory *memory = look->memory;
	char magic[SELFMAG];
	uint8_t *bytes;
	ssize_t n;

	if (entry->symfile_size > EL_JIT_OBJECT_MAX ||
	    objects->live_bytes + entry->symfile_size > EL_JIT_OBJECTS_MAX)
		return -EFBIG;
	if (entry->symfile_size < sizeof(Elf64_Ehdr))
		return -EBADMSG;
	n = memory->read(memory->context, entry->symfile_addr, magic, sizeof(magic));
	if (n < 0)
		return n;
	if (n != sizeof(magic) || memcmp(magic, ELFMAG, SELFMAG))
		return -EBADMSG;
	bytes = malloc(entry->symfile_size);
	if (!bytes)
		return -ENOMEM;
	for (uint64_t at = 0; at < entry->symfile_size; at += n) {
		uint64_t left = entry->symfile_size - at;
		size_t size = left < READ_AT_ONCE ? left : READ_AT_ONCE;

		n = is_late(look) ? -ETIME
				  : memory->read(memory->context, entry->symfile_addr + at,
						 bytes + at, size);
		if (n <= 0) {
			free(bytes);
			return n < 0 ? n : -EFAULT;
		}
	}
	*ret = bytes;
	return 0;
}

/* Takes the bytes. The object stays NULL when they are refused. */
static int parse(struct el_jit_objects *objects, struct el_jit_object *object, uint8_t *bytes)
{
	const struct el_source *source = &objects->context->source;
	size_t size = object->entry.symfile_size;
	struct el_jit_elf elf;
	int err;

	if (source->parsing && source->parsing(source->context, object->hash)) {
		free(bytes);
		return -EBADMSG;
	}
	err = el_jit_elf_prepare(bytes, size, &elf);
	if (err) {
		free(bytes);
	} else {
		object->is_numba = elf.is_numba;
		err = el_object_from_memory(objects->context->objects, bytes, size,
					    elf.is_numba ? "[numba]" : "[jit]", &object->object);
	}
	if (source->parsing)
		source->parsing(source->context, 0);
	return err;
}

/* A new entry: read, parsed and kept, as refused if need be. */
static int add(struct el_jit_objects *objects, struct el_jit_look *look,
	       const struct el_gdbjit_entry *entry)
{
	struct el_jit_object *object;
	uint8_t *bytes;
	int err = read_bytes(objects, look, entry, &bytes);

	if (err == -ETIME) {
		look->unfinished = true;
		return 0;
	}
	if (err == -ENOMEM)
		return err;
	object = calloc(1, sizeof(*object));
	if (!object) {
		if (!err)
			free(bytes);
		return -ENOMEM;
	}
	*object = (struct el_jit_object){.list = look->list,
					 .entry = *entry,
					 .begin_ns = look->before_ns,
					 .end_ns = UINT64_MAX,
					 .seen = objects->look};
	if (!err) {
		object->hash = el_hash_bytes(0, bytes, entry->symfile_size) | 1;
		err = parse(objects, object, bytes);
	}
	if (object->object) {
		objects->live_bytes += entry->symfile_size;
		objects->context->stats.jit_objects++;
	} else {
		objects->context->stats.jit_refused++;
	}
	err = el_vec_push(&objects->all, object);
	if (err)
		free_object(object);
	objects->ranges_stale = true;
	return err;
}

static void end(struct el_jit_objects *objects, struct el_jit_object *object, uint64_t now_ns)
{
	object->end_ns = now_ns;
	if (object->object) {
		objects->live_bytes -= object->entry.symfile_size;
		objects->ended_bytes += object->entry.symfile_size;
	}
}

/* Frees the refused that ended, and the oldest ended objects beyond the limit; `all` is by begin.
 */
static void forget_ended(struct el_jit_objects *objects)
{
	size_t kept = 0;

	for (size_t i = 0; i < objects->all.n; i++) {
		struct el_jit_object *object = objects->all.at[i];
		bool ended = object->end_ns != UINT64_MAX;

		if (ended && (!object->object || objects->ended_bytes > EL_JIT_ENDED_MAX)) {
			if (object->object)
				objects->ended_bytes -= object->entry.symfile_size;
			free_object(object);
			objects->ranges_stale = true;
		} else {
			objects->all.at[kept++] = object;
		}
	}
	objects->all.n = kept;
}

static bool same_entry(const struct el_gdbjit_entry *a, const struct el_gdbjit_entry *b)
{
	return a->addr == b->addr && a->symfile_addr == b->symfile_addr &&
	       a->symfile_size == b->symfile_size;
}

/*
 * New entries come first, so the common end of both lists did not move, except
 * that the very first entry may have gone and come again at the same place.
 */
static size_t first_unmoved(const struct el_jit_look *look)
{
	size_t n = look->now->entries.n, m = look->before ? look->before->entries.n : 0;

	while (n && m &&
	       same_entry(&look->now->entries.at[n - 1], &look->before->entries.at[m - 1]))
		n--, m--;
	return n ? n : 1;
}

/*
 * The living object of an entry. Entries come in the order of registration, as
 * `all` is, so the search goes on from where the last one ended.
 */
static struct el_jit_object *find_live(const struct el_jit_objects *objects, uint32_t list,
				       const struct el_gdbjit_entry *entry, size_t *hint)
{
	for (size_t i = 0; i < objects->all.n; i++) {
		size_t at = (*hint + i) % objects->all.n;
		struct el_jit_object *object = objects->all.at[at];

		if (object->list == list && object->end_ns == UINT64_MAX &&
		    same_entry(&object->entry, entry)) {
			*hint = at + 1;
			return object;
		}
	}
	return NULL;
}

/* Whether the process still has the bytes we know under that entry. */
static int is_same(const struct el_jit_objects *objects, struct el_jit_look *look,
		   const struct el_jit_object *object, bool *ret)
{
	uint8_t *bytes;
	int err;

	*ret = true;
	if (!object->object)
		return 0;
	err = read_bytes(objects, look, &object->entry, &bytes);
	if (err == -ETIME)
		look->unfinished = true;
	if (err)
		return err == -ENOMEM ? err : 0;
	*ret = (el_hash_bytes(0, bytes, object->entry.symfile_size) | 1) == object->hash;
	free(bytes);
	return 0;
}

static int take_entry(struct el_jit_objects *objects, struct el_jit_look *look,
		      const struct el_gdbjit_entry *entry, bool may_have_moved, size_t *hint)
{
	struct el_jit_object *object = find_live(objects, look->list, entry, hint);
	bool same = true;
	int err;

	if (object && may_have_moved) {
		err = is_same(objects, look, object, &same);
		if (err)
			return err;
	}
	if (object && same) {
		object->seen = objects->look;
		return 0;
	}
	if (object)
		end(objects, object, look->now_ns);
	return add(objects, look, entry);
}

int el_jit_objects_look(struct el_jit_objects *objects, struct el_jit_look *look)
{
	size_t n_moved = first_unmoved(look), hint = 0;
	int err = 0;

	objects->look++;
	look->unfinished = false;
	/* Oldest first, so that `all` is in the order of registration. */
	for (size_t i = look->now->entries.n; i-- > 0 && !err;) {
		if (is_late(look)) {
			look->unfinished = true;
			break;
		}
		err = take_entry(objects, look, &look->now->entries.at[i], i < n_moved, &hint);
	}
	if (!err && !look->unfinished && look->now->complete)
		for (size_t i = 0; i < objects->all.n; i++) {
			struct el_jit_object *object = objects->all.at[i];

			if (object->list == look->list && object->end_ns == UINT64_MAX &&
			    object->seen != objects->look)
				end(objects, object, look->now_ns);
		}
	forget_ended(objects);
	return err;
}

struct adding {
	struct el_jit_objects *objects;
	struct el_jit_object *object;
	size_t n;
};

static void add_range(void *context, uint64_t start, uint64_t end)
{
	struct adding *adding = context;
	struct el_jit_range range = {.start = start, .end = end, .object = adding->object};

	if (start < end && adding->n++ < EL_JIT_RANGES_MAX)
		(void)el_vec_push(&adding->objects->ranges, range); /* short of memory: a miss */
}

static int by_start(const void *a, const void *b)
{
	const struct el_jit_range *left = a, *right = b;

	return (left->start > right->start) - (left->start < right->start);
}

static void sort_ranges(struct el_jit_objects *objects)
{
	uint64_t reach = 0;

	objects->ranges_stale = false;
	objects->ranges.n = 0;
	for (size_t i = 0; i < objects->all.n; i++) {
		struct adding adding = {objects, objects->all.at[i], 0};

		if (adding.object->object)
			el_object_each_code(adding.object->object, add_range, &adding);
	}
	if (objects->ranges.n)
		qsort(objects->ranges.at, objects->ranges.n, sizeof(*objects->ranges.at), by_start);
	for (size_t i = 0; i < objects->ranges.n; i++) {
		if (objects->ranges.at[i].end > reach)
			reach = objects->ranges.at[i].end;
		objects->ranges.at[i].reach = reach;
	}
}

/* The first range that begins behind `addr`. */
static size_t ranges_behind(const struct el_jit_objects *objects, uint64_t addr)
{
	return el_partition(objects->ranges.n, i, objects->ranges.at[i].start <= addr);
}

struct el_jit_object *el_jit_objects_find(struct el_jit_objects *objects, uint64_t addr,
					  uint64_t time_ns, bool *ret_other)
{
	struct el_jit_object *best = NULL;

	if (objects->ranges_stale)
		sort_ranges(objects);
	*ret_other = false;
	for (size_t i = ranges_behind(objects, addr);
	     i-- > 0 && objects->ranges.at[i].reach > addr;) {
		struct el_jit_object *object = objects->ranges.at[i].object;

		if (objects->ranges.at[i].end <= addr)
			continue;
		if (time_ns ? time_ns < object->begin_ns || time_ns >= object->end_ns
			    : object->end_ns != UINT64_MAX) {
			*ret_other = true;
			continue;
		}
		if (!best || object->begin_ns >= best->begin_ns)
			best = object;
	}
	return best;
}
