/* SPDX-License-Identifier: Apache-2.0 */
/* Groups the rows of the view into sections and chooses what the first screen shows; see lines.h.
 */
#include "user/report/lines.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/search.h"

#define DEFAULT_CONTEXT 2
#define MAX_CONTEXT 1000000

static uint32_t context_of(const struct el_report_call *call)
{
	if (!call->options->context_given)
		return DEFAULT_CONTEXT;
	return call->options->context < MAX_CONTEXT ? call->options->context : MAX_CONTEXT;
}

/* --- sections -------------------------------------------------------------- */

struct row_order {
	const struct el_report_call *call;
	const struct el_view *view;
};

/* By file, function name, line. */
static int by_place(const void *a, const void *b, void *context)
{
	const struct row_order *order = context;
	const struct el_view_row *x = &order->view->rows.at[*(const uint32_t *)a];
	const struct el_view_row *y = &order->view->rows.at[*(const uint32_t *)b];
	const struct el_profile *profile = order->call->profile;
	int result = el_compare_u64(x->file, y->file);

	if (!result)
		result = el_compare_u64(profile->functions.at[x->function].name,
					profile->functions.at[y->function].name);
	if (!result)
		result = el_compare_u64(x->line, y->line);
	return result ? result : el_compare_u64(x->function, y->function);
}

static int start_section(struct el_annotated *lines, const struct el_view_row *row)
{
	struct el_section section = {
		.file = row->file,
		.function = row->function,
		.first_line = lines->lines.n,
		.mine = row->mine,
	};

	return el_vec_push(&lines->sections, section);
}

/* Adds the i-th row of order to the last section. */
static int add_row(struct el_annotated *lines, uint32_t i, const uint64_t *inlined)
{
	struct el_section *section = &lines->sections.at[lines->sections.n - 1];
	const struct el_view_row *row = &lines->view->rows.at[lines->order.at[i]];
	uint64_t weight = row->mine ? row->own : row->flat - row->into_mine;
	struct el_section_line *line;

	if (!section->n_lines || lines->lines.at[lines->lines.n - 1].line != row->line) {
		struct el_section_line new_line = {.line = row->line, .first_row = i};
		int err = el_vec_push(&lines->lines, new_line);

		if (err)
			return err;
		section->n_lines++;
	}
	line = &lines->lines.at[lines->lines.n - 1];
	line->n_rows++;
	line->flat += row->flat;
	line->n_flat += row->n_flat;
	line->weight += weight;
	/* Two functions of one name on one line can lie on one stack: their sum may count it twice.
	 */
	line->cum += row->cum;
	if (line->cum > lines->view->total)
		line->cum = lines->view->total;
	section->flat += row->flat;
	section->weight += weight;
	section->inlined += inlined[lines->order.at[i]];
	return 0;
}

/* The rows that have a place in a source file. */
static int collect_rows(struct el_annotated *lines)
{
	const struct el_view *view = lines->view;
	int err = 0;

	for (size_t i = 0; i < view->rows.n && !err; i++) {
		const struct el_view_row *row = &view->rows.at[i];

		if (row->mine)
			lines->own_self += row->flat;
		lines->own_self += row->into_mine;
		if (!row->function || !row->line || !row->file) {
			lines->at_no_line[row->function] += row->flat;
			continue;
		}
		lines->lines_known += row->flat;
		lines->has_lines[row->function] = true;
		if (el_report_wants(
			    lines->call, el_report_string(lines->call, row->file),
			    el_report_string(
				    lines->call,
				    lines->call->profile->functions.at[row->function].name)))
			err = el_vec_push(&lines->order, (uint32_t)i);
	}
	return err;
}

static int make_sections(struct el_annotated *lines)
{
	struct row_order order = {lines->call, lines->view};
	const struct el_profile *profile = lines->call->profile;
	uint64_t *inlined = calloc(lines->view->rows.n + 1, sizeof(*inlined));
	int err = inlined ? 0 : -ENOMEM;

	for (size_t i = 0; i < lines->view->inlined.n && !err; i++)
		inlined[lines->view->inlined.at[i].row] += lines->view->inlined.at[i].flat;
	if (!err && lines->order.n)
		qsort_r(lines->order.at, lines->order.n, sizeof(uint32_t), by_place, &order);
	for (size_t i = 0; i < lines->order.n && !err; i++) {
		const struct el_view_row *row = &lines->view->rows.at[lines->order.at[i]];
		const struct el_section *last =
			lines->sections.n ? &lines->sections.at[lines->sections.n - 1] : NULL;

		if (!last || last->file != row->file ||
		    profile->functions.at[last->function].name !=
			    profile->functions.at[row->function].name)
			err = start_section(lines, row);
		if (!err)
			err = add_row(lines, i, inlined);
	}
	free(inlined);
	return err;
}

