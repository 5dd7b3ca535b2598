/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DWARF 2 to 5 of one object: functions, inline chains and lines by address.
 * Two levels, both lazy: one pass over the unit DIEs gives address -> unit;
 * the first question inside a unit gives, in one pass over its DIEs, sorted
 * segments -> scope and, in one run of its line program, sorted rows.
 *
 * This is the only header its users need; the parts talk through part.h.
 * Nothing in the sections is trusted: every read is bounded, every loop ends
 * with the section, and what an index may take is limited.
 */
#ifndef EL_DWARF_H
#define EL_DWARF_H

#include "symbolizer/elf.h"
#include "symbolizer/resolver.h"

struct el_dwarf;

/* Reads no more than which sections there are. -ENOENT: no .debug_info. */
int el_dwarf_new(struct el_elf *elf, struct el_dwarf **ret);
void el_dwarf_free(struct el_dwarf *dwarf);

struct el_dwarf_answer {
	bool has_unit;     /* a unit claims the address */
	bool has_function; /* frames were added */
	bool split;        /* the unit's DIEs are in a .dwo file */
	bool borrowed;     /* the row said line 0 */
	bool is_cxx;       /* the unit is C++ */
};

/*
 * Appends the frames of an address, innermost first, to `found`. Without a
 * function but with a row, one frame without a name is appended. 0 or -ENOMEM.
 * Strings stay valid until the next lookup.
 */
int el_dwarf_lookup(struct el_dwarf *dwarf, uint64_t addr, struct el_found *found,
		    struct el_dwarf_answer *ret);

size_t el_dwarf_bytes(const struct el_dwarf *dwarf);
uint64_t el_dwarf_units_indexed(const struct el_dwarf *dwarf);

#endif
