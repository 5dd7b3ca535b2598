/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the model of lines.h for people: sections of source, then what has no lines, then the
 * rest. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "user/report/escape.h"
#include "user/report/heading.h"
#include "user/report/lines.h"

#define MARKS 3 /* one for each 10 % */
#define NOTES_PER_LINE 3
#define NOTE_MIN_PERCENT 0.1
#define CALLED_MIN_PERCENT 0.5
#define INLINED_ROWS 10
#define FUNCTION_ROWS 10
#define FUNCTION_MIN_PERCENT 1.0
#define TITLE_COLUMNS 52 /* the share of a section begins here when there is room */

struct printer {
	const struct el_lines *lines;
	const struct el_report_call *call;
	struct el_text *text;
	unsigned int count_columns;  /* of the column of counts; 0: none */
	unsigned int number_columns; /* of line numbers in this section */
	bool marks;                  /* some line of this section is hot enough */
	uint64_t shown_self;         /* self time printed so far */
};

static double percent(const struct printer *printer, uint64_t part)
{
	return el_view_percent(printer->lines->view, part);
}

static const char *function_name(const struct printer *printer, uint32_t function)
{
	return el_report_string(printer->call, printer->call->profile->functions.at[function].name);
}

static enum el_style heat(double share)
{
	return share >= 10 ? EL_STYLE_HOT : share >= 1 ? EL_STYLE_WARM : EL_STYLE_PLAIN;
}

/* --- a section ------------------------------------------------------------- */

static void title_share(struct printer *printer, const struct el_section *section)
{
	const struct el_lines *lines = printer->lines;

	el_text_printf(printer->text, "%.1f %% of all", percent(printer, section->weight));
	if (section->mine && lines->view->own_total)
		el_text_printf(printer->text, ", %.0f %% of your code",
			       100.0 * section->weight / lines->view->own_total);
	else if (!section->mine)
		el_text_printf(printer->text, ", library");
}

static void title(struct printer *printer, const struct el_section *section)
{
	const char *path = el_report_string(printer->call, section->file);
	struct el_text *text = printer->text;
	unsigned int room = text->width > 60 ? text->width - 40 : 0;
	size_t columns;

	el_text_printf(text, "\n");
	el_text_style(text, EL_STYLE_BOLD);
	columns = el_text_name(text, el_path_short(path, printer->lines->folder), room);
	el_text_printf(text, "  ");
	columns += 2 + el_text_name(text, function_name(printer, section->function),
				    room > columns + 10 ? room - columns
				    : room              ? 10
							: 0);
	el_text_style(text, EL_STYLE_PLAIN);
	el_text_printf(text, "%*s",
		       columns + 2 < TITLE_COLUMNS ? (int)(TITLE_COLUMNS - columns) : 2, "");
	title_share(printer, section);
	el_text_printf(text, "\n");
}

static void said(struct printer *printer, const char *sentence, const char *path)
{
	el_text_style(printer->text, EL_STYLE_NOTE);
	el_text_printf(printer->text, "  %s: ", sentence);
	el_text_name(printer->text, path, 0);
	el_text_style(printer->text, EL_STYLE_PLAIN);
	el_text_printf(printer->text, "\n");
}

