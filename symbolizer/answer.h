/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes what resolvers found into an answer's tables, each object and each
 * function once. Private to the symbolizer.
 */
#ifndef EL_ANSWER_H
#define EL_ANSWER_H

#include "base/index.h"
#include "symbolizer/resolver.h"

struct el_answer_writer {
	struct el_answer *answer;
	struct el_index objects;
	struct el_index functions;
};

/* Takes over what the answer already holds. 0 or -ENOMEM. */
int el_answer_writer_init(struct el_answer_writer *writer, struct el_answer *answer);
void el_answer_writer_deinit(struct el_answer_writer *writer);
/* Appends the answer to one query. 0 or -ENOMEM. */
int el_answer_writer_add(struct el_answer_writer *writer, const struct el_place *place,
			 const struct el_found *found);

#endif
