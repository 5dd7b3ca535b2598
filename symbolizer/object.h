/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object is one ELF image, a file or bytes from memory: symbols, function
 * bounds, DWARF functions, inlines and lines, looked up by the object's own
 * addresses. It is shared by all process images that map it. DWARF is read
 * here and nowhere else.
 *
 * Objects live in a set (el_objects) that accounts their bytes and evicts the
 * least recently used indexes; the descriptor or the bytes stay, so that the
 * indexes can be made again. Everything is parsed lazily on the first question.
 * ELF: System V gABI and x86-64 psABI; sections read by pread, never mapped.
 */
#ifndef EL_OBJECT_H
#define EL_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/resolver.h"
#include "symbolizer/symbolizer.h"

struct el_object;
struct el_objects;

int el_objects_new(struct el_resolver_context *context, struct el_objects **ret);
/* All references to its objects must be gone. */
void el_objects_free(struct el_objects *objects);
/* Gives back indexes, least recently used first, down to `limit` bytes. */
void el_objects_evict(struct el_objects *objects, size_t limit);
size_t el_objects_bytes(const struct el_objects *objects);
/* Compile units indexed so far, evicted ones included. */
uint64_t el_objects_units_indexed(const struct el_objects *objects);

/*
 * The object of a file mapping, a reference for the caller: one that is
 * already known by build ID (or device, inode and file times), or a new one
 * from a descriptor asked of the source now. -errno of the source otherwise.
 */
int el_object_of_mapping(struct el_objects *objects, const struct el_image *image,
			 const struct el_mapping *mapping, struct el_object **ret);
/* An object from a descriptor, which is taken in any case. `path` is copied. */
int el_object_from_file(struct el_objects *objects, int fd, const char *path,
			struct el_object **ret);
/*
 * An object from malloc'ed bytes, which are taken in any case. Sections of an
 * ET_REL image have sh_addr = run-time address, symbols are relative to their
 * section, and its .debug_* have been relocated by the caller.
 */
int el_object_from_memory(struct el_objects *objects, void *bytes, size_t size, const char *path,
			  struct el_object **ret);
void el_object_put(struct el_object *object);

/* File offset to the object's address, through PT_LOAD. False: no segment holds it. */
bool el_object_addr_of_offset(struct el_object *object, uint64_t offset, uint64_t *ret);

/* Calls back with every executable section [start, end) of non-zero size (ET_REL) or segment. */
typedef void el_object_range(void *context, uint64_t start, uint64_t end);
int el_object_each_code(struct el_object *object, el_object_range *each, void *context);

/*
 * Functions, inline chain and lines of an address as sampled: applies the pc
 * kind, fills everything of `found`, its miss included. 0 (then found->frames
 * may still be empty), or -ENOMEM. Strings stay valid until the object's next
 * lookup or eviction.
 */
int el_object_lookup(struct el_object *object, uint64_t addr, enum el_pc pc,
		     struct el_found *found);

#endif