static void about_source(struct printer *printer, const struct el_section *section,
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

static void share_column(struct printer *printer, uint64_t part)
{
	char room[32];
	double share = percent(printer, part);

	el_text_style(printer->text, heat(share));
	el_text_printf(printer->text, "%6s", el_text_percent(share, room));
	el_text_style(printer->text, EL_STYLE_PLAIN);
	el_text_printf(printer->text, " ");
}

/* Everything left of the source text; returns its columns. */
static unsigned int margin(struct printer *printer, const struct el_section_line *line,
			   uint32_t number)
{
	unsigned int marks = line ? percent(printer, line->flat) / 10 : 0;
	char room[32];

	if (printer->count_columns)
		el_text_printf(printer->text, "%*s ", (int)printer->count_columns,
			       line && line->flat ? el_text_count(line->flat, room) : "");
	share_column(printer, line ? line->flat : 0);
	share_column(printer, line ? line->cum : 0);
	if (number)
		el_text_printf(printer->text, "| %*u ", (int)printer->number_columns, number);
	else
		el_text_printf(printer->text, "| %*s ", (int)printer->number_columns, "");
	if (printer->marks) {
		el_text_style(printer->text, EL_STYLE_HOT);
		el_text_printf(printer->text, "%-*s ", MARKS,
			       &"###"[marks < MARKS ? MARKS - marks : 0]);
		el_text_style(printer->text, EL_STYLE_PLAIN);
	}
	return (printer->count_columns ? printer->count_columns + 1 : 0) + 14 + 2 +
	       printer->number_columns + 1 + (printer->marks ? MARKS + 1 : 0);
}

static void note_begin(struct printer *printer)
{
	margin(printer, NULL, 0);
	el_text_style(printer->text, EL_STYLE_NOTE);
	el_text_printf(printer->text, "    ");
}

static void note_end(struct printer *printer)
{
	el_text_style(printer->text, EL_STYLE_PLAIN);
	el_text_printf(printer->text, "\n");
}

static void inlined_note(struct printer *printer, const struct el_view_inlined *inlined)
{
	const struct el_view_row *from = &printer->lines->view->rows.at[inlined->from];
	const char *file = el_report_string(printer->call, from->file);
	char room[32];

	note_begin(printer);
	if (printer->count_columns)
		el_text_printf(printer->text, "%s (%.1f) in ", el_text_count(inlined->flat, room),
			       percent(printer, inlined->flat));
	else
		el_text_printf(printer->text, "%.1f in ", percent(printer, inlined->flat));
	el_text_name(printer->text, function_name(printer, from->function),
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
	size_t low = 0, high = view->inlined.n;
	size_t n = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (view->inlined.at[middle].row < row)
			low = middle + 1;
		else
			high = middle;
	}
	while (low + n < view->inlined.n && view->inlined.at[low + n].row == row)
		n++;
	*ret_n = n;
	return n ? &view->inlined.at[low] : NULL;
}

/* What is in the total of a line of the user's own but not in its self time. */
static void notes(struct printer *printer, const struct el_section *section,
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
			    percent(printer, inlined[i].flat) >= NOTE_MIN_PERCENT) {
				inlined_note(printer, &inlined[i]);
				n_notes++;
			} else {
				rest += inlined[i].flat;
				n_rest++;
			}
		}
	}
	if (n_rest && percent(printer, rest) >= NOTE_MIN_PERCENT) {
		note_begin(printer);
		el_text_printf(printer->text, "%.1f in %d more, inlined", percent(printer, rest),
			       n_rest);
		note_end(printer);
	}
	called = section->mine && line->weight > line->flat + inlined_sum
			 ? line->weight - line->flat - inlined_sum
			 : 0;
	if (percent(printer, called) >= CALLED_MIN_PERCENT) {
		note_begin(printer);
		el_text_printf(printer->text, "%.1f in libraries or the kernel, called here",
			       percent(printer, called));
		note_end(printer);
	}
}

static void source_line(struct printer *printer, const struct el_section *section,
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
	el_text_printf(printer->text, "\n");
	if (!line)
		return;
	printer->shown_self += line->flat;
	notes(printer, section, line);
}

/* The lines between two ranges, and what they hold. */
static void fold(struct printer *printer, const struct el_section *section, uint32_t after,
		 uint32_t before)
{
	const struct el_section_line *at = &printer->lines->lines.at[section->first_line];
	uint64_t hidden = 0;
	char room[32];

	for (uint32_t i = 0; i < section->n_lines; i++)
		if (at[i].line > after && at[i].line < before)
			hidden += at[i].flat;
	if (printer->count_columns)
		el_text_printf(printer->text, "%*s ", (int)printer->count_columns,
			       hidden ? el_text_count(hidden, room) : "");
	el_text_style(printer->text, EL_STYLE_DIM);
	el_text_printf(printer->text, "%6s %6s | %*s  %u lines%s\n",
		       el_text_percent(percent(printer, hidden), room), "",
		       (int)printer->number_columns + 2, "…", before - after - 1,
		       hidden ? " with this share between them" : "");
	el_text_style(printer->text, EL_STYLE_PLAIN);
}

static void measure(struct printer *printer, const struct el_section *section)
{
	const struct el_section_line *at = &printer->lines->lines.at[section->first_line];
	char room[32];

	printer->marks = false;
	printer->number_columns =
		snprintf(room, sizeof(room), "%u", at[section->n_lines - 1].line + 2);
	for (uint32_t i = 0; i < section->n_lines; i++)
		printer->marks |= percent(printer, at[i].flat) >= 10;
}

static void column_heads(struct printer *printer)
{
	el_text_style(printer->text, EL_STYLE_DIM);
	if (printer->count_columns)
		el_text_printf(printer->text, "%*s ", (int)printer->count_columns, "count");
	el_text_printf(printer->text, "%6s %6s |\n", "self", "total");
	el_text_style(printer->text, EL_STYLE_PLAIN);
}

