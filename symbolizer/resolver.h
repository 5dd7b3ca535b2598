/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plug-in interface of the symbolizer. One resolver knows one kind of
 * code (the kernel, ELF files, the GDB JIT list, perf maps); the table in
 * resolvers.c lists them, its order is the precedence, and the first that
 * claims an address answers it. A resolver sees one image through its state
 * and gets bytes from the context's source only.
 *
 * Lifetime: a state lives from attach to detach and dies before its target
 * and the context. Every string a resolver puts into an answer stays valid
 * until the next call of that resolver; the symbolizer copies it at once.
 */
#ifndef EL_RESOLVER_H
#define EL_RESOLVER_H

#include "base/vec.h"
#include "symbolizer/symbolizer.h"

struct el_objects;         /* object.h */
struct el_jit_descriptors; /* jit_descriptor.h */

/* What all resolvers of one symbolizer share. */
struct el_resolver_context {
	struct el_source source;
	struct el_objects *objects;
	struct el_jit_descriptors *jit_descriptors; /* shared by the states of resolver_gdbjit.c */
	struct el_symbolizer_stats stats;           /* resolvers count into it */
	bool no_skid;
};

/* CLOCK_MONOTONIC ns, as the user of the symbolizer tells the time. */
uint64_t el_resolver_now_ns(const struct el_resolver_context *context);

/* One image as its resolvers see it. */
struct el_resolver_target {
	struct el_image image;
	bool ended;                         /* dead: its memory is not read again */
	EL_VEC(struct el_mapping) mappings; /* in order of arrival; paths owned by the symbolizer */
};

/* Where an address is. */
struct el_place {
	uint64_t addr;
	uint64_t time_ns;                 /* of the sample; 0 unknown */
	const struct el_mapping *mapping; /* NULL: none covers it */
	enum el_pc pc;
};

/* One function of an answer, real or inlined. */
struct el_found_frame {
	const char *name;        /* readable; NULL: system_name is it */
	const char *system_name; /* as in the object; NULL: name is it */
	const char *file;        /* of the line; NULL unknown */
	uint32_t start_line;     /* of the function, when it begins in `file`; 0 unknown */
	uint32_t line;
	uint32_t column;
	uint8_t code; /* enum el_code */
	bool wrapper;
};

/* An answer in the making. Reset before every question; zeroed is empty. */
struct el_found {
	const char *object_path; /* NULL: the path of the mapping */
	const uint8_t *build_id;
	uint8_t build_id_size;
	uint8_t code; /* enum el_code of the object */
	bool has_lines;
	uint64_t built_ns;
	uint64_t addr;                        /* in the object's own terms */
	uint16_t miss;                        /* enum el_miss */
	uint16_t flags;                       /* enum el_location_flags */
	EL_VEC(struct el_found_frame) frames; /* innermost inline first */
};

void el_found_reset(struct el_found *found);

struct el_resolver {
	const char *name;
	/* The image is new: makes the state. Nothing is read yet. 0 or -errno. */
	int (*attach)(struct el_resolver_context *context, const struct el_resolver_target *target,
		      void **ret);
	/* Optional. The last of the target's mappings is new. 0 or -errno. */
	int (*map)(void *state, const struct el_mapping *mapping);
	/* Optional. Reads what changes in a living process; cheap when nothing did. 0 or -errno. */
	int (*refresh)(void *state);
	/*
	 * True: claimed, `found` is the answer. False: not mine; it may then
	 * set found->miss (and object fields), which stay unless a later
	 * resolver claims the address or says more.
	 */
	bool (*resolve)(void *state, const struct el_place *place, struct el_found *found);
	void (*detach)(void *state);
};

/* resolvers.c: the table, NULL-terminated. */
extern const struct el_resolver *const el_resolvers[];
#define EL_RESOLVERS_MAX 8

extern const struct el_resolver el_resolver_kernel;  /* resolver_kernel.c */
extern const struct el_resolver el_resolver_gdbjit;  /* resolver_gdbjit.c */
extern const struct el_resolver el_resolver_elf;     /* resolver_elf.c */
extern const struct el_resolver el_resolver_perfmap; /* resolver_perfmap.c */

#endif
