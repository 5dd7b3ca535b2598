/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one way for names and source text to reach an output. They come from
 * profiled programs: they may hold terminal commands, broken UTF-8, or
 * characters that reorder what is around them. Printable text passes as it is;
 * a byte that is not text becomes \xNN, a code point that must not be shown
 * raw \u{N}. Knows nothing of reports.
 */
#ifndef EL_REPORT_ESCAPE_H
#define EL_REPORT_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buffer.h"

struct el_escape_options {
	bool expand_tabs;     /* to columns of 8, as in source text; else a tab is \x09 */
	unsigned int columns; /* cut there, marked by an ellipsis; 0: never */
};

/* Appends the escaped text; returns the terminal columns it takes. NULL options: names in full. */
size_t el_escape_text(struct el_buffer *out, const char *text, size_t size,
		      const struct el_escape_options *options);

/* The columns el_escape_text() would take. */
size_t el_escape_width(const char *text, size_t size, const struct el_escape_options *options);

/* A name straight to a stream, for messages; returns what ferror() says. */
int el_escape_write(FILE *out, const char *text, size_t size);

/* As the inside of a JSON string (RFC 8259): what is not text becomes a literal \xNN, so that the
 * result is always valid UTF-8. */
void el_escape_json(struct el_buffer *out, const char *text, size_t size);

/* A byte sequence of UTF-8 (RFC 3629: no overlong forms, surrogates or values past 0x10ffff): its
 * length 1 to 4 and the code point, or 0 when the first byte does not start one. */
size_t el_utf8_decode(const char *text, size_t size, uint32_t *ret);

#endif
