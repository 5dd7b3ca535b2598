/* SPDX-License-Identifier: Apache-2.0 */
/* What stands below the sections of source: inlined library lines, and functions without lines. */
#include <stdio.h>
#include <string.h>

#include "user/report/lines_print.h"

#define INLINED_ROWS 10
#define FUNCTION_ROWS 10
#define FUNCTION_MIN_PERCENT 1.0

static int inlined_row(struct el_printer *printer, const struct el_view_row *row)
{
	const char *path = el_report_string(printer->call, row->file);
	struct el_text *text = printer->text;
	const struct el_source_file *file;
	size_t columns, size;
	const char *source;
	char place[16];
	int err = el_sources_get(printer->lines->sources, path, &file);

	if (err)
		return err;
	el_printer_count(printer, row->into_mine);
	el_printer_share(printer, row->into_mine);
	el_text_printf(text, "       | ");
	columns = el_text_name(text, el_path_last(path), 0);
	columns += snprintf(place, sizeof(place), ":%u", row->line);
	el_text_printf(text, "%s  ", place);
	columns += 2 + el_text_name(text, el_printer_function(printer, row->function),
				    text->width ? 30 : 0);
	source = el_source_line(file, row->line, &size);
	if (source) {
		for (; size && (*source == ' ' || *source == '\t'); source++)
			size--;
		el_text_printf(text, ":  ");
		el_text_source(text, source, size, 16 + columns + 3);
	}
	el_text_end_line(text);
	printer->shown_self += row->into_mine;
	return 0;
}

int el_inlined_text(struct el_printer *printer)
{
	static const char heading[] = "library code inlined into yours";
	const struct el_annotated *lines = printer->lines;
	struct el_text *text = printer->text;
	bool all = printer->call->options->all;
	double min = all ? 0 : EL_NOTE_MIN_PERCENT;
	uint64_t sum = 0;
	int err = 0;

	for (size_t i = 0; i < lines->inlined.n; i++)
		sum += lines->view->rows.at[lines->inlined.at[i]].into_mine;
	if (!sum || el_printer_percent(printer, sum) < min)
		return 0;
	el_text_printf(text, "\n");
	el_text_style(text, EL_STYLE_BOLD);
	el_text_printf(text, "%s", heading);
	el_text_style(text, EL_STYLE_PLAIN);
	el_text_printf(text, "%*s%.1f %% of all, part of the totals above\n",
		       (int)(EL_TITLE_COLUMNS - strlen(heading)), "",
		       el_printer_percent(printer, sum));
	for (size_t i = 0; i < lines->inlined.n && (all || i < INLINED_ROWS) && !err; i++) {
		const struct el_view_row *row = &lines->view->rows.at[lines->inlined.at[i]];

		if (el_printer_percent(printer, row->into_mine) < min)
			break;
		err = inlined_row(printer, row);
	}
	return err;
}

/* Self time of a function that no section and no list above has. */
static uint64_t elsewhere(const struct el_view_row *row)
{
	return row->flat - row->into_mine;
}

static void function_where(struct el_printer *printer, const struct el_view_row *row)
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

static void function_row(struct el_printer *printer, const struct el_view_row *row,
			 unsigned int columns)
{
	const struct el_profile *profile = printer->call->profile;
	uint8_t code = row->function ? profile->functions.at[row->function].code
				     : profile->objects.at[row->object].code;
	char name[1024];

	if (row->function)
		snprintf(name, sizeof(name), "%s", el_printer_function(printer, row->function));
	else
		el_view_row_name(printer->lines->functions, row, name, sizeof(name));
	el_printer_count(printer, elsewhere(row));
	el_printer_share(printer, elsewhere(row));
	el_printer_share(printer, row->cum);
	el_text_printf(printer->text, "| ");
	el_text_column(printer->text, name, columns);
	el_text_printf(printer->text, "  %-7s ", el_code_label(code));
	function_where(printer, row);
	el_text_printf(printer->text, "\n");
}

static bool listed(struct el_printer *printer, const struct el_view_row *row, bool mine)
{
	const struct el_annotated *lines = printer->lines;

	if (row->mine != mine || lines->in_section[row->function])
		return false;
	if (mine && row->function && lines->has_lines[row->function])
		return false;
	return el_report_wants(printer->call, el_report_string(printer->call, row->file),
			       el_printer_function(printer, row->function));
}

void el_functions_text(struct el_printer *printer, bool mine, const char *heading)
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

		if (!self || el_printer_percent(printer, self) < min || !listed(printer, row, mine))
			continue;
		if (!n++) {
			el_text_printf(printer->text, "\n");
			el_text_style(printer->text, EL_STYLE_BOLD);
			el_text_printf(printer->text, "%s\n", heading);
			el_text_style(printer->text, EL_STYLE_PLAIN);
			el_printer_heads(printer);
		}
		function_row(printer, row, columns);
		printer->shown_self += self;
	}
}
