/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out whether an address can have been reached from the instruction
 * before it. x86 has no marks for instructions, so a function is decoded from
 * its start, but only when some bytes look like a jump to the address or like
 * the end of a path right before it; most addresses need no decoding.
 */
#include "symbolizer/pc.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION_MAX (64u << 10)
#define CACHED 8

struct decoded {
	uint64_t start, end;
	uint64_t stamp;
	uint8_t *bytes;
	uint8_t *boundaries; /* one bit a byte: an instruction begins here */
	size_t size;
};

struct el_pc_cache {
	struct decoded functions[CACHED];
	uint64_t clock;
	csh capstone;
	bool has_capstone;
};

static void forget(struct decoded *function)
{
	free(function->bytes);
	free(function->boundaries);
	*function = (struct decoded){0};
}

void el_pc_cache_free(struct el_pc_cache *cache)
{
	size_t i;

	if (!cache)
		return;
	for (i = 0; i < CACHED; i++)
		forget(&cache->functions[i]);
	if (cache->has_capstone)
		cs_close(&cache->capstone);
	free(cache);
}

/* The function's bytes, cached. */
static struct decoded *function_of(struct el_pc_cache *cache, uint64_t start, uint64_t end,
				   el_pc_code *code, void *context)
{
	struct decoded *function = &cache->functions[0];
	size_t i;

	for (i = 0; i < CACHED; i++) {
		struct decoded *at = &cache->functions[i];

		if (at->bytes && at->start == start && at->end == end) {
			at->stamp = ++cache->clock;
			return at;
		}
		if (at->stamp < function->stamp)
			function = at;
	}
	forget(function);
	function->bytes = malloc(end - start);
	if (!function->bytes)
		return NULL;
	function->start = start;
	function->end = end;
	function->stamp = ++cache->clock;
	function->size = code(context, start, function->bytes, end - start);
	return function;
}

static bool decode(struct el_pc_cache *cache, struct decoded *function)
{
	const uint8_t *at = function->bytes;
	size_t left = function->size;
	uint64_t addr = 0, begin;
	cs_insn *instruction;

	if (function->boundaries)
		return true;
	if (!cache->has_capstone && cs_open(CS_ARCH_X86, CS_MODE_64, &cache->capstone) != CS_ERR_OK)
		return false;
	cache->has_capstone = true;
	cs_option(cache->capstone, CS_OPT_SKIPDATA, CS_OPT_ON);
	function->boundaries = calloc(1, function->size / 8 + 1);
	instruction = cs_malloc(cache->capstone);
	if (!function->boundaries || !instruction) {
		free(function->boundaries);
		function->boundaries = NULL;
		if (instruction)
			cs_free(instruction, 1);
		return false;
	}
	while (left) {
		begin = addr;
		if (!cs_disasm_iter(cache->capstone, &at, &left, &addr, instruction))
			break;
		function->boundaries[begin / 8] |= 1 << (begin % 8);
	}
	cs_free(instruction, 1);
	return true;
}

static bool begins(const struct decoded *function, size_t off)
{
	return function->boundaries[off / 8] >> (off % 8) & 1;
}

/* Size of the x86 jump with opcode at `off` if it leads to `target`, else 0. */
static size_t x86_jump_to(const struct decoded *function, size_t off, size_t target)
{
	const uint8_t *at = function->bytes + off;
	size_t left = function->size - off, size;
	int32_t distance;

	if (left >= 2 && ((at[0] & 0xf0) == 0x70 || at[0] == 0xeb || (at[0] & 0xfc) == 0xe0)) {
		size = 2;
		distance = (int8_t)at[1];
	} else if (left >= 5 && at[0] == 0xe9) {
		size = 5;
		memcpy(&distance, at + 1, 4);
	} else if (left >= 6 && at[0] == 0x0f && (at[1] & 0xf0) == 0x80) {
		size = 6;
		memcpy(&distance, at + 2, 4);
	} else {
		return 0;
	}
	return off + size + (int64_t)distance == target ? size : 0;
}

/* Size of the instruction that ends right before `target` and never goes on to it, else 0. */
static size_t x86_path_end(const struct decoded *function, size_t target)
{
	const uint8_t *at = function->bytes + target;

	if (target >= 1 && (at[-1] == 0xc3 || at[-1] == 0xf4))
		return 1; /* ret, hlt */
	if (target >= 2 && (at[-2] == 0xeb || (at[-2] == 0x0f && at[-1] == 0x0b)))
		return 2; /* jmp, ud2 */
	if (target >= 2 && at[-2] == 0xff && ((at[-1] & 0xf8) == 0xe0 || (at[-1] & 0xf8) == 0x20))
		return target >= 3 && at[-3] == 0x3e ? 3 : 2; /* jmp through a register or memory */
	if (target >= 5 && at[-5] == 0xe9)
		return 5;
	return 0;
}

/* Branch hints and bnd. */
static bool is_prefix(uint8_t byte)
{
	return byte == 0x2e || byte == 0x3e || byte == 0xf2;
}

static bool x86_is_skid(struct el_pc_cache *cache, struct decoded *function, size_t target)
{
	size_t off, size = x86_path_end(function, target);

	if (size && decode(cache, function) && begins(function, target - size))
		return false;
	for (off = 0; off < function->size; off++) {
		if (!x86_jump_to(function, off, target))
			continue;
		if (!decode(cache, function))
			return true;
		if (begins(function, off) ||
		    (off && is_prefix(function->bytes[off - 1]) && begins(function, off - 1)))
			return false;
	}
	return true;
}

/* A64 (Arm ARM C4.1): B; B.cond; CBZ, CBNZ; TBZ, TBNZ. Returns whether it leads to `target`. */
static bool a64_jump_to(uint32_t word, size_t off, size_t target)
{
	int64_t distance;

	if ((word & 0xfc000000) == 0x14000000)
		distance = (int32_t)(word << 6) >> 6;
	else if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000)
		distance = (int32_t)(word << 8) >> 13;
	else if ((word & 0x7e000000) == 0x36000000)
		distance = (int32_t)(word << 13) >> 18;
	else
		return false;
	return (int64_t)off + distance * 4 == (int64_t)target;
}

static bool a64_is_skid(const struct decoded *function, size_t target)
{
	uint32_t word;
	size_t off;

	if (target >= 4) {
		memcpy(&word, function->bytes + target - 4, 4);
		/* B, BR, RET: nothing goes on from there. */
		if ((word & 0xfc000000) == 0x14000000 || (word & 0xff9ffc1f) == 0xd61f0000)
			return false;
	}
	for (off = 0; off + 4 <= function->size; off += 4) {
		memcpy(&word, function->bytes + off, 4);
		if (a64_jump_to(word, off, target))
			return false;
	}
	return true;
}

bool el_pc_is_skid(struct el_pc_cache **cache, uint16_t machine, uint64_t start, uint64_t end,
		   uint64_t addr, el_pc_code *code, void *context)
{
	struct decoded *function;

	if (addr <= start || addr >= end)
		return false;
	if (end - start > FUNCTION_MAX || (machine != EM_X86_64 && machine != EM_AARCH64))
		return true;
	if (!*cache)
		*cache = calloc(1, sizeof(**cache));
	function = *cache ? function_of(*cache, start, end, code, context) : NULL;
	if (!function || function->size < addr - start)
		return true;
	if (machine == EM_AARCH64)
		return a64_is_skid(function, addr - start);
	return x86_is_skid(*cache, function, addr - start);
}
