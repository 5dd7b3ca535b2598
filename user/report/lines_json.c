/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the model of lines.h for programs: complete, unless --min, --file or --function says
 * otherwise. */
#include "user/report/heading.h"
#include "user/report/lines.h"

static void line_json(const struct el_annotated *lines, const struct el_section_line *line,
		      const struct el_source_file *file, struct el_json *json)
{
	const struct el_view *view = lines->view;
	const char *source;
	double low, high;
	size_t size;

	el_json_open(json, NULL, '{');
	el_json_uint(json, "line", line->line);
	el_json_uint(json, "self", line->flat);
	el_json_number(json, "self_percent", el_view_percent(view, line->flat));
	el_view_interval(view, line->flat, &low, &high);
	el_json_number(json, "low_percent", low);
	el_json_number(json, "high_percent", high);
	el_json_uint(json, "total", line->cum);
	el_json_number(json, "total_percent", el_view_percent(view, line->cum));
	el_json_uint(json, "with_libraries", line->weight);
	el_json_uint(json, "samples", line->n_flat);
	el_json_bool(json, "first_screen", line->chosen);
	source = el_source_line(file, line->line, &size);
	if (source)
		el_json_bytes(json, "source", source, size);
	el_json_close(json, '}');
}

static int section_json(const struct el_annotated *lines, const struct el_section *section,
			struct el_json *json)
{
	const struct el_report_call *call = lines->call;
	const struct el_profile *profile = call->profile;
	double min = call->options->min_given ? call->options->min_percent : 0;
	const char *path = el_report_string(call, section->file);
	const struct el_source_file *file;
	int err = el_sources_get(lines->sources, path, &file);

	if (err)
		return err;
	el_json_open(json, NULL, '{');
	el_json_string(json, "file", path);
	el_json_string(json, "function",
		       el_report_string(call, profile->functions.at[section->function].name));
	el_json_string(json, "kind", el_code_label(profile->functions.at[section->function].code));
	el_json_bool(json, "mine", section->mine);
	el_json_number(json, "percent", el_view_percent(lines->view, section->weight));
	el_json_string(json, "source_state", el_source_state_sentence(el_source_state(file)));
	el_json_bool(json, "source_changed",
		     el_source_changed_ns(file) > el_section_built_ns(lines, section));
	el_json_open(json, "lines", '[');
	for (uint32_t i = 0; i < section->n_lines; i++) {
		const struct el_section_line *line = &lines->lines.at[section->first_line + i];

		if (el_view_percent(lines->view, line->cum) >= min)
			line_json(lines, line, file, json);
	}
	el_json_close(json, ']');
	el_json_close(json, '}');
	return 0;
}

/* Which library lines were inlined into which of the user's own. */
static void inlined_json(const struct el_annotated *lines, struct el_json *json)
{
	const struct el_report_call *call = lines->call;
	const struct el_view *view = lines->view;

	el_json_open(json, "inlined", '[');
	for (size_t i = 0; i < view->inlined.n; i++) {
		const struct el_view_row *into = &view->rows.at[view->inlined.at[i].row];
		const struct el_view_row *from = &view->rows.at[view->inlined.at[i].from];

		el_json_open(json, NULL, '{');
		el_json_string(json, "into_file", el_report_string(call, into->file));
		el_json_uint(json, "into_line", into->line);
		el_json_string(
			json, "function",
			el_report_string(call, call->profile->functions.at[from->function].name));
		el_json_string(json, "file", el_report_string(call, from->file));
		el_json_uint(json, "line", from->line);
		el_json_uint(json, "self", view->inlined.at[i].flat);
		el_json_number(json, "self_percent",
			       el_view_percent(view, view->inlined.at[i].flat));
		el_json_close(json, '}');
	}
	el_json_close(json, ']');
}

static void functions_json(const struct el_annotated *lines, struct el_json *json)
{
	const struct el_report_call *call = lines->call;
	const struct el_profile *profile = call->profile;
	const struct el_view *view = lines->functions;
	char name[1024];

	el_json_open(json, "functions", '[');
	for (size_t i = 0; i < view->rows.n; i++) {
		const struct el_view_row *row = &view->rows.at[i];
		uint32_t object = row->object ? row->object : call->origins[row->function].object;
		uint16_t miss = row->function ? call->origins[row->function].miss : row->miss;

		el_view_row_name(view, row, name, sizeof(name));
		el_json_open(json, NULL, '{');
		el_json_string(
			json, "name",
			row->function
				? el_report_string(call, profile->functions.at[row->function].name)
				: name);
		el_json_string(json, "module",
			       el_report_string(call, profile->objects.at[object].path));
		if (miss)
			el_json_string(json, "miss", el_miss_label(miss));
		el_json_bool(json, "mine", row->mine);
		el_json_uint(json, "self", row->flat);
		el_json_number(json, "self_percent", el_view_percent(view, row->flat));
		el_json_uint(json, "total", row->cum);
		el_json_number(json, "total_percent", el_view_percent(view, row->cum));
		el_json_close(json, '}');
	}
	el_json_close(json, ']');
}

int el_annotated_json(const struct el_report_call *call, struct el_buffer *out)
{
	struct el_json json = {.out = out};
	struct el_annotated lines;
	int err = el_annotated_init(call, &lines);

	if (err)
		return err;
	el_json_open(&json, NULL, '{');
	el_json_string(&json, "report", "lines");
	el_heading_json(call, lines.view, &json);
	el_json_uint(&json, "your_code", lines.own_self);
	el_json_uint(&json, "your_code_with_libraries", lines.view->own_total);
	el_json_open(&json, "sections", '[');
	for (size_t i = 0; i < lines.sections.n && !err; i++)
		err = section_json(&lines, &lines.sections.at[i], &json);
	el_json_close(&json, ']');
	inlined_json(&lines, &json);
	functions_json(&lines, &json);
	el_json_close(&json, '}');
	el_annotated_deinit(&lines);
	return err ? err : out->err;
}
