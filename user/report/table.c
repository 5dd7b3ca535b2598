/* SPDX-License-Identifier: Apache-2.0 */
/* See table.h. */
#include "user/report/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/report/escape.h"
#include "user/report/heading.h"

#define FIRST_SCREEN_ROWS 40
#define DEFAULT_MIN_PERCENT 1.0
#define NAME_MAX_COLUMNS 60
#define NAME_SIZE 4096

static bool has_kind(const struct el_report_call *call)
{
	return call->by != EL_VIEW_BY_FILE && call->by != EL_VIEW_BY_PROCESS &&
	       call->by != EL_VIEW_BY_THREAD;
}

static bool is_code(const struct el_report_call *call)
{
	return call->by == EL_VIEW_BY_LINE || call->by == EL_VIEW_BY_FUNCTION ||
	       call->by == EL_VIEW_BY_ADDRESS;
}

/* The row's name; `room` of NAME_SIZE bytes. Functions have their line in the column `where`. */
static const char *name_of(const struct el_report_call *call, const struct el_view *view,
			   const struct el_view_row *row, char *room)
{
	if (row->function && (call->by == EL_VIEW_BY_LINE || call->by == EL_VIEW_BY_FUNCTION))
		return el_report_string(call, call->profile->functions.at[row->function].name);
	if (row->function && call->by == EL_VIEW_BY_ADDRESS)
		snprintf(room, NAME_SIZE, "%016" PRIx64 " %s",
			 call->profile->locations.at[row->location].addr,
			 el_report_string(call, call->profile->functions.at[row->function].name));
	else
		el_view_row_name(view, row, room, NAME_SIZE);
	return room;
}

static uint32_t object_of(const struct el_report_call *call, const struct el_view_row *row)
{
	return row->object ? row->object : call->origins[row->function].object;
}

static const char *kind_of(const struct el_report_call *call, const struct el_view_row *row)
{
	const struct el_profile *profile = call->profile;

	if (row->function)
		return el_code_label(profile->functions.at[row->function].code);
	return el_code_label(profile->objects.at[row->object].code);
}

/* "dither.py:12", or the object and why there is no line; `room` of NAME_SIZE bytes. */
static const char *where_of(const struct el_report_call *call, const struct el_view_row *row,
			    char *room)
{
	const struct el_profile *profile = call->profile;
	const char *object = el_path_last(
		el_report_string(call, profile->objects.at[object_of(call, row)].path));
	const char *file = el_path_last(el_report_string(call, row->file));
	uint16_t miss = row->function ? call->origins[row->function].miss : row->miss;
	uint32_t line = row->line;

	room[0] = '\0';
	if (!is_code(call))
		return room;
	if (!line && call->by == EL_VIEW_BY_FUNCTION)
		line = profile->functions.at[row->function].start_line;
	if (*file && line)
		snprintf(room, NAME_SIZE, "%s:%u", file, line);
	else if (*file)
		snprintf(room, NAME_SIZE, "%s", file);
	else if (miss && *object)
		snprintf(room, NAME_SIZE, "%s (%s)", object, el_miss_label(miss));
	else
		snprintf(room, NAME_SIZE, "%s", *object ? object : el_miss_label(miss));
	return room;
}

static bool wanted(const struct el_report_call *call, const struct el_view_row *row)
{
	const struct el_profile_function *function = &call->profile->functions.at[row->function];

	return el_report_wants(call, el_report_string(call, row->file),
			       el_report_string(call, function->name));
}

/* Rows to show, in the view's order; the count, and what the rest adds up to. */
static size_t choose(const struct el_report_call *call, const struct el_view *view,
		     uint32_t *ret_rows, size_t *ret_n_left, uint64_t *ret_left)
{
	const struct el_report_options *options = call->options;
	bool exact = !el_report_is_time(call) && call->profile->period == 1;
	double min = options->min_given      ? options->min_percent
		     : options->all || exact ? 0
					     : DEFAULT_MIN_PERCENT;
	size_t n = 0;

	*ret_n_left = 0;
	*ret_left = 0;
	for (size_t i = 0; i < view->rows.n; i++) {
		const struct el_view_row *row = &view->rows.at[i];

		if (!wanted(call, row))
			continue;
		if (el_view_percent(view, row->cum) >= min &&
		    (options->all || n < FIRST_SCREEN_ROWS)) {
			ret_rows[n++] = i;
			continue;
		}
		++*ret_n_left;
		*ret_left += row->flat;
	}
	return n;
}

static unsigned int name_columns(const struct el_report_call *call, const struct el_view *view,
				 const uint32_t *rows, size_t n, unsigned int fixed)
{
	unsigned int most = NAME_MAX_COLUMNS;
	char room[NAME_SIZE];
	size_t widest = 8;

	/* Leave a third of a terminal to the column after the name. */
	if (call->options->width)
		most = call->options->width > fixed + 30 ? (call->options->width - fixed) * 2 / 3
							 : 20;
	for (size_t i = 0; i < n && widest < most; i++) {
		const char *name = name_of(call, view, &view->rows.at[rows[i]], room);
		size_t columns = el_escape_width(name, strlen(name), NULL);

		widest = columns > widest ? columns : widest;
	}
	return widest > most ? most : widest;
}

static void print_row(const struct el_report_call *call, const struct el_view *view,
		      const struct el_view_row *row, uint64_t sum, unsigned int columns,
		      struct el_text *text)
{
	char flat[32], cum[32], room[NAME_SIZE];
	double share = el_view_percent(view, row->flat);

