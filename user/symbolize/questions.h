/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the addresses of a window into as few questions to the parser as the
 * truth allows: an address of a file or of the kernel is asked about once, an
 * address of code made at run time at its first and its last time, and at
 * every time in between only if those two differ.
 *
 * Use: el_questions_frame() for every frame, el_questions_ask(), then
 * el_questions_varies() and el_questions_frame_at() where it does,
 * el_questions_ask() again, then el_questions_find().
 */
#ifndef EL_QUESTIONS_H
#define EL_QUESTIONS_H

#include "user/process/process.h"
#include "user/symbolize/known.h"
#include "user/symbolize/parser.h"

/* An address in code that may change, and when it was sampled. */
struct el_span {
	uint64_t addr;
	uint32_t image, pc;
	uint64_t first_ns, last_ns;
	bool varies; /* its answers at both ends differ */
};

struct el_question {
	struct el_known_key key;
	uint32_t image;
	bool timed;
	bool shared; /* a good answer holds for every process that maps the file */
	struct el_query query;
};

struct el_questions {
	struct el_parser *parser;
	struct el_processes *processes;
	struct el_known *lasting; /* files and kernel; kept between windows by the owner */
	struct el_known timed;
	EL_VEC(struct el_span) spans;
	struct el_index by_span;
	EL_VEC(struct el_question) open;
	struct el_index by_open;
};

int el_questions_init(struct el_questions *questions, struct el_parser *parser,
		      struct el_processes *processes, struct el_known *lasting);
void el_questions_deinit(struct el_questions *questions);

/* A frame that samples between the two times have. Image 0: the kernel. 0 or -ENOMEM. */
int el_questions_frame(struct el_questions *questions, uint32_t image, uint64_t addr, enum el_pc pc,
		       uint64_t first_ns, uint64_t last_ns);
int el_questions_frame_at(struct el_questions *questions, uint32_t image, uint64_t addr,
			  enum el_pc pc, uint64_t time_ns);

typedef void el_questions_progress(void *context, size_t done, size_t all);
/* Asks what is open. 0 or -ENOMEM: a parser that fails gives misses. */
int el_questions_ask(struct el_questions *questions, el_questions_progress *progress,
		     void *context);

/* Whether the answers for this frame must be looked up by time. After the first ask. */
bool el_questions_varies(const struct el_questions *questions, uint32_t image, uint64_t addr,
			 enum el_pc pc);

struct el_found_answer {
	const struct el_known *known;
	uint32_t location;                /* of known->answer; 0: nobody asked */
	const struct el_mapping *mapping; /* NULL: none covers it */
};
void el_questions_find(const struct el_questions *questions, uint32_t image, uint64_t addr,
		       enum el_pc pc, uint64_t time_ns, struct el_found_answer *ret);

#endif
