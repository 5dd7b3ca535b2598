/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text under construction: our own words by el_text_printf(), everything that
 * came from a profile by the escaping calls, colour only where it was asked
 * for. In memory; errors stick to out.err.
 */
#ifndef EL_REPORT_TEXT_H
#define EL_REPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

enum el_style {
	EL_STYLE_PLAIN,
	EL_STYLE_BOLD,
	EL_STYLE_DIM,
	EL_STYLE_HOT,
	EL_STYLE_WARM,
	EL_STYLE_NOTE,
};

struct el_text {
	struct el_buffer out;
	bool colour;
	bool styled;        /* a style other than plain is on */
	unsigned int width; /* of the terminal; 0: lines are never cut */
};

/* Only for text of our own: names go through el_text_name(). */
__attribute__((format(printf, 2, 3))) void el_text_printf(struct el_text *text, const char *format,
							  ...);
/* Ends the line, without blanks at its end. */
void el_text_end_line(struct el_text *text);
void el_text_style(struct el_text *text, enum el_style style);

/* An escaped name; returns its columns. `columns` as in el_escape_options, 0: in full. */
size_t el_text_name(struct el_text *text, const char *name, unsigned int columns);
/* The same, filled with blanks up to `columns`, and cut there only when the text has a width. */
void el_text_column(struct el_text *text, const char *name, unsigned int columns);
/* A line of source that starts at terminal column `indent`. */
void el_text_source(struct el_text *text, const char *line, size_t size, unsigned int indent);

/* 12345678 as "12,345,678"; `room` of at least 32 bytes. */
const char *el_text_count(uint64_t count, char *room);
/* ns as "4.11s", "12.3ms", "4.0us", "15ns"; `room` of at least 32 bytes. */
const char *el_text_time(uint64_t ns, char *room);
/* A share in percent with one decimal, "<0.1" for the smallest, "" for 0. */
const char *el_text_percent(double percent, char *room);

#endif