	el_text_style(text, share >= 10  ? EL_STYLE_HOT
			    : share >= 1 ? EL_STYLE_WARM
					 : EL_STYLE_PLAIN);
	el_text_printf(text, "%9s %6.1f %6.1f %9s %6.1f  ", el_report_value(call, row->flat, flat),
		       share, el_view_percent(view, sum), el_report_value(call, row->cum, cum),
		       el_view_percent(view, row->cum));
	el_text_style(text, EL_STYLE_PLAIN);
	if (!has_kind(call)) {
		el_text_name(text, name_of(call, view, row, room),
			     call->options->width ? columns : 0);
	} else {
		el_text_column(text, name_of(call, view, row, room), columns);
		el_text_printf(text, "  %-7s", kind_of(call, row));
		where_of(call, row, room);
		if (*room) {
			el_text_printf(text, " ");
			el_text_name(text, room, 0);
		}
	}
	el_text_end_line(text);
}

static void print_rows(const struct el_report_call *call, const struct el_view *view,
		       uint32_t *rows, struct el_text *text)
{
	size_t n_left;
	uint64_t left, sum = 0;
	size_t n = choose(call, view, rows, &n_left, &left);
	unsigned int columns = name_columns(call, view, rows, n, 42 + 9);
	char room[32];

	el_text_style(text, EL_STYLE_BOLD);
	el_text_printf(text, "%9s %6s %6s %9s %6s  ", "flat", "flat%", "sum%", "cum", "cum%");
	if (!has_kind(call))
		el_text_printf(text, "%s", el_view_by_name(call->by));
	else
		el_text_printf(text, "%-*s  kind   %s", (int)columns, el_view_by_name(call->by),
			       is_code(call) ? " where" : "");
	el_text_style(text, EL_STYLE_PLAIN);
	el_text_end_line(text);
	for (size_t i = 0; i < n; i++) {
		sum += view->rows.at[rows[i]].flat;
		print_row(call, view, &view->rows.at[rows[i]], sum, columns, text);
	}
	if (n_left)
		el_text_printf(text, "%9s %6.1f  in %s more row%s: --all\n",
			       el_report_value(call, left, room), el_view_percent(view, left),
			       n_left == 1 ? "1" : el_text_count(n_left, (char[32]){0}),
			       n_left == 1 ? "" : "s");
}

int el_table_text(const struct el_report_call *call, struct el_buffer *out)
{
	struct el_text text = el_report_text_begin(call, out);
	struct el_view *view;
	uint32_t *rows;
	int err = el_report_view(call, call->by, &view);

	if (err)
		return err;
	rows = calloc(view->rows.n + 1, sizeof(*rows));
	if (rows) {
		el_heading_text(call, view, &text);
		el_text_printf(&text, "\n");
		print_rows(call, view, rows, &text);
		el_text_printf(&text, "\n");
		el_footing_text(call, &text);
		err = el_report_text_end(&text, out);
	}
	free(rows);
	el_view_free(view);
	return rows ? err : -ENOMEM;
}

static void row_json(const struct el_report_call *call, const struct el_view *view,
		     const struct el_view_row *row, struct el_json *json)
{
	const struct el_profile *profile = call->profile;
	double low, high;
	char room[NAME_SIZE];

	el_json_open(json, NULL, '{');
	el_json_string(json, "name", name_of(call, view, row, room));
	if (has_kind(call))
		el_json_string(json, "kind", kind_of(call, row));
	if (row->file)
		el_json_string(json, "file", el_report_string(call, row->file));
	if (row->line)
		el_json_uint(json, "line", row->line);
	if (is_code(call) || call->by == EL_VIEW_BY_MODULE)
		el_json_string(
			json, "module",
			el_report_string(call, profile->objects.at[object_of(call, row)].path));
	if (is_code(call))
		el_json_bool(json, "mine", row->mine);
	if (is_code(call) && (row->function ? call->origins[row->function].miss : row->miss))
		el_json_string(json, "miss",
			       el_miss_label(row->function ? call->origins[row->function].miss
							   : row->miss));
	if (row->process) {
		el_json_uint(json, "pid", profile->processes.at[row->process].pid);
		el_json_string(json, "cgroup",
			       el_report_string(call, profile->processes.at[row->process].cgroup));
	}
	if (call->by == EL_VIEW_BY_THREAD)
		el_json_uint(json, "tid", row->tid);
	el_json_uint(json, "flat", row->flat);
	el_json_number(json, "flat_percent", el_view_percent(view, row->flat));
	el_json_number(json, "sum_percent", el_view_percent(view, row->sum));
	el_json_uint(json, "cum", row->cum);
	el_json_number(json, "cum_percent", el_view_percent(view, row->cum));
	el_json_uint(json, "samples", row->n_flat);
	el_view_interval(view, row->flat, &low, &high);
	el_json_number(json, "low_percent", low);
	el_json_number(json, "high_percent", high);
	el_json_close(json, '}');
}

/* Complete unless --min, --file or --function says otherwise: a program reads it. */
int el_table_json(const struct el_report_call *call, struct el_buffer *out)
{
	double min = call->options->min_given ? call->options->min_percent : 0;
	struct el_json json = {.out = out};
	struct el_view *view;
	int err = el_report_view(call, call->by, &view);

	if (err)
		return err;
	el_json_open(&json, NULL, '{');
	el_json_string(&json, "report", "table");
	el_json_string(&json, "by", el_view_by_name(call->by));
	el_heading_json(call, view, &json);
	el_json_open(&json, "rows", '[');
	for (size_t i = 0; i < view->rows.n; i++) {
		const struct el_view_row *row = &view->rows.at[i];

		if (wanted(call, row) && el_view_percent(view, row->cum) >= min)
			row_json(call, view, row, &json);
	}
	el_json_close(&json, ']');
	el_json_close(&json, '}');
	el_view_free(view);
	return out->err;
}
