/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the memory of a process with a JIT list: links, objects, their
 * ELF and DWARF, and names, asked about through the symbolizer. libFuzzer.
 * The descriptor is at the first byte; memory begins at address 0x10000.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/jit_objects.h"
#include "symbolizer/numba_name.h"
#include "symbolizer/resolver.h"

#define BASE 0x10000ull

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

struct memory {
	const uint8_t *bytes;
	size_t size;
};

static ssize_t read_bytes(void *context, uint64_t addr, void *bytes, size_t size)
{
	const struct memory *memory = context;
	uint64_t off = addr - BASE;

	if (addr < BASE || off >= memory->size)
		return -EFAULT;
	if (size > memory->size - off)
		size = memory->size - off;
	memcpy(bytes, memory->bytes + off, size);
	return size;
}

static uint64_t now(void *context)
{
	(void)context;
	return 1;
}

static void ask(struct el_jit_objects *objects, uint64_t addr)
{
	struct el_found found = {0};
	struct el_numba_name name;
	struct el_jit_object *object;
	bool other;

	object = el_jit_objects_find(objects, addr, 2, &other);
	if (object && !el_object_lookup(object->object, addr, EL_PC_LATE, &found))
		for (size_t i = 0; i < found.frames.n; i++)
			if (found.frames.at[i].system_name)
				el_numba_name_parse(found.frames.at[i].system_name, &name);
	el_vec_deinit(&found.frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct memory memory = {bytes, size};
	struct el_gdbjit_memory reader = {.context = &memory, .read = read_bytes, .now = now};
	struct el_resolver_context context = {0};
	struct el_jit_objects objects = {.context = &context};
	struct el_gdbjit_list list = {0};
	struct el_jit_look look = {
		.memory = &reader, .now = &list, .now_ns = 1, .deadline_ns = UINT64_MAX};

	if (el_objects_new(&context, &context.objects))
		return 0;
	if (!el_gdbjit_list_read(&list, &reader, BASE, UINT64_MAX) &&
	    !el_jit_objects_look(&objects, &look)) {
		ask(&objects, 0x7f0000001000);
		for (size_t i = 0; i < objects.ranges.n && i < 64; i++) {
			ask(&objects, objects.ranges.at[i].start);
			ask(&objects, objects.ranges.at[i].end - 1);
		}
	}
	el_jit_objects_deinit(&objects);
	el_gdbjit_list_deinit(&list);
	el_objects_free(context.objects);
	return 0;
}
