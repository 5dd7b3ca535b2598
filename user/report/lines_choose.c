/* SPDX-License-Identifier: Apache-2.0 */
/* What of the annotated source is worth the first screen; see lines.h. */
#include <stdlib.h>

#include "base/search.h"
#include "user/report/lines.h"

#define ENOUGH 0.9            /* of what is ranked: then stop */
#define WORTH_A_LINE 0.5      /* percent */
#define FIRST_SCREEN_LINES 60 /* source lines, context included */

struct candidate {
	uint32_t section, line;
	uint64_t weight;
	bool mine;
};

static int by_weight(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->mine != y->mine)
		return y->mine - x->mine;
	if (x->weight != y->weight)
		return el_compare_u64(y->weight, x->weight);
	return el_compare_u64(x->line, y->line);
}

static uint32_t printed_lines(const struct el_annotated *lines, const struct el_section *section)
{
	uint32_t cursor = 0, from, to, n = 0;

	while (el_section_range(lines, section, &cursor, &from, &to))
		n += to - from + 1;
	return n;
}

static void choose_line(struct el_annotated *lines, const struct candidate *candidate, bool chosen)
{
	lines->lines.at[candidate->line].chosen = chosen;
	lines->sections.at[candidate->section].n_chosen += chosen ? 1 : -1;
}

/* A library's lines are worth showing only with their text. */
static bool has_text(struct el_annotated *lines, struct el_section *section)
{
	const char *path = el_report_string(lines->call, section->file);
	const struct el_source_file *file;

	if (!section->text)
		section->text = !el_sources_get(lines->sources, path, &file) &&
						el_source_state(file) == EL_SOURCE_READ
					? 1
					: -1;
	return section->text > 0;
}

static void choose_everything(struct el_annotated *lines, const struct candidate *candidates,
			      size_t n, double min)
{
	for (size_t i = 0; i < n; i++)
		if (el_view_percent(lines->view, candidates[i].weight) >= min)
			choose_line(lines, &candidates[i], true);
}

/* Chooses the line unless the screen would overflow; the first one always fits. */
static bool fit_line(struct el_annotated *lines, const struct candidate *candidate,
		     uint32_t *printed)
{
	const struct el_section *section = &lines->sections.at[candidate->section];
	uint32_t more = printed_lines(lines, section);

	choose_line(lines, candidate, true);
	more = printed_lines(lines, section) - more;
	if (*printed && *printed + more > FIRST_SCREEN_LINES) {
		choose_line(lines, candidate, false);
		return false;
	}
	*printed += more;
	return true;
}

/*
 * Largest first, until 90 % of the user's own code, or of everything when that
 * is less, or a screen. What room is left goes to the smaller lines of the
 * functions that are there anyway, so that a loop is not cut short.
 */
static void choose_screen(struct el_annotated *lines, const struct candidate *candidates, size_t n,
			  double min)
{
	const struct el_view *view = lines->view;
	uint64_t covered = 0;
	uint32_t printed = 0;

	for (size_t i = 0; i < n; i++) {
		struct el_section *section = &lines->sections.at[candidates[i].section];
		double enough = ENOUGH * (section->mine ? view->own_total : view->total);

		if (!candidates[i].weight || covered >= enough ||
		    el_view_percent(view, candidates[i].weight) < min ||
		    (!section->mine && !has_text(lines, section)))
			continue;
		if (!fit_line(lines, &candidates[i], &printed))
			return;
		covered += candidates[i].weight;
	}
	for (size_t i = 0; i < n; i++) {
		const struct el_section *section = &lines->sections.at[candidates[i].section];
		double share = el_view_percent(view, candidates[i].weight);

		if (section->n_chosen && !lines->lines.at[candidates[i].line].chosen &&
		    share >= WORTH_A_LINE && share >= min &&
		    !fit_line(lines, &candidates[i], &printed))
			return;
	}
}

/* Lines within the ranges that will be printed, and the functions they belong to. */
static void mark_section(struct el_annotated *lines, const struct el_section *section)
{
	struct el_section_line *at = &lines->lines.at[section->first_line];
	uint32_t cursor = 0, from, to, i = 0;

	while (el_section_range(lines, section, &cursor, &from, &to)) {
		while (i < section->n_lines && at[i].line < from)
			i++;
		for (; i < section->n_lines && at[i].line <= to; i++)
			at[i].shown = true;
	}
	for (i = 0; i < section->n_lines && section->n_chosen; i++) {
		for (uint32_t r = 0; r < at[i].n_rows; r++) {
			uint32_t row = lines->order.at[at[i].first_row + r];

			lines->in_section[lines->view->rows.at[row].function] = true;
		}
	}
}

int el_annotated_choose(struct el_annotated *lines)
{
	const struct el_report_options *options = lines->call->options;
	double min = options->min_given ? options->min_percent : 0;
	struct candidate *candidates = calloc(lines->lines.n + 1, sizeof(*candidates));
	size_t n = 0;

	if (!candidates)
		return -ENOMEM;
	for (size_t s = 0; s < lines->sections.n; s++) {
		const struct el_section *section = &lines->sections.at[s];

		for (uint32_t i = 0; i < section->n_lines; i++) {
			uint32_t line = section->first_line + i;

			candidates[n++] = (struct candidate){s, line, lines->lines.at[line].weight,
							     section->mine};
		}
	}
	qsort(candidates, n, sizeof(*candidates), by_weight);
	if (options->all || options->n_files || options->n_functions)
		choose_everything(lines, candidates, n, min);
	else
		choose_screen(lines, candidates, n, min);
	free(candidates);
	for (size_t s = 0; s < lines->sections.n; s++)
		mark_section(lines, &lines->sections.at[s]);
	return 0;
}
