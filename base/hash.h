/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 64-bit hashing for in-memory tables. Not for anything an attacker can gain
 * from colliding: tables fed by a profiled process bound their chains.
 */
#ifndef EL_BASE_HASH_H
#define EL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t el_hash_u64(uint64_t seed, uint64_t value)
{
	uint64_t h = (seed ^ value) * 0x9e3779b97f4a7c15ull;

	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93ull;
	return h ^ (h >> 32);
}

static inline uint64_t el_hash_bytes(uint64_t seed, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	uint64_t h = seed ^ size;
	uint64_t word;

	for (; size >= 8; size -= 8, at += 8) {
		memcpy(&word, at, 8);
		h = el_hash_u64(h, word);
	}
	word = 0;
	memcpy(&word, at, size);
	return el_hash_u64(h, word);
}

#endif
