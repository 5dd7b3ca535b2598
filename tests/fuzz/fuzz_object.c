/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any bytes as an ELF object, asked at addresses of its own
 * choosing. Build with clang -fsanitize=fuzzer,address,undefined; seed it with
 * small programs and with what tests/unit/elf_writer.c makes.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbolizer/object.h"

#define INPUT_MAX (1u << 20)
#define QUESTIONS 64

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void ask(void *context, uint64_t start, uint64_t end)
{
	struct el_object *object = ((void **)context)[0];
	struct el_found *found = ((void **)context)[1];
	uint64_t step = (end - start) / QUESTIONS + 1, addr = start;
	unsigned int i;

	for (i = 0; i < QUESTIONS && addr < end; i++, addr += step) {
		el_found_reset(found);
		if (el_object_lookup(object, addr, i % 3, found))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct el_resolver_context context = {0};
	struct el_found found = {0};
	struct el_object *object = NULL;
	void *both[2];
	int fd;

	if (size > INPUT_MAX || el_objects_new(&context, &context.objects))
		return 0;
	/* A file, because its sections get exact allocations of their own. */
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, bytes, size) == (ssize_t)size &&
	    !el_object_from_file(context.objects, fd, "fuzz", &object)) {
		both[0] = object;
		both[1] = &found;
		if (!el_object_each_code(object, ask, both))
			ask(both, 0, 0x10000);
	}
	el_object_put(object);
	el_objects_free(context.objects);
	el_vec_deinit(&found.frames);
	return 0;
}
