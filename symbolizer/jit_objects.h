/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code objects of one image's JIT lists, each with the time it lived.
 * Lists are only seen now and then: a life begins at the last look that did
 * not show the object and ends at the first that no longer did, so where an
 * address was used again, the sample's time decides, and the younger object
 * when both may be meant. Objects that ended stay within a limit of bytes.
 */
#ifndef EL_JIT_OBJECTS_H
#define EL_JIT_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "symbolizer/gdbjit_list.h"
#include "symbolizer/object.h"

#define EL_JIT_OBJECT_MAX (64u << 20)   /* bytes of one */
#define EL_JIT_OBJECTS_MAX (256u << 20) /* bytes of all that live */
#define EL_JIT_ENDED_MAX (64u << 20)    /* bytes of all that ended */
#define EL_JIT_RANGES_MAX 4096u         /* of one object */

struct el_jit_object {
	uint32_t list; /* which of the image's lists */
	struct el_gdbjit_entry entry;
	uint64_t hash; /* of the bytes as registered */
	uint64_t begin_ns, end_ns;
	struct el_object *object; /* NULL: refused, and not tried again */
	bool is_numba;
	uint32_t seen; /* in the look that goes on */
};

struct el_jit_range {
	uint64_t start, end;
	uint64_t reach; /* the highest end up to here */
	struct el_jit_object *object;
};

struct el_jit_objects {
	struct el_resolver_context *context;
	EL_VEC(struct el_jit_object *) all;
	EL_VEC(struct el_jit_range) ranges; /* by start; may overlap in time and space */
	bool ranges_stale;
	uint64_t live_bytes, ended_bytes;
	uint32_t look;
};

void el_jit_objects_deinit(struct el_jit_objects *objects);

/*
 * Takes a look at a list: reads objects that are new, ends those that are gone
 * (when the list is complete). `before`, if any, is the list at the look before,
 * at `before_ns`. Reading stops at `deadline_ns`; what is left waits. 0 or -ENOMEM.
 */
struct el_jit_look {
	uint32_t list;
	const struct el_gdbjit_memory *memory;
	const struct el_gdbjit_list *now, *before;
	uint64_t now_ns, before_ns, deadline_ns;
	bool unfinished; /* out: the deadline passed first */
};
int el_jit_objects_look(struct el_jit_objects *objects, struct el_jit_look *look);

/* The object that covered `addr` at `time_ns` (0: now), or NULL; *ret_other: at another time. */
struct el_jit_object *el_jit_objects_find(struct el_jit_objects *objects, uint64_t addr,
					  uint64_t time_ns, bool *ret_other);

#endif