static int section_text(struct printer *printer, const struct el_section *section)
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
	column_heads(printer);
	while (el_section_range(printer->lines, section, &cursor, &from, &to)) {
		if (last && from > last + 1)
			fold(printer, section, last, from);
		for (uint64_t number = from; number <= to; number++)
			source_line(printer, section, file, number);
		last = to;
	}
	return 0;
}

/* --- below the sections ---------------------------------------------------- */

static int inlined_libraries(struct printer *printer)
{
	const struct el_lines *lines = printer->lines;
	struct el_text *text = printer->text;
	bool all = printer->call->options->all;
	uint64_t sum = 0;

	for (size_t i = 0; i < lines->inlined.n; i++)
		sum += lines->view->rows.at[lines->inlined.at[i]].into_mine;
	if (percent(printer, sum) < (all ? 0 : NOTE_MIN_PERCENT) || !sum)
		return 0;
	el_text_printf(text, "\n");
	el_text_style(text, EL_STYLE_BOLD);
	el_text_printf(text, "library code inlined into yours");
	el_text_style(text, EL_STYLE_PLAIN);
	el_text_printf(text, "%*s%.1f %% of all, counted in the totals above\n", TITLE_COLUMNS - 31,
		       "", percent(printer, sum));
	for (size_t i = 0; i < lines->inlined.n && (all || i < INLINED_ROWS); i++) {
		const struct el_view_row *row = &lines->view->rows.at[lines->inlined.at[i]];
		const struct el_source_file *file;
		const char *path = el_report_string(printer->call, row->file);
		const char *source;
		char room[32], place[32];
		size_t columns = 0, size;
		int err = el_sources_get(lines->sources, path, &file);

		if (err)
			return err;
		if (!all && percent(printer, row->into_mine) < NOTE_MIN_PERCENT)
			break;
		if (printer->count_columns)
			el_text_printf(text, "%*s ", (int)printer->count_columns,
				       el_text_count(row->into_mine, room));
		share_column(printer, row->into_mine);
		el_text_printf(text, "       | ");
		columns = el_text_name(text, el_path_last(path), 0);
		snprintf(place, sizeof(place), ":%u", row->line);
		el_text_printf(text, "%s  ", place);
		columns += strlen(place) + 2;
		columns += el_text_name(text, function_name(printer, row->function),
					text->width ? 30 : 0);
		source = el_source_line(file, row->line, &size);
		if (source) {
			while (size && (*source == ' ' || *source == '\t'))
				source++, size--;
			el_text_printf(text, ":  ");
			el_text_source(text, source, size, 16 + columns + 3);
		}
		el_text_printf(text, "\n");
		printer->shown_self += row->into_mine;
	}
	return 0;
}

/* Self time of a function that no section and no list above has. */
static uint64_t elsewhere(const struct el_view_row *row)
{
	return row->flat - row->into_mine;
}

static void function_where(struct printer *printer, const struct el_view_row *row)
{
	const struct el_report_call *call = printer->call;
	const struct el_profile *profile = call->profile;
	uint32_t object = row->object ? row->object : call->origins[row->function].object;
	uint16_t miss = row->function ? call->origins[row->function].miss : row->miss;
	const char *path = el_path_last(el_report_string(call, profile->objects.at[object].path));
	const char *file = el_path_last(el_report_string(call, row->file));

	if (*file && *path && strcmp(file, path)) {
		el_text_name(printer->text, file, 0);
		el_text_printf(printer->text, ", ");
	}
	if (*path)
		el_text_name(printer->text, path, 0);
	if (miss)
		el_text_printf(printer->text, *path ? " (%s)" : "%s", el_miss_label(miss));
}

static void function_row(struct printer *printer, const struct el_view_row *row,
			 unsigned int columns)
{
	const struct el_profile *profile = printer->call->profile;
	uint8_t code = row->function ? profile->functions.at[row->function].code
				     : profile->objects.at[row->object].code;
	char name[1024], room[32];

	if (row->function)
		snprintf(name, sizeof(name), "%s", function_name(printer, row->function));
	else
		el_view_row_name(printer->lines->functions, row, name, sizeof(name));
	if (printer->count_columns)
		el_text_printf(printer->text, "%*s ", (int)printer->count_columns,
			       elsewhere(row) ? el_text_count(elsewhere(row), room) : "");
	share_column(printer, elsewhere(row));
	share_column(printer, row->cum);
	el_text_printf(printer->text, "| ");
	el_text_column(printer->text, name, columns);
	el_text_printf(printer->text, "  %-7s ", el_code_label(code));
	function_where(printer, row);
	el_text_printf(printer->text, "\n");
}

