/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers of the parser that are kept: what an address of a file, of the
 * kernel, or of code at a certain time turned out to be. A row for every
 * question asked; whole tables are cleared, single rows are not.
 */
#ifndef EL_KNOWN_H
#define EL_KNOWN_H

#include "base/index.h"
#include "symbolizer/symbolizer.h"

/* What makes two questions the same one. Compared by bytes: zero it first. */
struct el_known_key {
	uint64_t addr;    /* in the process; with a build ID: in the file */
	uint64_t time_ns; /* 0: the answer is the same at all times */
	uint32_t image;   /* 0 with a build ID, and for the kernel */
	uint32_t mapping; /* 0 with a build ID */
	uint32_t pc;      /* enum el_pc */
	uint32_t build_id_size;
	uint8_t build_id[EL_BUILD_ID_MAX];
	uint32_t reserved;
};
_Static_assert(sizeof(struct el_known_key) == 56, "keys have no padding");

struct el_known_row {
	struct el_known_key key;
	uint32_t location; /* of the answer */
};

struct el_known {
	struct el_answer answer;
	EL_VEC(struct el_known_row) rows;
	struct el_index by_key;
};

int el_known_init(struct el_known *known);
void el_known_deinit(struct el_known *known);

/* The location, or EL_INDEX_NONE. */
uint32_t el_known_find(const struct el_known *known, const struct el_known_key *key);
int el_known_add(struct el_known *known, const struct el_known_key *key, uint32_t location);
/* Whether two locations say the same: object, functions, files, lines. */
bool el_known_same(const struct el_known *known, uint32_t a, uint32_t b);
size_t el_known_size(const struct el_known *known);

#endif