static int by_rank(const void *a, const void *b)
{
	const struct el_section *x = a, *y = b;

	if (x->mine != y->mine)
		return y->mine - x->mine;
	if (x->weight != y->weight)
		return el_compare_u64(y->weight, x->weight);
	return el_compare_u64(x->first_line, y->first_line);
}

static int by_into_mine(const void *a, const void *b, void *context)
{
	const struct el_view *view = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int result = el_compare_u64(view->rows.at[y].into_mine, view->rows.at[x].into_mine);

	return result ? result : el_compare_u64(x, y);
}

static int collect_inlined(struct el_annotated *lines)
{
	int err = 0;

	for (size_t i = 0; i < lines->order.n && !err; i++)
		if (lines->view->rows.at[lines->order.at[i]].into_mine)
			err = el_vec_push(&lines->inlined, lines->order.at[i]);
	if (!err && lines->inlined.n)
		qsort_r(lines->inlined.at, lines->inlined.n, sizeof(uint32_t), by_into_mine,
			lines->view);
	return err;
}

bool el_section_range(const struct el_annotated *lines, const struct el_section *section,
		      uint32_t *cursor, uint32_t *ret_from, uint32_t *ret_to)
{
	const struct el_section_line *at = &lines->lines.at[section->first_line];
	uint32_t context = context_of(lines->call);
	uint32_t i = *cursor;

	while (i < section->n_lines && !at[i].chosen)
		i++;
	if (i == section->n_lines)
		return false;
	*ret_from = at[i].line > context ? at[i].line - context : 1;
	*ret_to = at[i].line > UINT32_MAX - 2 * context - 4 ? UINT32_MAX : at[i].line + context;
	/* A gap of one line takes no more room than the mark of a gap. */
	for (i++; i < section->n_lines; i++) {
		if (!at[i].chosen)
			continue;
		if (at[i].line > *ret_to && at[i].line - *ret_to > context + 2)
			break;
		*ret_to = at[i].line > UINT32_MAX - 2 * context - 4 ? UINT32_MAX
								    : at[i].line + context;
	}
	*cursor = i;
	return true;
}

const struct el_section_line *el_section_line_at(const struct el_annotated *lines,
						 const struct el_section *section, uint32_t line)
{
	const struct el_section_line *at = &lines->lines.at[section->first_line];
	uint32_t low = el_partition(section->n_lines, i, at[i].line < line);

	return low < section->n_lines && at[low].line == line ? &at[low] : NULL;
}

uint64_t el_section_built_ns(const struct el_annotated *lines, const struct el_section *section)
{
	const struct el_profile *profile = lines->call->profile;
	uint32_t object = lines->call->origins[section->function].object;

	if (profile->functions.at[section->function].code == EL_CODE_NATIVE &&
	    profile->objects.at[object].built_ns)
		return profile->objects.at[object].built_ns;
	return profile->start_wall_ns > 0 ? (uint64_t)profile->start_wall_ns : UINT64_MAX;
}

/* --- life ------------------------------------------------------------------ */

static int make_parts(struct el_annotated *lines)
{
	size_t n_functions = lines->call->profile->functions.n;
	int err = el_report_view(lines->call, EL_VIEW_BY_LINE, &lines->view);

	if (!err)
		err = el_report_view(lines->call, EL_VIEW_BY_FUNCTION, &lines->functions);
	if (!err)
		err = el_sources_new(&lines->sources);
	if (err)
		return err;
	lines->in_section = calloc(n_functions + 1, sizeof(*lines->in_section));
	lines->has_lines = calloc(n_functions + 1, sizeof(*lines->has_lines));
	lines->at_no_line = calloc(n_functions + 1, sizeof(*lines->at_no_line));
	lines->folder = getcwd(NULL, 0);
	if (!lines->folder)
		lines->folder = strdup("");
	return lines->in_section && lines->has_lines && lines->at_no_line && lines->folder
		       ? 0
		       : -ENOMEM;
}

int el_annotated_init(const struct el_report_call *call, struct el_annotated *ret)
{
	int err;

	*ret = (struct el_annotated){.call = call};
	err = make_parts(ret);
	if (!err)
		err = collect_rows(ret);
	if (!err)
		err = make_sections(ret);
	if (!err)
		err = collect_inlined(ret);
	if (!err) {
		if (ret->sections.n)
			qsort(ret->sections.at, ret->sections.n, sizeof(*ret->sections.at),
			      by_rank);
		err = el_annotated_choose(ret);
	}
	if (err)
		el_annotated_deinit(ret);
	return err;
}

void el_annotated_deinit(struct el_annotated *lines)
{
	el_view_free(lines->view);
	el_view_free(lines->functions);
	el_sources_free(lines->sources);
	free(lines->folder);
	free(lines->in_section);
	free(lines->has_lines);
	free(lines->at_no_line);
	el_vec_deinit(&lines->sections);
	el_vec_deinit(&lines->lines);
	el_vec_deinit(&lines->order);
	el_vec_deinit(&lines->inlined);
	*lines = (struct el_annotated){0};
}
