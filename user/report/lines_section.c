/* SPDX-License-Identifier: Apache-2.0 */
/* One function of the annotated source: title, what is wrong with the source, its lines with notes.
 */
#include <stdio.h>
#include <string.h>

#include "base/search.h"
#include "user/report/lines_print.h"

#define MARKS 3       /* one for each 10 % */
#define LONG_TITLE 90 /* columns: then the share has a line of its own */
#define NOTES_PER_LINE 3
#define CALLED_MIN_PERCENT 0.5

/* "58.7 % of all, 94 % of your code"; with a filter "94.4 % of what is shown, 58.7 % of all". */
static void title_share(struct el_printer *printer, const struct el_section *section)
{
	const struct el_view *view = printer->lines->view;
	uint64_t part = section->mine ? section->weight : section->flat;
	const char *kind = printer->call->kind;

	if (view->total != printer->call->all) {
		el_text_printf(printer->text, "%.1f %% of %s, ", el_printer_percent(printer, part),
			       kind ? kind : "what is shown");
	}
	el_text_printf(printer->text, "%.1f %% of all",
		       printer->call->all ? 100.0 * part / printer->call->all : 0.0);
	if (section->mine && view->own_total)
		el_text_printf(printer->text, ", %.0f %% of your code",
			       100.0 * section->weight / view->own_total);
	else if (!section->mine)
		el_text_printf(printer->text, ", library");
}

static void title(struct el_printer *printer, const struct el_section *section)
{
	const char *path = el_report_string(printer->call, section->file);
	struct el_text *text = printer->text;
	unsigned int room = text->width > 60 ? text->width - 40 : 0;
	size_t columns;

	el_text_printf(text, "\n");
	el_text_style(text, EL_STYLE_BOLD);
	columns = el_text_name(text, el_path_short(path, printer->lines->folder), room);
	el_text_printf(text, "  ");
	columns += 2 + el_text_name(text, el_printer_function(printer, section->function),
				    room > columns + 10 ? room - columns
				    : room              ? 10
							: 0);
	el_text_style(text, EL_STYLE_PLAIN);
	if (columns > LONG_TITLE && !text->width)
		el_text_printf(text, "\n  ");
	else
		el_text_printf(
			text, "%*s",
			columns + 2 < EL_TITLE_COLUMNS ? (int)(EL_TITLE_COLUMNS - columns) : 2, "");
	title_share(printer, section);
	el_text_printf(text, "\n");
}

static void said(struct el_printer *printer, const char *sentence, const char *path)
{
	el_text_style(printer->text, EL_STYLE_NOTE);
	el_text_printf(printer->text, "  %s: ", sentence);
	el_text_name(printer->text, path, 0);
	el_text_style(printer->text, EL_STYLE_PLAIN);
	el_text_printf(printer->text, "\n");
}

static void about_source(struct el_printer *printer, const struct el_section *section,
			 const struct el_source_file *file)
{
	const char *path = el_report_string(printer->call, section->file);
	const struct el_section_line *last =
		&printer->lines->lines.at[section->first_line + section->n_lines - 1];
	uint64_t built = el_section_built_ns(printer->lines, section);

	if (el_source_state(file) != EL_SOURCE_READ) {
		said(printer, el_source_state_sentence(el_source_state(file)), path);
		return;
	}
	if (el_source_changed_ns(file) > built)
		said(printer,
		     printer->call->profile->functions.at[section->function].code == EL_CODE_NATIVE
			     ? "changed since the program was built, so lines may have moved"
			     : "changed since the recording began, so lines may have moved",
		     path);
	if (last->line > el_source_n_lines(file))
		said(printer, "has fewer lines than were sampled, so it is not what was built",
		     path);
}

