/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser process and its client. The parser holds the symbolizer, opens
 * nothing, and is expendable: when it dies on an input, that input is
 * quarantined and counted, and a new parser gets the images and mappings again.
 *
 * The client mirrors symbolizer.h over a socketpair, so that callers need not
 * know on which side of it they are. One request at a time, each with a deadline.
 */
#ifndef EL_PARSER_H
#define EL_PARSER_H

#include "base/error.h"
#include "symbolizer/symbolizer.h"

struct el_parser;

struct el_parser_options {
	struct el_symbolizer_options symbolizer;
	unsigned int deadline_ms; /* of one request without progress; 0: 20 s */
};

struct el_parser_stats {
	uint64_t parser_restarts, fetcher_restarts, quarantined;
};

/* Forks the fetcher and the parser. Call before anything privileged is opened. */
int el_parser_new(const struct el_parser_options *options, struct el_parser **ret,
		  struct el_error *error);
/* Ends both processes. */
void el_parser_free(struct el_parser *parser);

int el_parser_add_image(struct el_parser *parser, const struct el_image *image);
int el_parser_end_image(struct el_parser *parser, uint32_t image);
int el_parser_drop_image(struct el_parser *parser, uint32_t image);
int el_parser_add_mapping(struct el_parser *parser, uint32_t image,
			  const struct el_mapping *mapping);
int el_parser_refresh(struct el_parser *parser, uint32_t image);
int el_parser_resolve(struct el_parser *parser, uint32_t image, const struct el_query *queries,
		      size_t n, struct el_answer *answer);
int el_parser_evict(struct el_parser *parser, size_t limit);
/* What the symbolizer in the parser counts. A restarted one begins at 0. 0 or -errno. */
int el_parser_symbolizer_stats(struct el_parser *parser, struct el_symbolizer_stats *ret);
void el_parser_stats(const struct el_parser *parser, struct el_parser_stats *ret);

#endif
