/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds of functions from unwind information: the sorted table of
 * .eh_frame_hdr (LSB Core, "DWARF Extensions"), or .eh_frame read through
 * once where that table is missing. Nothing of the CFI itself is read here.
 */
#ifndef EL_FDES_H
#define EL_FDES_H

#include "base/vec.h"
#include "symbolizer/elf.h"

struct el_fde {
	uint64_t start, end;
};

struct el_fdes {
	bool ready;
	uint64_t header_addr;
	struct el_piece header;
	uint64_t table_off; /* in the header */
	uint64_t n;
	EL_VEC(struct el_fde) list; /* sorted; only without a header */
};

/* Finds the tables. 0 also when there are none. */
int el_fdes_read(struct el_fdes *fdes, struct el_elf *elf);
void el_fdes_deinit(struct el_fdes *fdes);
/* The last FDE that starts at or before `addr`; it may end before it. False: none. */
bool el_fdes_before(struct el_fdes *fdes, struct el_elf *elf, uint64_t addr, struct el_fde *ret);
size_t el_fdes_bytes(const struct el_fdes *fdes);

#endif
