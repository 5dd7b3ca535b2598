/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object from the inside, for object.c (what it knows), objects.c (the set
 * it lives in) and object_debug.c (its separate debug file). Private.
 */
#ifndef EL_OBJECT_PART_H
#define EL_OBJECT_PART_H

#include "symbolizer/dwarf/dwarf.h"
#include "symbolizer/elf.h"
#include "symbolizer/fdes.h"
#include "symbolizer/object.h"
#include "symbolizer/pc.h"
#include "symbolizer/symbols.h"

struct el_object {
	struct el_objects *objects;
	uint32_t references;
	uint64_t stamp; /* of the last use, for eviction */
	/* Identity: build ID, or the file. */
	uint8_t build_id[EL_BUILD_ID_MAX];
	uint8_t build_id_size;
	uint64_t dev, inode, mtime_ns;       /* as fstat told */
	uint32_t mapped_major, mapped_minor; /* as the mapping told */
	uint64_t mapped_inode;
	char *path; /* as given; NULL unknown */
	uint64_t built_ns;
	bool is_file;
	/* To ask for descriptors again. */
	struct el_image image;
	struct el_mapping mapping; /* its path is `path` */
	bool has_mapping;
	/* Parsed lazily. */
	bool read;
	int read_err;
	struct el_elf elf;
	bool debug_tried;
	struct el_elf debug; /* separate debug file; bytes.fd -1: none */
	bool has_debug;
	/* Given back by eviction. */
	bool dwarf_tried, symbols_read;
	struct el_dwarf *dwarf;
	struct el_symbols symbols;
	struct el_fdes fdes;
	struct el_pc_cache *pcs;
	/* Strings of the last answer. */
	char *readable;
	char made_name[32];
};

struct el_objects {
	struct el_resolver_context *context;
	EL_VEC(struct el_object *) list;
	uint64_t clock;
	uint64_t units_before; /* indexed by DWARF readers that are gone */
};

/* Looks for the separate debug file, once. */
void el_object_find_debug(struct el_object *object);
void el_object_forget_indexes(struct el_object *object);
size_t el_object_bytes(const struct el_object *object);

#endif