/* Everything left of the source text; returns its columns. */
static unsigned int margin(struct el_printer *printer, const struct el_section_line *line,
			   uint32_t number)
{
	unsigned int marks = line ? el_printer_percent(printer, line->flat) / 10 : 0;

	el_printer_count(printer, line ? line->flat : 0);
	el_printer_share(printer, line ? line->flat : 0);
	el_printer_share(printer, line ? line->cum : 0);
	if (number)
		el_text_printf(printer->text, "| %*u ", (int)printer->number_columns, number);
	else
		el_text_printf(printer->text, "| %*s ", (int)printer->number_columns, "");
	if (printer->marks) {
		el_text_style(printer->text, marks ? EL_STYLE_HOT : EL_STYLE_PLAIN);
		el_text_printf(printer->text, "%-*s ", MARKS,
			       &"###"[marks < MARKS ? MARKS - marks : 0]);
		el_text_style(printer->text, EL_STYLE_PLAIN);
	}
	return (printer->count_columns ? printer->count_columns + 1 : 0) + 14 + 2 +
	       printer->number_columns + 1 + (printer->marks ? MARKS + 1 : 0);
}

static void note_begin(struct el_printer *printer)
{
	margin(printer, NULL, 0);
	el_text_style(printer->text, EL_STYLE_NOTE);
	el_text_printf(printer->text, "    ");
}

static void note_end(struct el_printer *printer)
{
	el_text_style(printer->text, EL_STYLE_PLAIN);
	el_text_printf(printer->text, "\n");
}

static void inlined_note(struct el_printer *printer, const struct el_view_inlined *inlined)
{
	const struct el_view_row *from = &printer->lines->view->rows.at[inlined->from];
	const char *file = el_report_string(printer->call, from->file);
	char room[32];

	note_begin(printer);
	if (printer->count_columns)
		el_text_printf(printer->text, "%s (%.1f) in ", el_text_count(inlined->flat, room),
			       el_printer_percent(printer, inlined->flat));
	else
		el_text_printf(printer->text, "%.1f in ",
			       el_printer_percent(printer, inlined->flat));
	el_text_name(printer->text, el_printer_function(printer, from->function),
		     printer->text->width ? 50 : 0);
	el_text_printf(printer->text, ", inlined");
	if (*file) {
		el_text_printf(printer->text, " (");
		el_text_name(printer->text, el_path_last(file), 0);
		el_text_printf(printer->text, from->line ? ":%u)" : ")", from->line);
	}
	note_end(printer);
}

/* The inlined parts of a row: they lie together, by row. */
static const struct el_view_inlined *inlined_of(const struct el_view *view, uint32_t row,
						size_t *ret_n)
{
	size_t low = el_partition(view->inlined.n, i, view->inlined.at[i].row < row);
	size_t n = 0;

	while (low + n < view->inlined.n && view->inlined.at[low + n].row == row)
		n++;
	*ret_n = n;
	return n ? &view->inlined.at[low] : NULL;
}

/* What is in the total of a line of the user's own but not in its self time. */
static void notes(struct el_printer *printer, const struct el_section *section,
		  const struct el_section_line *line)
{
	uint64_t inlined_sum = 0, rest = 0, called;
	int n_notes = 0, n_rest = 0;

	for (uint32_t r = 0; r < line->n_rows; r++) {
		size_t n;
		const struct el_view_inlined *inlined = inlined_of(
			printer->lines->view, printer->lines->order.at[line->first_row + r], &n);

		for (size_t i = 0; i < n; i++) {
			inlined_sum += inlined[i].flat;
			if (n_notes < NOTES_PER_LINE &&
			    el_printer_percent(printer, inlined[i].flat) >= EL_NOTE_MIN_PERCENT) {
				inlined_note(printer, &inlined[i]);
				n_notes++;
			} else {
				rest += inlined[i].flat;
				n_rest++;
			}
		}
	}
	if (n_rest && el_printer_percent(printer, rest) >= EL_NOTE_MIN_PERCENT) {
		note_begin(printer);
		el_text_printf(printer->text, "%.1f in %d more, inlined",
			       el_printer_percent(printer, rest), n_rest);
		note_end(printer);
	}
	called = section->mine && line->weight > line->flat + inlined_sum
			 ? line->weight - line->flat - inlined_sum
			 : 0;
	if (el_printer_percent(printer, called) >= CALLED_MIN_PERCENT) {
		note_begin(printer);
		el_text_printf(printer->text, "%.1f in libraries or the kernel, called here",
			       el_printer_percent(printer, called));
		note_end(printer);
	}
}

