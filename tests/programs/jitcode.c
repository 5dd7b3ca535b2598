/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs code it made at run time, in memory without a file, until it is
 * killed; and offers a list of JIT objects to debuggers (GDB's JIT interface,
 * GDB manual "JIT Interface") that is hostile in the way asked for.
 * Usage: jitcode none|cycle|long|huge|garbage|nowhere [THREAD-NAME]
 * Prints "ready ADDRESS SIZE" of the code, hexadecimal as in a perf map.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

struct jit_code_entry {
	struct jit_code_entry *next, *prev;
	const char *symfile_addr;
	uint64_t symfile_size;
};

struct jit_descriptor {
	uint32_t version, action_flag;
	struct jit_code_entry *relevant_entry, *first_entry;
};

extern struct jit_descriptor __jit_debug_descriptor;
struct jit_descriptor __jit_debug_descriptor = {.version = 1};

#if defined(__x86_64__)
/* sub $1,%rdi; jne back; ret */
static const unsigned char code[] = {0x48, 0x83, 0xef, 0x01, 0x75, 0xfa, 0xc3};
#else
/* subs x0,x0,#1; b.ne back; ret */
static const unsigned char code[] = {0x00, 0x04, 0x00, 0xf1, 0xe1, 0xff,
				     0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6};
#endif

static char noise[1 << 20];

static struct jit_code_entry *entries(size_t n)
{
	struct jit_code_entry *list = calloc(n, sizeof(*list));

	for (size_t i = 0; list && i < n; i++) {
		list[i].next = i + 1 < n ? &list[i + 1] : NULL;
		list[i].prev = i ? &list[i - 1] : NULL;
		list[i].symfile_addr = noise;
		list[i].symfile_size = sizeof(noise);
	}
	return list;
}

static struct jit_code_entry *hostile_list(const char *how)
{
	struct jit_code_entry *list;

	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (char)(i * 2654435761u >> 13);
	if (!strcmp(how, "none"))
		return NULL;
	list = entries(strcmp(how, "long") ? 3 : 1 << 20);
	if (!list)
		exit(1);
	if (!strcmp(how, "cycle")) {
		list[2].next = list;
		list[0].prev = &list[2];
	} else if (!strcmp(how, "huge")) {
		for (int i = 0; i < 3; i++)
			list[i].symfile_size = ~0ull >> 1;
		memcpy(noise, "\177ELF\2\1\1", 7);
	} else if (!strcmp(how, "garbage")) {
		memcpy(noise, "\177ELF\2\1\1", 7);
	} else if (!strcmp(how, "nowhere")) {
		list[1].symfile_addr = (const char *)8;
		list[2].next = (struct jit_code_entry *)0xdeadbeef000;
	}
	return list;
}

int main(int argc, char **argv)
{
	void (*run)(uint64_t n);
	void *memory;

	__jit_debug_descriptor.first_entry = hostile_list(argc > 1 ? argv[1] : "none");
	if (argc > 2)
		prctl(PR_SET_NAME, argv[2]);
	memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	memcpy(memory, code, sizeof(code));
	__builtin___clear_cache(memory, (char *)memory + sizeof(code));
	memcpy(&run, &memory, sizeof(run));
	printf("ready %lx %zx\n", (unsigned long)memory, sizeof(code));
	fflush(stdout);
	for (;;)
		run(1 << 20);
}
