/* SPDX-License-Identifier: Apache-2.0 */
/* See jit_descriptor.h. */
#include "symbolizer/jit_descriptor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/index.h"
#include "base/vec.h"
#include "symbolizer/elf.h"

#define NAME "__jit_debug_descriptor" /* with its NUL */
#define CHUNK (256u << 10)
#define PAGE 4096u
#define FILES_MAX (1u << 17)
/* Strings may share their ends, so the name can be found before it is the symbol's. */
#define HITS_MAX 8

/* The next place at or after `off` where the name stands; false: none is left. */
static bool find_name(struct el_elf *elf, const struct el_elf_section *strings, uint64_t *off)
{
	char *chunk = malloc(CHUNK), *hit = NULL;
	uint64_t at = *off;

	while (chunk && at + sizeof(NAME) <= strings->size) {
		size_t size = strings->size - at < CHUNK ? strings->size - at : CHUNK;

		if (el_bytes_read(&elf->bytes, strings->off + at, chunk, size))
			break;
		hit = memmem(chunk, size, NAME, sizeof(NAME));
		if (hit || size < CHUNK)
			break;
		at += size - (sizeof(NAME) - 1);
	}
	if (hit)
		*off = at + (hit - chunk);
	free(chunk);
	return hit;
}

static bool find_symbol(struct el_elf *elf, const struct el_elf_section *table, uint64_t name,
			uint64_t *ret)
{
	size_t n = CHUNK / sizeof(Elf64_Sym);
	Elf64_Sym *symbols = malloc(n * sizeof(*symbols));
	uint64_t at = 0, left = table->size / sizeof(*symbols);
	bool found = false;

	while (symbols && left && !found) {
		size_t now = left < n ? left : n;

		if (el_bytes_read(&elf->bytes, table->off + at, symbols, now * sizeof(*symbols)))
			break;
		for (size_t i = 0; i < now && !found; i++) {
			if (symbols[i].st_name != name || symbols[i].st_shndx == SHN_UNDEF)
				continue;
			*ret = symbols[i].st_value;
			found = true;
		}
		at += now * sizeof(*symbols);
		left -= now;
	}
	free(symbols);
	return found;
}

static bool find_in_table(struct el_elf *elf, const struct el_elf_section *table, uint64_t *ret)
{
	const struct el_elf_section *strings;
	uint64_t off = 0;

	if (table->link >= elf->n_sections)
		return false;
	strings = &elf->sections[table->link];
	if (strings->type != SHT_STRTAB)
		return false;
	for (int hits = 0; hits < HITS_MAX && find_name(elf, strings, &off); hits++, off++)
		if (find_symbol(elf, table, off, ret))
			return true;
	return false;
}

/* The symbol's address in the file's own terms. 0 or -ENOENT. */
static int find_descriptor(struct el_elf *elf, uint64_t *ret)
{
	static const uint32_t types[] = {SHT_DYNSYM, SHT_SYMTAB};

	if (!elf->is_64)
		return -ENOENT;
	for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++)
		for (size_t i = 0; i < elf->n_sections; i++)
			if (elf->sections[i].type == types[t] &&
			    find_in_table(elf, &elf->sections[i], ret))
				return 0;
	return -ENOENT;
}

/* What to add to the file's addresses where it is mapped. False: no segment fits. */
static bool bias_of(const struct el_elf *elf, const struct el_mapping *mapping, uint64_t *ret)
{
	for (size_t i = 0; i < elf->n_segments; i++) {
		const struct el_elf_segment *segment = &elf->segments[i];
		uint64_t first = segment->off & ~(uint64_t)(PAGE - 1);

		if (segment->type != PT_LOAD || !(segment->flags & PF_X) ||
		    mapping->offset < first || mapping->offset - first >= segment->file_size + PAGE)
			continue;
		*ret = mapping->start - mapping->offset + segment->off - segment->addr;
		return true;
	}
	return false;
}

