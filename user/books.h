/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The accounts of a recording: what the kernel counted, what was delivered,
 * what the parser lost, written into each profile as counters. Over several
 * windows each profile gets its own share:
 *   kept + carried in = Σ weights in the profile + carried out
 * where carried is what the kernel had kept but no profile had taken yet.
 */
#ifndef EL_BOOKS_H
#define EL_BOOKS_H

#include "user/profile/profile.h"
#include "user/sampling/sampler.h"
#include "user/symbolize/join.h"
#include "user/symbolize/parser.h"

struct el_books {
	bool clock; /* weights are ns of CPU */
	struct el_sampler_counts sampler;
	struct el_join_counts join;
	struct el_parser_stats parser;
	struct el_symbolizer_stats symbolizer; /* of today's parser */
};

/* Writes what happened since the last call into `profile`. */
int el_books_write(struct el_books *books, struct el_sampler *sampler, const struct el_join *join,
		   struct el_parser *parser, struct el_profile *profile);

#endif
