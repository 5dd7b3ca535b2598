/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state behind parser.h, and the life of the two processes: start, wait,
 * renewal of the fetcher, end. Private to parser_client.c and parser_life.c.
 */
#ifndef EL_PARSER_LIFE_H
#define EL_PARSER_LIFE_H

#include "base/buffer.h"
#include "user/symbolize/mirror.h"
#include "user/symbolize/parser_process.h"

struct el_parser {
	struct el_parser_process process;
	unsigned int deadline_ms;
	int requests, upcalls;  /* -1 when the parser is not running */
	pid_t pid, fetcher;     /* 0: not running */
	EL_VEC(pid_t) unreaped; /* killed, held in the kernel */
	struct el_quarantine quarantine;
	struct el_mirror mirror;
	struct el_parser_stats stats;
	struct el_buffer out, in;
};

/* A fetcher and a parser that knows nothing yet. 0 or -errno. */
int el_parser_start(struct el_parser *parser);
/* The parser failed with `err`: ends it and puts what it was at into quarantine. */
void el_parser_bury(struct el_parser *parser, int err);
/*
 * For el_channel.wait: until the requests socket is ready for `events`, 0; or
 * until nothing moved for a deadline, -ETIMEDOUT. Serves upcalls meanwhile.
 */
int el_parser_wait(void *context, short events);
/* Ends both processes. */
void el_parser_stop(struct el_parser *parser);

#endif