struct file {
	uint64_t identity;
	uint64_t addr;
	int err; /* 0, or -ENOENT */
};

struct el_jit_descriptors {
	uint32_t references;
	EL_VEC(struct file) files;
	struct el_index index;
};

int el_jit_descriptors_new(struct el_jit_descriptors **ret)
{
	struct el_jit_descriptors *descriptors = calloc(1, sizeof(*descriptors));

	if (!descriptors)
		return -ENOMEM;
	descriptors->references = 1;
	*ret = descriptors;
	return 0;
}

void el_jit_descriptors_hold(struct el_jit_descriptors *descriptors)
{
	descriptors->references++;
}

bool el_jit_descriptors_put(struct el_jit_descriptors *descriptors)
{
	if (--descriptors->references)
		return false;
	el_vec_deinit(&descriptors->files);
	el_index_deinit(&descriptors->index);
	free(descriptors);
	return true;
}

static bool same_file(const void *owner, uint32_t position, const void *wanted)
{
	const struct el_jit_descriptors *descriptors = owner;

	return descriptors->files.at[position].identity == *(const uint64_t *)wanted;
}

/* 0: nothing tells the file from others, so nothing is remembered of it. */
static uint64_t identity_of(const struct el_mapping *mapping)
{
	uint64_t device = (uint64_t)mapping->dev_major << 32 | mapping->dev_minor;

	if (mapping->build_id_size)
		return el_hash_bytes(1, mapping->build_id, mapping->build_id_size) | 1;
	if (mapping->inode)
		return el_hash_u64(el_hash_u64(2, mapping->inode), device) | 1;
	return 0;
}

/* Best effort: without it the file is searched again. */
static void remember(struct el_jit_descriptors *descriptors, const struct file *file)
{
	if (!file->identity)
		return;
	if (descriptors->files.n >= FILES_MAX) {
		descriptors->files.n = 0;
		el_index_clear(&descriptors->index);
	}
	if (!el_vec_push(&descriptors->files, *file) &&
	    el_index_add(&descriptors->index, file->identity, descriptors->files.n - 1))
		descriptors->files.n--;
}

/* Opens the mapping's file, searches it when it is not known yet, and places it. */
static int look_into(struct el_jit_descriptors *descriptors, const struct el_source *source,
		     const struct el_image *image, const struct el_mapping *mapping,
		     struct file *file, bool known, uint64_t *ret)
{
	struct el_elf elf = {.bytes.fd = -1};
	int fd = source->open_mapping(source->context, image, mapping);
	uint64_t bias;
	int err;

	if (fd < 0)
		return fd;
	err = el_bytes_init_fd(&elf.bytes, fd);
	if (!err)
		err = el_elf_read(&elf);
	if (!err && !known) {
		file->err = find_descriptor(&elf, &file->addr);
		remember(descriptors, file);
	}
	if (!err)
		err = file->err;
	if (!err && !bias_of(&elf, mapping, &bias))
		err = -ENOENT;
	if (!err)
		*ret = file->addr + bias;
	el_elf_deinit(&elf);
	return err;
}

int el_jit_descriptors_look(struct el_jit_descriptors *descriptors, const struct el_source *source,
			    const struct el_image *image, const struct el_mapping *mapping,
			    uint64_t *ret)
{
	struct file file = {.identity = identity_of(mapping)};
	uint32_t position = EL_INDEX_NONE;
	bool known;
	int err;

	if (!source->open_mapping)
		return -ENOENT;
	if (file.identity)
		position = el_index_find(&descriptors->index, file.identity, same_file, descriptors,
					 &file.identity);
	known = position != EL_INDEX_NONE;
	if (known) {
		file = descriptors->files.at[position];
		if (file.err)
			return file.err;
	}
	if (source->parsing && file.identity && source->parsing(source->context, file.identity))
		return -ENOENT;
	err = look_into(descriptors, source, image, mapping, &file, known, ret);
	if (source->parsing)
		source->parsing(source->context, 0);
	return err;
}
