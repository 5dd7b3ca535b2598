/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's symbols as /proc/kallsyms lists them: "ADDRESS TYPE NAME" and
 * for modules and BPF programs a tab and "[MODULE]" (Linux, kernel/kallsyms.c).
 * Functions only. The list has no sizes: a function ends where the next symbol
 * begins, and nowhere beyond EL_KALLSYMS_FUNCTION_MAX.
 */
#ifndef EL_KALLSYMS_H
#define EL_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"
#include "base/vec.h"

#define EL_KALLSYMS_FUNCTION_MAX (256u << 10)
#define EL_KALLSYMS_BYTES_MAX (256u << 20)

struct el_kallsyms_symbol {
	uint64_t addr;
	uint32_t name;   /* offset in names */
	uint16_t module; /* into modules, 0: the kernel itself */
	uint16_t rank;   /* among names of one address, 0 is best; RANK_END: only ends another */
};

/* Zeroed, then el_kallsyms_init(). */
struct el_kallsyms {
	EL_VEC(struct el_kallsyms_symbol) symbols; /* by address, one each */
	EL_VEC(char) names;
	struct el_strings modules;
	bool hidden; /* all addresses read as zero: the reader may not see them */
};

int el_kallsyms_init(struct el_kallsyms *kallsyms);
void el_kallsyms_deinit(struct el_kallsyms *kallsyms);

/* Reads the file from its begin, in place of what was there; kept on failure. 0 or -errno. */
int el_kallsyms_read(struct el_kallsyms *kallsyms, int fd);
/* Adds the complete lines of `text`; returns the bytes used. Then el_kallsyms_sort(). */
size_t el_kallsyms_parse(struct el_kallsyms *kallsyms, const char *text, size_t size);
void el_kallsyms_sort(struct el_kallsyms *kallsyms);

struct el_kallsyms_answer {
	const char *name;
	const char *module; /* "" for the kernel itself */
	uint64_t start;
};

/* The function at `addr`; false: none. */
bool el_kallsyms_find(const struct el_kallsyms *kallsyms, uint64_t addr,
		      struct el_kallsyms_answer *ret);

#endif
