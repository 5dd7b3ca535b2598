/* SPDX-License-Identifier: Apache-2.0 */
/* See escape.h. Widths follow the East Asian Width property coarsely: by block, not by character.
 */
#include "user/report/escape.h"

#include <stdio.h>

struct range {
	uint32_t first, last;
};

/* Invisible or reordering: C0, C1, bidi controls, zero width, tags, private use. */
static const struct range hidden[] = {
	{0x00, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},       {0x34f, 0x34f},
	{0x61c, 0x61c},      {0x115f, 0x1160}, {0x17b4, 0x17b5},   {0x180b, 0x180f},
	{0x200b, 0x200f},    {0x2028, 0x202e}, {0x2060, 0x206f},   {0x3164, 0x3164},
	{0xe000, 0xf8ff},    {0xfe00, 0xfe0f}, {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
	{0xfff0, 0xfffb},    {0xfffe, 0xffff}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
	{0xe0000, 0x10ffff},
};

static const struct range combining[] = {
	{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x1ab0, 0x1aff},
	{0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe20, 0xfe2f},
};

static const struct range wide[] = {
	{0x1100, 0x115e},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xa960, 0xa97f},
	{0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
	{0xffe0, 0xffe6},   {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff},
	{0x20000, 0x3fffd},
};

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

static bool within(const struct range *ranges, size_t n, uint32_t code)
{
	for (size_t i = 0; i < n && ranges[i].first <= code; i++)
		if (code <= ranges[i].last)
			return true;
	return false;
}

static unsigned int columns_of(uint32_t code)
{
	if (code < 0x300)
		return 1;
	if (within(combining, N_OF(combining), code))
		return 0;
	return within(wide, N_OF(wide), code) ? 2 : 1;
}

size_t el_utf8_decode(const char *text, size_t size, uint32_t *ret)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	const uint8_t *bytes = (const uint8_t *)text;
	uint32_t code;
	size_t n;

	if (!size)
		return 0;
	if (bytes[0] < 0x80) {
		*ret = bytes[0];
		return 1;
	}
	n = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;
	if (bytes[0] < 0xc0 || bytes[0] > 0xf4 || n > size)
		return 0;
	code = bytes[0] & (0xff >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (bytes[i] & 0x3f);
	}
	if (code < smallest[n] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	*ret = code;
	return n;
}

/* What one character becomes. */
struct piece {
	char made[16]; /* the text, when not the input's own */
	const char *text;
	size_t size, columns;
};

/* Takes one character off the front; returns the input bytes used. */
static size_t next_piece(const char *text, size_t size, bool expand_tabs, size_t column,
			 struct piece *ret)
{
	uint32_t code;
	size_t used = el_utf8_decode(text, size, &code);

	ret->text = ret->made;
	if (!used) {
		ret->size = snprintf(ret->made, sizeof(ret->made), "\\x%02x", (uint8_t)*text);
		ret->columns = ret->size;
		return 1;
	}
	if (code == '\t' && expand_tabs) {
		ret->size = 8 - column % 8;
		memset(ret->made, ' ', ret->size);
	} else if (code < 0x80 && within(hidden, N_OF(hidden), code)) {
		ret->size = snprintf(ret->made, sizeof(ret->made), "\\x%02x", code);
	} else if (within(hidden, N_OF(hidden), code)) {
		ret->size = snprintf(ret->made, sizeof(ret->made), "\\u{%x}", code);
	} else {
		ret->text = text;
		ret->size = used;
		ret->columns = columns_of(code);
		return used;
	}
	ret->columns = ret->size;
	return used;
}

/* Whether everything from here on fits into `columns`. */
static bool rest_fits(const char *text, size_t size, bool expand_tabs, size_t column,
		      size_t columns)
{
	struct piece piece;

	for (size_t at = 0; at < size && column <= columns; column += piece.columns)
		at += next_piece(text + at, size - at, expand_tabs, column, &piece);
	return column <= columns;
}

/* Without `out` it only measures. */
static size_t escape(struct el_buffer *out, const char *text, size_t size,
		     const struct el_escape_options *options)
{
	bool expand_tabs = options && options->expand_tabs;
	size_t limit = options ? options->columns : 0;
	bool fits = !limit || rest_fits(text, size, expand_tabs, 0, limit);
	struct piece piece;
	size_t column = 0;

	for (size_t at = 0; at < size;) {
		at += next_piece(text + at, size - at, expand_tabs, column, &piece);
		if (!fits && column + piece.columns > limit - 1) {
			if (out)
				el_buffer_add(out, "…", sizeof("…") - 1);
			return column + 1;
		}
		if (out)
			el_buffer_add(out, piece.text, piece.size);
		column += piece.columns;
	}
	return column;
}

size_t el_escape_text(struct el_buffer *out, const char *text, size_t size,
		      const struct el_escape_options *options)
{
	return escape(out, text, size, options);
}

size_t el_escape_width(const char *text, size_t size, const struct el_escape_options *options)
{
	return escape(NULL, text, size, options);
}

int el_escape_write(FILE *out, const char *text, size_t size)
{
	struct piece piece;

	for (size_t at = 0; at < size;) {
		at += next_piece(text + at, size - at, false, 0, &piece);
		fwrite(piece.text, 1, piece.size, out);
	}
	return ferror(out);
}

void el_escape_json(struct el_buffer *out, const char *text, size_t size)
{
	char made[16];
	uint32_t code;
	size_t used;
	int n;

	for (size_t at = 0; at < size; at += used) {
		used = el_utf8_decode(text + at, size - at, &code);
		if (!used) {
			used = 1;
			n = snprintf(made, sizeof(made), "\\\\x%02x", (uint8_t)text[at]);
		} else if (code == '"' || code == '\\') {
			n = snprintf(made, sizeof(made), "\\%c", (char)code);
		} else if (within(hidden, N_OF(hidden), code) && code < 0x10000) {
			n = snprintf(made, sizeof(made), "\\u%04x", code);
		} else if (within(hidden, N_OF(hidden), code)) {
			code -= 0x10000;
			n = snprintf(made, sizeof(made), "\\u%04x\\u%04x", 0xd800 | code >> 10,
				     0xdc00 | (code & 0x3ff));
		} else {
			el_buffer_add(out, text + at, used);
			continue;
		}
		el_buffer_add(out, made, n);
	}
}
