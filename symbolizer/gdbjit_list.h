/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of code objects that a process registers for debuggers, read from
 * outside while it changes (GDB manual, "JIT Compilation Interface"):
 *   descriptor  u32 version = 1, u32 action, u64 relevant entry, u64 first entry
 *   entry       u64 next, u64 previous, u64 address of the object, u64 its size
 * New entries come first. The process may change the list, lie, or be stuck:
 * a walk checks each link both ways and is bounded in entries and time.
 * Only 64-bit processes.
 */
#ifndef EL_GDBJIT_LIST_H
#define EL_GDBJIT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

#define EL_GDBJIT_ENTRIES_MAX 20000u
#define EL_GDBJIT_DESCRIPTOR_SIZE 24u

/* Memory of the process, and the time; as el_source has them. */
struct el_gdbjit_memory {
	void *context;
	ssize_t (*read)(void *context, uint64_t addr, void *bytes, size_t size);
	uint64_t (*now)(void *context); /* ns */
};

struct el_gdbjit_entry {
	uint64_t addr; /* of the entry itself */
	uint64_t next, previous;
	uint64_t symfile_addr, symfile_size;
};

struct el_gdbjit_list {
	uint8_t descriptor[EL_GDBJIT_DESCRIPTOR_SIZE];
	EL_VEC(struct el_gdbjit_entry) entries; /* newest first */
	bool complete; /* walked to its end, and it did not change meanwhile */
};

void el_gdbjit_list_deinit(struct el_gdbjit_list *list);

/*
 * Walks the list at `descriptor`, until `deadline_ns`. 0, also when it is not
 * complete: then its entries were there, but others may be missing. -EINVAL
 * when there is no such descriptor, -errno of the memory, -ENOMEM.
 */
int el_gdbjit_list_read(struct el_gdbjit_list *list, const struct el_gdbjit_memory *memory,
			uint64_t descriptor, uint64_t deadline_ns);
/* True when descriptor and first entry are as in `list`: nothing came or went, as far as can be
 * told. */
bool el_gdbjit_list_unchanged(const struct el_gdbjit_list *list,
			      const struct el_gdbjit_memory *memory, uint64_t descriptor);

#endif
