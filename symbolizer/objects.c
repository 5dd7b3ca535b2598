/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The set of objects: one per build ID or file, shared by all who map it,
 * within limits on bytes and on open descriptors. An object that nobody maps
 * any more stays a while, because the next process will map the same libraries.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbolizer/object_part.h"

#define DESCRIPTORS_MAX 400
#define UNREFERENCED_MAX 128

int el_objects_new(struct el_resolver_context *context, struct el_objects **ret)
{
	struct el_objects *objects = calloc(1, sizeof(*objects));

	if (!objects)
		return -ENOMEM;
	objects->context = context;
	*ret = objects;
	return 0;
}

static void free_object(struct el_object *object)
{
	el_object_forget_indexes(object);
	el_elf_deinit(&object->elf);
	el_elf_deinit(&object->debug);
	free(object->readable);
	free(object->path);
	free(object);
}

void el_objects_free(struct el_objects *objects)
{
	size_t i;

	if (!objects)
		return;
	for (i = 0; i < objects->list.n; i++)
		free_object(objects->list.at[i]);
	el_vec_deinit(&objects->list);
	free(objects);
}

size_t el_objects_bytes(const struct el_objects *objects)
{
	size_t bytes = 0, i;

	for (i = 0; i < objects->list.n; i++)
		bytes += el_object_bytes(objects->list.at[i]);
	return bytes;
}

uint64_t el_objects_units_indexed(const struct el_objects *objects)
{
	uint64_t n = objects->units_before;
	size_t i;

	for (i = 0; i < objects->list.n; i++)
		if (objects->list.at[i]->dwarf)
			n += el_dwarf_units_indexed(objects->list.at[i]->dwarf);
	return n;
}

static void remove_at(struct el_objects *objects, size_t i)
{
	free_object(objects->list.at[i]);
	objects->list.at[i] = objects->list.at[--objects->list.n];
}

/* The least recently used object that `wanted` accepts, or the number of objects. */
static size_t oldest(const struct el_objects *objects, bool (*wanted)(const struct el_object *))
{
	size_t i, found = objects->list.n;

	for (i = 0; i < objects->list.n; i++)
		if (wanted(objects->list.at[i]) &&
		    (found == objects->list.n ||
		     objects->list.at[i]->stamp < objects->list.at[found]->stamp))
			found = i;
	return found;
}

static bool has_indexes(const struct el_object *object)
{
	return object->dwarf || object->symbols.list.n || object->pcs || object->fdes.ready;
}

static bool is_unreferenced(const struct el_object *object)
{
	return !object->references;
}

/* A descriptor that can be asked for again. */
static bool can_close(const struct el_object *object)
{
	return object->elf.bytes.fd >= 0 && object->has_mapping;
}

void el_objects_evict(struct el_objects *objects, size_t limit)
{
	size_t bytes = el_objects_bytes(objects), at;

	while (bytes > limit && (at = oldest(objects, has_indexes)) < objects->list.n) {
		struct el_object *object = objects->list.at[at];
		size_t before = el_object_bytes(object);

		el_object_forget_indexes(object);
		bytes -= before - el_object_bytes(object);
		objects->context->stats.evictions++;
	}
	while (bytes > limit && (at = oldest(objects, is_unreferenced)) < objects->list.n) {
		bytes -= el_object_bytes(objects->list.at[at]);
		remove_at(objects, at);
	}
}

/* Keeps unreferenced objects and descriptors within their limits. */
static void trim(struct el_objects *objects)
{
	size_t n_unreferenced = 0, n_descriptors = 0, i;

	for (i = 0; i < objects->list.n; i++) {
		n_unreferenced += !objects->list.at[i]->references;
		n_descriptors += objects->list.at[i]->elf.bytes.fd >= 0;
	}
	for (; n_unreferenced > UNREFERENCED_MAX; n_unreferenced--)
		remove_at(objects, oldest(objects, is_unreferenced));
	for (; n_descriptors > DESCRIPTORS_MAX; n_descriptors--) {
		i = oldest(objects, can_close);
		if (i == objects->list.n)
			return;
		close(objects->list.at[i]->elf.bytes.fd);
		objects->list.at[i]->elf.bytes.fd = -1;
	}
}

static int reopen(void *context)
{
	struct el_object *object = context;
	const struct el_source *source = &object->objects->context->source;

	if (!object->has_mapping || !source->open_mapping)
		return -EBADF;
	object->mapping.path = object->path ? object->path : "";
	return source->open_mapping(source->context, &object->image, &object->mapping);
}

