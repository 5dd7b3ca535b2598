/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sampled address stands for, in one place (enum el_pc):
 *   exact   the instruction itself;
 *   return  the call before it: address - 1 lies inside the call;
 *   late    a clock's leaf: the interrupt is taken one instruction after the
 *           one that held the pipeline, so address - 1, unless the address
 *           begins the function or was reached by a jump.
 * address - 1 lies inside the previous instruction, which is enough for lines.
 */
#ifndef EL_PC_H
#define EL_PC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/symbolizer.h"

/* Reads code bytes of the object, at most `size`; returns how many. */
typedef size_t el_pc_code(void *context, uint64_t addr, void *bytes, size_t size);

struct el_pc_cache;

void el_pc_cache_free(struct el_pc_cache *cache);

/*
 * Whether a late `addr` inside the function [start, end) stands for the
 * instruction before it. `machine` is an ELF EM_*; `*cache` is made on first
 * use and keeps a few decoded functions.
 */
bool el_pc_is_skid(struct el_pc_cache **cache, uint16_t machine, uint64_t start, uint64_t end,
		   uint64_t addr, el_pc_code *code, void *context);

/* The address that lies inside the call when `addr` is where it returns to, else `addr`. */
static inline uint64_t el_pc_in_call(enum el_pc pc, uint64_t addr)
{
	return pc == EL_PC_RETURN && addr ? addr - 1 : addr;
}

/* For code whose instructions are not known: the address to look up within a function at `start`.
 */
static inline uint64_t el_pc_plain(enum el_pc pc, uint64_t addr, uint64_t start)
{
	return pc != EL_PC_EXACT && addr > start ? addr - 1 : addr;
}

#endif
