/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process made of an array, for tests of the JIT list: its memory, a mapped
 * file with the descriptor in it, and code objects written by elf_writer. Time
 * stands still unless a test moves it.
 */
#ifndef EL_TEST_JIT_WORLD_H
#define EL_TEST_JIT_WORLD_H

#include "symbolizer/gdbjit_list.h"
#include "symbolizer/symbolizer.h"

#define WORLD_BASE 0x10000000ull /* address of the memory's first byte */
#define WORLD_SIZE (1u << 20)
#define WORLD_CODE 0x7f0000000000ull /* anonymous executable memory, 16 MiB */
#define WORLD_CODE_MAPPING 2
#define WORLD_FILE 0x400000ull /* where the file with the descriptor is mapped */

struct jit_world {
	uint8_t memory[WORLD_SIZE];
	size_t used;
	uint64_t descriptor;
	uint64_t now_ns;
	uint64_t read_costs_ns; /* what each read adds to the time */
	size_t n_reads;
	size_t n_files_opened;
	/* Called after each read, to change the list under the reader. */
	void (*after_read)(struct jit_world *world);
	bool local_symbol; /* of the descriptor: only in .symtab */
	struct el_symbolizer *symbolizer;
	struct el_answer answer;
};

void jit_world_init(struct jit_world *world);
void jit_world_deinit(struct jit_world *world);
struct el_gdbjit_memory jit_world_memory(struct jit_world *world);
/* Space in the memory; its address. */
uint64_t jit_world_place(struct jit_world *world, const void *bytes, size_t size);
void jit_world_poke(struct jit_world *world, uint64_t addr, uint64_t value);
uint64_t jit_world_peek(const struct jit_world *world, uint64_t addr);

/* An object with one function [addr, addr + size): placed and put at the list's head. The entry. */
uint64_t jit_world_register(struct jit_world *world, const char *name, uint64_t addr, size_t size);
uint64_t jit_world_link(struct jit_world *world, uint64_t symfile, uint64_t symfile_size);
void jit_world_unlink(struct jit_world *world, uint64_t entry);

/* A symbolizer with image 1 of this process. */
void jit_world_start_symbolizer(struct jit_world *world);
void jit_world_refresh(struct jit_world *world);
/* The outermost function's name at an address at a time; "" when there is none. */
const char *jit_world_name(struct jit_world *world, uint64_t addr, uint64_t time_ns);
/* The location of the last question. */
const struct el_answer_location *jit_world_location(const struct jit_world *world);

#endif