static int add_object(struct el_objects *objects, const char *path, struct el_object **ret)
{
	struct el_object *object = calloc(1, sizeof(*object));

	if (!object)
		return -ENOMEM;
	object->elf.bytes.fd = object->debug.bytes.fd = -1;
	object->objects = objects;
	object->references = 1;
	object->stamp = ++objects->clock;
	object->path = path ? strdup(path) : NULL;
	if ((path && !object->path) || el_vec_push(&objects->list, object)) {
		free(object->path);
		free(object);
		return -ENOMEM;
	}
	objects->context->stats.objects++;
	*ret = object;
	return 0;
}

static struct el_object *reference(struct el_object *object)
{
	object->references++;
	object->stamp = ++object->objects->clock;
	return object;
}

static struct el_object *find_mapped(struct el_objects *objects, const struct el_mapping *mapping)
{
	size_t i;

	for (i = 0; i < objects->list.n; i++) {
		struct el_object *object = objects->list.at[i];

		if (mapping->build_id_size) {
			if (object->build_id_size == mapping->build_id_size &&
			    !memcmp(object->build_id, mapping->build_id, mapping->build_id_size))
				return object;
		} else if (mapping->inode && object->mapped_inode == mapping->inode &&
			   object->mapped_major == mapping->dev_major &&
			   object->mapped_minor == mapping->dev_minor &&
			   object->elf.bytes.fd >= 0) {
			/* Our descriptor keeps the inode from being used again. */
			return object;
		}
	}
	return NULL;
}

static struct el_object *find_file(struct el_objects *objects, const struct stat *st)
{
	uint64_t mtime_ns = st->st_mtim.tv_sec * 1000000000ull + st->st_mtim.tv_nsec;
	size_t i;

	for (i = 0; i < objects->list.n; i++) {
		struct el_object *object = objects->list.at[i];

		if (object->is_file && object->dev == st->st_dev && object->inode == st->st_ino &&
		    object->mtime_ns == mtime_ns && object->elf.bytes.size == (uint64_t)st->st_size)
			return object;
	}
	return NULL;
}

int el_object_from_file(struct el_objects *objects, int fd, const char *path,
			struct el_object **ret)
{
	struct el_object *object;
	struct stat st;
	int err;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	object = find_file(objects, &st);
	if (object) {
		close(fd);
		*ret = reference(object);
		return 0;
	}
	err = add_object(objects, path, &object);
	if (err) {
		close(fd);
		return err;
	}
	el_bytes_init_fd(&object->elf.bytes, fd);
	object->elf.bytes.reopen = reopen;
	object->elf.bytes.context = object;
	object->is_file = true;
	object->dev = st.st_dev;
	object->inode = st.st_ino;
	object->mtime_ns = st.st_mtim.tv_sec * 1000000000ull + st.st_mtim.tv_nsec;
	object->built_ns = object->mtime_ns;
	trim(objects);
	*ret = object;
	return 0;
}

int el_object_of_mapping(struct el_objects *objects, const struct el_image *image,
			 const struct el_mapping *mapping, struct el_object **ret)
{
	const struct el_source *source = &objects->context->source;
	struct el_object *object = find_mapped(objects, mapping);
	int fd, err;

	if (object) {
		*ret = reference(object);
		return 0;
	}
	fd = source->open_mapping ? source->open_mapping(source->context, image, mapping) : -ENOENT;
	if (fd < 0)
		return fd;
	err = el_object_from_file(objects, fd, mapping->path, &object);
	if (err)
		return err;
	if (!object->has_mapping) {
		object->has_mapping = true;
		object->image = *image;
		object->mapping = *mapping;
		object->mapping.path = NULL;
	}
	object->mapped_major = mapping->dev_major;
	object->mapped_minor = mapping->dev_minor;
	object->mapped_inode = mapping->inode;
	if (!object->read && mapping->build_id_size <= EL_BUILD_ID_MAX) {
		memcpy(object->build_id, mapping->build_id, mapping->build_id_size);
		object->build_id_size = mapping->build_id_size;
	}
	*ret = object;
	return 0;
}

int el_object_from_memory(struct el_objects *objects, void *bytes, size_t size, const char *path,
			  struct el_object **ret)
{
	struct el_object *object;
	int err = add_object(objects, path, &object);

	if (err) {
		free(bytes);
		return err;
	}
	el_bytes_init_memory(&object->elf.bytes, bytes, size);
	*ret = object;
	return 0;
}

void el_object_put(struct el_object *object)
{
	struct el_objects *objects;
	size_t i;

	if (!object || --object->references)
		return;
	objects = object->objects;
	if (object->is_file) {
		trim(objects);
		return;
	}
	for (i = 0; i < objects->list.n; i++)
		if (objects->list.at[i] == object) {
			remove_at(objects, i);
			return;
		}
}
