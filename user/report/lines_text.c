/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the model of lines.h for people: sections of source, then what has no lines, then the
 * rest. */
#include <string.h>

#include "user/report/modules.h"
#include "user/report/shorten.h"
#include "user/report/heading.h"
#include "user/report/lines_print.h"

double el_printer_percent(const struct el_printer *printer, uint64_t part)
{
	return el_view_percent(printer->lines->view, part);
}

const char *el_printer_function(struct el_printer *printer, uint32_t function)
{
	const struct el_profile *profile = printer->call->profile;

	return el_shorten(el_report_string(printer->call, profile->functions.at[function].name),
			  printer->name, sizeof(printer->name));
}

static enum el_style heat(double share)
{
	return share >= 10 ? EL_STYLE_HOT : share >= 1 ? EL_STYLE_WARM : EL_STYLE_PLAIN;
}

void el_printer_share(struct el_printer *printer, uint64_t part)
{
	char room[32];
	double share = el_printer_percent(printer, part);

	el_text_style(printer->text, heat(share));
	el_text_printf(printer->text, "%6s", el_text_percent(share, room));
	el_text_style(printer->text, EL_STYLE_PLAIN);
	el_text_printf(printer->text, " ");
}

void el_printer_count(struct el_printer *printer, uint64_t count)
{
	char room[32];

	if (printer->count_columns)
		el_text_printf(printer->text, "%*s ", (int)printer->count_columns,
			       count ? el_text_count(count, room) : "");
}

void el_printer_heads(struct el_printer *printer)
{
	el_text_style(printer->text, EL_STYLE_DIM);
	if (printer->count_columns)
		el_text_printf(printer->text, "%*s ", (int)printer->count_columns, "count");
	el_text_printf(printer->text, "%6s %6s |\n", "self%", "total%");
	el_text_style(printer->text, EL_STYLE_PLAIN);
}

/* One line for everything that was not printed. */
static void not_shown(struct el_printer *printer)
{
	const struct el_annotated *lines = printer->lines;
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
			       n_mine == 1 ? "" : "s", el_printer_percent(printer, mine),
			       rest ? "," : "");
	if (rest)
		el_text_printf(printer->text, " libraries and other code %.1f %%",
			       el_printer_percent(printer, rest));
	el_text_printf(printer->text, printer->call->options->all ? "\n" : "   (--all)\n");
}

static void your_code(struct el_printer *printer)
{
	const struct el_annotated *lines = printer->lines;
	const struct el_view *view = lines->view;

	if (!view->total)
		return;
	el_text_printf(printer->text, "your code %.1f %%",
		       el_printer_percent(printer, lines->own_self));
	if (view->own_total > lines->own_self)
		el_text_printf(printer->text, ", with the libraries it calls %.1f %%",
			       el_printer_percent(printer, view->own_total));
	el_text_printf(printer->text, " | the line is known for %.1f %%\n",
		       el_printer_percent(printer, lines->lines_known));
}

static int body(struct el_printer *printer)
{
	const struct el_annotated *lines = printer->lines;
	int err = 0;

	for (size_t i = 0; i < lines->sections.n && !err; i++)
		if (lines->sections.at[i].n_chosen)
			err = el_section_text(printer, &lines->sections.at[i]);
	if (!err)
		err = el_inlined_text(printer);
	if (err)
		return err;
	el_functions_text(printer, true, "your functions whose lines are not known");
	el_functions_text(printer, false, "libraries, the kernel and what has no name");
	if (!printer->call->options->n_files && !printer->call->options->n_functions)
		not_shown(printer);
	else if (!printer->shown_self && !lines->sections.n)
		el_text_printf(printer->text,
			       "\nnothing that was sampled matches --file and --function\n");
	return 0;
}

int el_annotated_text(const struct el_report_call *call, struct el_buffer *out)
{
	struct el_text text = el_report_text_begin(call, out);
	struct el_printer printer = {.call = call, .text = &text};
	struct el_annotated lines;
	char room[32];
	int err = el_annotated_init(call, &lines);

	if (err)
		return err;
	printer.lines = &lines;
	if (!el_report_is_time(call))
		printer.count_columns = strlen(el_text_count(lines.view->total, room));
	if (printer.count_columns && printer.count_columns < 6)
		printer.count_columns = 6;
	el_heading_text(call, lines.view, &text);
	your_code(&printer);
	err = el_modules_text(call, &text);
	if (!err)
		err = body(&printer);
	el_text_printf(&text, "\n");
	el_footing_text(call, &text);
	el_annotated_deinit(&lines);
	return el_report_text_end(&text, out) ?: err;
}
