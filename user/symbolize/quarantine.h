/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which input the parser is busy with, and which inputs it may not touch
 * again: one page shared by the collector and each parser process. An input
 * is an identity that the symbolizer makes; here it is only a number.
 *
 * The collector keeps the list for itself and writes it to the page; from the
 * page it takes nothing but the identity and the step count, so a parser that
 * was taken over can harm no more than what it is asked about.
 */
#ifndef EL_QUARANTINE_H
#define EL_QUARANTINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct el_parsing_page; /* shared, mapped before the fork */

struct el_quarantine {
	struct el_parsing_page *page;
	EL_VEC(uint64_t) refused; /* when the page is full, the oldest makes room */
	uint64_t suspect; /* was being parsed at a death that need not be its fault; 0: none */
	uint64_t n_refused_ever;
};

int el_quarantine_init(struct el_quarantine *quarantine);
void el_quarantine_deinit(struct el_quarantine *quarantine);

/* --- in the parser process --- */

/* Says that `identity` is about to be parsed; true: refused. 0 says that nothing is. */
bool el_parsing_begin(struct el_parsing_page *page, uint64_t identity);
/* A step was made: the deadline begins anew. */
void el_parsing_progress(struct el_parsing_page *page);

/* --- in the collector --- */

/* Grows while the parser gets on with its work. */
uint64_t el_quarantine_steps(const struct el_quarantine *quarantine);
/*
 * A parser has died. `guilty`: by its own fault (a crash, a hang), and what it
 * was parsing is refused from now on; otherwise (somebody killed it) only at
 * the second time in a row. True when something new is refused.
 */
bool el_quarantine_on_death(struct el_quarantine *quarantine, bool guilty);

#endif
