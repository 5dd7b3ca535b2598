/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The annotated source as a model: sections of one function each, which of
 * their lines are worth the first screen, and the functions without lines.
 * Made once, printed as text (lines_text.c) or JSON (lines_json.c).
 *
 * A line of the user's own is ranked by what it and the libraries under it
 * cost (el_view_row.own), so that the line that calls a library is found; a
 * library's line by its self time.
 */
#ifndef EL_REPORT_LINES_H
#define EL_REPORT_LINES_H

#include "user/report/call.h"
#include "user/report/sources.h"

struct el_section_line {
	uint32_t line;
	uint32_t first_row, n_rows; /* into order: the view's rows on this line */
	uint64_t flat, cum, weight; /* weight: what it is ranked by */
	uint64_t n_flat;            /* samples behind flat */
	bool chosen;                /* worth the first screen */
	bool shown;                 /* chosen, or close enough to one that is */
};

/* The lines of one function in one file. */
struct el_section {
	uint32_t file;                /* string */
	uint32_t function;            /* that function, or the first of those with that name */
	uint32_t first_line, n_lines; /* into lines, by line number */
	uint32_t n_chosen;
	bool mine;
	int8_t text; /* 1: the source can be read, -1: it cannot, 0: not tried */
	uint64_t flat, weight;
	uint64_t inlined; /* library code inlined into its lines */
};

struct el_annotated {
	const struct el_report_call *call;
	struct el_view *view;      /* by line */
	struct el_view *functions; /* by function */
	struct el_sources *sources;
	char *folder;                       /* the current one; "" unknown */
	EL_VEC(struct el_section) sections; /* the user's own first, then largest first */
	EL_VEC(struct el_section_line) lines;
	EL_VEC(uint32_t) order;   /* rows of the view, as sections and lines refer to them */
	EL_VEC(uint32_t) inlined; /* library rows inlined into the user's own code, largest first */
	bool *in_section;         /* by function: it has chosen lines */
	bool *has_lines;          /* by function: some line of it is known */
	uint64_t *at_no_line;     /* by function: self time whose line is not known */
	uint64_t own_self;    /* self time of the user's own code with what is inlined into it */
	uint64_t lines_known; /* self time at known lines */
};

int el_annotated_init(const struct el_report_call *call, struct el_annotated *ret);
void el_annotated_deinit(struct el_annotated *lines);

/* Marks the lines that are chosen and shown; 0 or -ENOMEM. Part of el_annotated_init(). */
int el_annotated_choose(struct el_annotated *lines);

/* Lines from..to to print next, beginning the search at *cursor (0 at first); false at the end. */
bool el_section_range(const struct el_annotated *lines, const struct el_section *section,
		      uint32_t *cursor, uint32_t *ret_from, uint32_t *ret_to);
/* The line's row in the section, or NULL when nothing was sampled there. */
const struct el_section_line *el_section_line_at(const struct el_annotated *lines,
						 const struct el_section *section, uint32_t line);

/* Wall clock when the code that ran was made: its file's last change, or for code made at run time
 * the start of the recording; UINT64_MAX unknown. A source newer than that is another one. */
uint64_t el_section_built_ns(const struct el_annotated *lines, const struct el_section *section);

int el_annotated_text(const struct el_report_call *call, struct el_buffer *out);
int el_annotated_json(const struct el_report_call *call, struct el_buffer *out);

#endif