static void source_line(struct el_printer *printer, const struct el_section *section,
			const struct el_source_file *file, uint32_t number)
{
	const struct el_section_line *line = el_section_line_at(printer->lines, section, number);
	unsigned int indent;
	const char *source;
	size_t size;

	if (!line && number > el_source_n_lines(file))
		return;
	indent = margin(printer, line, number);
	source = el_source_line(file, number, &size);
	if (source)
		el_text_source(printer->text, source, size, indent);
	el_text_end_line(printer->text);
	if (!line)
		return;
	printer->shown_self += section->mine ? line->flat : line->weight;
	notes(printer, section, line);
}

/* The lines between two ranges, and what they hold. */
static void fold(struct el_printer *printer, const struct el_section *section, uint32_t after,
		 uint32_t before)
{
	const struct el_section_line *at = &printer->lines->lines.at[section->first_line];
	uint64_t hidden = 0;
	char room[32];

	for (uint32_t i = 0; i < section->n_lines; i++)
		if (at[i].line > after && at[i].line < before)
			hidden += at[i].flat;
	el_printer_count(printer, hidden);
	el_text_style(printer->text, EL_STYLE_DIM);
	el_text_printf(printer->text, "%6s %6s | %*s  %u lines%s\n",
		       el_text_percent(el_printer_percent(printer, hidden), room), "",
		       (int)printer->number_columns + 2, "…", before - after - 1,
		       hidden ? " with this share between them" : "");
	el_text_style(printer->text, EL_STYLE_PLAIN);
}

static void measure(struct el_printer *printer, const struct el_section *section)
{
	const struct el_section_line *at = &printer->lines->lines.at[section->first_line];
	char room[32];

	printer->marks = false;
	printer->number_columns =
		snprintf(room, sizeof(room), "%u", at[section->n_lines - 1].line + 2);
	for (uint32_t i = 0; i < section->n_lines; i++)
		printer->marks |= el_printer_percent(printer, at[i].flat) >= 10;
}

/* Time in the section's functions that has no place in the source. */
static void without_line(struct el_printer *printer, const struct el_section *section)
{
	const struct el_annotated *lines = printer->lines;
	const struct el_section_line *at = &lines->lines.at[section->first_line];
	uint64_t sum = 0;

	for (uint32_t i = 0; i < section->n_lines; i++) {
		for (uint32_t r = 0; r < at[i].n_rows; r++) {
			uint32_t row = lines->order.at[at[i].first_row + r];
			uint32_t function = lines->view->rows.at[row].function;

			sum += lines->at_no_line[function];
			lines->at_no_line[function] = 0; /* said once */
		}
	}
	if (!sum)
		return;
	el_printer_count(printer, sum);
	el_printer_share(printer, sum);
	el_text_printf(printer->text, "       | at no known line\n");
	printer->shown_self += sum;
}

int el_section_text(struct el_printer *printer, const struct el_section *section)
{
	const struct el_source_file *file;
	uint32_t cursor = 0, from, to, last = 0;
	int err = el_sources_get(printer->lines->sources,
				 el_report_string(printer->call, section->file), &file);

	if (err)
		return err;
	measure(printer, section);
	title(printer, section);
	about_source(printer, section, file);
	el_printer_heads(printer);
	while (el_section_range(printer->lines, section, &cursor, &from, &to)) {
		if (last && from > last + 1)
			fold(printer, section, last, from);
		for (uint64_t number = from; number <= to; number++)
			source_line(printer, section, file, number);
		last = to;
	}
	without_line(printer, section);
	return 0;
}
