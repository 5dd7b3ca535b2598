/* SPDX-License-Identifier: Apache-2.0 */
/* See text.h. */
#include "user/report/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "user/report/escape.h"

#define ROOM 32

void el_text_printf(struct el_text *text, const char *format, ...)
{
	char made[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(made, sizeof(made), format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof(made))
		text->out.err = text->out.err ? text->out.err : -EOVERFLOW;
	else
		el_buffer_add(&text->out, made, n);
}

void el_text_end_line(struct el_text *text)
{
	while (text->out.bytes.n && text->out.bytes.at[text->out.bytes.n - 1] == ' ')
		text->out.bytes.n--;
	el_buffer_add(&text->out, "\n", 1);
}

void el_text_style(struct el_text *text, enum el_style style)
{
	static const char *const codes[] = {
		[EL_STYLE_PLAIN] = "\033[0m", [EL_STYLE_BOLD] = "\033[1m",
		[EL_STYLE_DIM] = "\033[2m",   [EL_STYLE_HOT] = "\033[1;31m",
		[EL_STYLE_WARM] = "\033[33m", [EL_STYLE_NOTE] = "\033[36m",
	};

	if (!text->colour || (style == EL_STYLE_PLAIN && !text->styled))
		return;
	text->styled = style != EL_STYLE_PLAIN;
	el_buffer_add(&text->out, codes[style], strlen(codes[style]));
}

size_t el_text_name(struct el_text *text, const char *name, unsigned int columns)
{
	struct el_escape_options options = {.columns = columns};

	return el_escape_text(&text->out, name, strlen(name), &options);
}

void el_text_column(struct el_text *text, const char *name, unsigned int columns)
{
	size_t taken = el_text_name(text, name, text->width ? columns : 0);

	for (; taken < columns; taken++)
		el_buffer_add(&text->out, " ", 1);
}

void el_text_source(struct el_text *text, const char *line, size_t size, unsigned int indent)
{
	struct el_escape_options options = {.expand_tabs = true};

	if (text->width)
		options.columns = text->width > indent + 8 ? text->width - indent : 8;
	el_escape_text(&text->out, line, size, &options);
}

const char *el_text_count(uint64_t count, char *room)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	char *at = room;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*at++ = ',';
		*at++ = digits[i];
	}
	*at = '\0';
	return room;
}

const char *el_text_time(uint64_t ns, char *room)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		double value = ns / units[i].ns;

		/* Seconds down to a tenth: most columns hold seconds, and then compare at a glance.
		 */
		if (value < (i ? 0.9995 : 0.0995))
			continue;
		snprintf(room, ROOM,
			 value < 9.995   ? "%.2f%s"
			 : value < 99.95 ? "%.1f%s"
					 : "%.0f%s",
			 value, units[i].unit);
		return room;
	}
	if (ns)
		snprintf(room, ROOM, "%" PRIu64 "ns", ns);
	else
		snprintf(room, ROOM, "0");
	return room;
}

const char *el_text_percent(double percent, char *room)
{
	if (percent <= 0)
		room[0] = '\0';
	else if (percent < 0.05)
		snprintf(room, ROOM, "<0.1");
	else
		snprintf(room, ROOM, "%.1f", percent);
	return room;
}