static bool listed(const struct printer *printer, const struct el_view_row *row, bool mine)
{
	const struct el_lines *lines = printer->lines;

	if (row->mine != mine || lines->in_section[row->function])
		return false;
	if (mine && row->function && lines->has_lines[row->function])
		return false;
	return el_report_wants(printer->call, el_report_string(printer->call, row->file),
			       function_name(printer, row->function));
}

static void function_list(struct printer *printer, bool mine, const char *heading)
{
	const struct el_report_options *options = printer->call->options;
	const struct el_view *view = printer->lines->functions;
	double min = options->min_given ? options->min_percent
		     : options->all     ? 0
					: FUNCTION_MIN_PERCENT;
	unsigned int columns = 40;
	int n = 0;

	for (size_t i = 0; i < view->rows.n && (options->all || n < FUNCTION_ROWS); i++) {
		const struct el_view_row *row = &view->rows.at[i];
		uint64_t self = elsewhere(row);

		if (!self || percent(printer, self) < min || !listed(printer, row, mine))
			continue;
		if (!n++) {
			el_text_printf(printer->text, "\n");
			el_text_style(printer->text, EL_STYLE_BOLD);
			el_text_printf(printer->text, "%s\n", heading);
			el_text_style(printer->text, EL_STYLE_PLAIN);
			column_heads(printer);
		}
		function_row(printer, row, columns);
		printer->shown_self += self;
	}
}

/* One line for everything that was not printed. */
static void not_shown(struct printer *printer)
{
	const struct el_lines *lines = printer->lines;
	uint64_t mine = 0, rest;
	size_t n_mine = 0;

	for (size_t i = 0; i < lines->sections.n; i++) {
		const struct el_section *section = &lines->sections.at[i];

		for (uint32_t l = 0; l < section->n_lines && section->mine; l++) {
			const struct el_section_line *line =
				&lines->lines.at[section->first_line + l];

			mine += line->shown ? 0 : line->flat;
			n_mine += !line->shown && line->flat;
		}
	}
	rest = lines->view->total > printer->shown_self ? lines->view->total - printer->shown_self
							: 0;
	rest = rest > mine ? rest - mine : 0;
	if (!mine && !rest)
		return;
	el_text_printf(printer->text, "\nnot shown:");
	if (mine)
		el_text_printf(printer->text, " %zu line%s of your code %.1f %%%s", n_mine,
			       n_mine == 1 ? "" : "s", percent(printer, mine), rest ? "," : "");
	if (rest)
		el_text_printf(printer->text, " other functions %.1f %%", percent(printer, rest));
	el_text_printf(printer->text, printer->call->options->all ? "\n" : "   (--all)\n");
}

static void your_code(struct printer *printer)
{
	const struct el_lines *lines = printer->lines;
	const struct el_view *view = lines->view;

	if (!view->total)
		return;
	el_text_printf(printer->text, "your code %.1f %%", percent(printer, lines->own_self));
	if (view->own_total > lines->own_self)
		el_text_printf(printer->text, ", with the libraries it calls %.1f %%",
			       percent(printer, view->own_total));
	el_text_printf(printer->text, " | the line is known for %.1f %%\n",
		       percent(printer, lines->lines_known));
}

static int body(struct printer *printer)
{
	const struct el_lines *lines = printer->lines;
	int err = 0;

	for (size_t i = 0; i < lines->sections.n && !err; i++)
		if (lines->sections.at[i].n_chosen)
			err = section_text(printer, &lines->sections.at[i]);
	if (!err)
		err = inlined_libraries(printer);
	if (err)
		return err;
	function_list(printer, true, "your functions whose lines are not known");
	function_list(printer, false, "libraries, the kernel and what has no name");
	not_shown(printer);
	return 0;
}

int el_lines_text(const struct el_report_call *call, struct el_buffer *out)
{
	struct el_text text = el_report_text_begin(call, out);
	struct printer printer = {.call = call, .text = &text};
	struct el_lines lines;
	char room[32];
	int err = el_lines_init(call, &lines);

	if (err)
		return err;
	printer.lines = &lines;
	if (!el_report_is_time(call))
		printer.count_columns = strlen(el_text_count(lines.view->total, room));
	if (printer.count_columns && printer.count_columns < 6)
		printer.count_columns = 6;
	el_heading_text(call, lines.view, &text);
	your_code(&printer);
	err = body(&printer);
	el_text_printf(&text, "\n");
	el_footing_text(call, &text);
	el_lines_deinit(&lines);
	return el_report_text_end(&text, out) ?: err;
}
