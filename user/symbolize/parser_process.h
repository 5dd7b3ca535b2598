/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of the parser process: serves requests over a socket with a
 * symbolizer whose bytes come from the fetcher. Private to this folder; tests
 * put a symbolizer of their own behind the same process.
 */
#ifndef EL_PARSER_PROCESS_H
#define EL_PARSER_PROCESS_H

#include "user/symbolize/parser.h"
#include "user/symbolize/quarantine.h"

/* The functions of symbolizer.h that the parser serves. */
struct el_symbolizer_calls {
	__typeof__(el_symbolizer_new) *new;
	__typeof__(el_symbolizer_add_image) *add_image;
	__typeof__(el_symbolizer_end_image) *end_image;
	__typeof__(el_symbolizer_drop_image) *drop_image;
	__typeof__(el_symbolizer_add_mapping) *add_mapping;
	__typeof__(el_symbolizer_refresh) *refresh;
	__typeof__(el_symbolizer_resolve) *resolve;
	__typeof__(el_symbolizer_evict) *evict;
	__typeof__(el_symbolizer_stats) *stats;
};
extern const struct el_symbolizer_calls el_symbolizer_calls;

/* As el_worker.sockets of the parser process, in this order. */
enum el_parser_socket {
	EL_PARSER_SOCKET_REQUESTS, /* protocol.h */
	EL_PARSER_SOCKET_UPCALLS,  /* a byte asks for a new fetcher, a byte with its socket comes
				      back */
	EL_PARSER_SOCKET_FETCHER,
	EL_N_PARSER_SOCKETS
};

struct el_parser_process {
	struct el_symbolizer_options options;
	const struct el_symbolizer_calls *calls;
	struct el_parsing_page *page;
};

/* Serves until the requests socket closes. `context` is a struct el_parser_process. Never returns.
 */
void el_parser_process_main(void *context) __attribute__((noreturn));

/* el_parser_new() over another symbolizer than ours. `calls` outlives the parser. */
int el_parser_new_over(const struct el_parser_options *options,
		       const struct el_symbolizer_calls *calls, struct el_parser **ret,
		       struct el_error *error);
/* Of the processes now running; for tests that kill them. */
pid_t el_parser_pid(const struct el_parser *parser);
pid_t el_parser_fetcher_pid(const struct el_parser *parser);

#endif
