/* SPDX-License-Identifier: Apache-2.0 */
/* The names of a view's rows and their order: by value, equal ones by name, so that a report is
 * repeatable. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "user/profile/view.h"

static const char *const names[] = {
#define X(name, text, help) text,
	EL_VIEW_KEYS(X)
#undef X
};

static const char *const miss_labels[] = {
#define X(name, label, sentence) label,
	EL_MISSES(X)
#undef X
};

int el_view_by_find(const char *name, enum el_view_by *ret)
{
	for (int by = 0; by < EL_N_VIEWS; by++) {
		if (!strcmp(name, names[by])) {
			*ret = by;
			return 0;
		}
	}
	return -EINVAL;
}

const char *el_view_by_name(enum el_view_by by)
{
	return names[by];
}

static const char *text_of(const struct el_view *view, uint32_t string)
{
	return el_strings_get(&view->profile->strings, string);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* "[libfoo.so] no function", "[unknown] JIT code gone" */
static size_t unknown_name(const struct el_view *view, const struct el_view_row *row, char *name,
			   size_t size)
{
	const char *path = base_name(text_of(view, view->profile->objects.at[row->object].path));
	const char *why = row->miss ? miss_labels[row->miss] : "no stack";
	bool bracketed = *path == '[';

	if (!*path)
		return snprintf(name, size, "[unknown] %s", why);
	if (!row->miss)
		return snprintf(name, size, bracketed ? "%s" : "[%s]", path);
	return snprintf(name, size, bracketed ? "%s %s" : "[%s] %s", path, why);
}

static size_t frame_name(const struct el_view *view, const struct el_view_row *row, char *name,
			 size_t size)
{
	const struct el_profile_function *function = &view->profile->functions.at[row->function];
	const char *text = text_of(view, function->name);
	const char *file = text_of(view, row->file);

	if (!row->function)
		return unknown_name(view, row, name, size);
	if (view->by == EL_VIEW_BY_FUNCTION || !*file)
		return snprintf(name, size, "%s", text);
	if (!row->line)
		return snprintf(name, size, "%s %s", text, file);
	return snprintf(name, size, "%s %s:%u", text, file, row->line);
}

static size_t address_name(const struct el_view *view, const struct el_view_row *row, char *name,
			   size_t size)
{
	unsigned long long addr = view->profile->locations.at[row->location].addr;
	int length = snprintf(name, size, "%016llx ", addr);
	size_t used = (size_t)length < size ? (size_t)length : size;

	return length + frame_name(view, row, name + used, size - used);
}

static size_t process_name(const struct el_view *view, const struct el_view_row *row, char *name,
			   size_t size)
{
	const struct el_profile_process *process = &view->profile->processes.at[row->process];

	return snprintf(name, size, "%s (%u)", text_of(view, process->comm), process->pid);
}

static size_t thread_name(const struct el_view *view, const struct el_view_row *row, char *name,
			  size_t size)
{
	const struct el_profile_process *process = &view->profile->processes.at[row->process];
	const char *thread = text_of(view, row->thread);

	if (!*thread)
		thread = text_of(view, process->comm);
	return snprintf(name, size, "%s (%u) of %s (%u)", thread, row->tid,
			text_of(view, process->comm), process->pid);
}

size_t el_view_row_name(const struct el_view *view, const struct el_view_row *row, char *name,
			size_t size)
{
	const char *text;

	switch (view->by) {
	case EL_VIEW_BY_LINE:
	case EL_VIEW_BY_FUNCTION:
		return frame_name(view, row, name, size);
	case EL_VIEW_BY_ADDRESS:
		return address_name(view, row, name, size);
	case EL_VIEW_BY_PROCESS:
		return process_name(view, row, name, size);
	case EL_VIEW_BY_THREAD:
		return thread_name(view, row, name, size);
	case EL_VIEW_BY_MODULE:
		text = text_of(view, view->profile->objects.at[row->object].path);
		return snprintf(name, size, "%s", *text ? text : "[unknown]");
	default:
		text = text_of(view, row->file);
		return *text ? (size_t)snprintf(name, size, "%s", text)
			     : unknown_name(view, row, name, size);
	}
}

struct order {
	const struct el_view *view;
	bool cum;
};

static int by_name(const struct el_view *view, const struct el_view_row *a,
		   const struct el_view_row *b)
{
	char name_a[512], name_b[512];
	int order;

	el_view_row_name(view, a, name_a, sizeof(name_a));
	el_view_row_name(view, b, name_b, sizeof(name_b));
	order = strcmp(name_a, name_b);
	return order ? order : memcmp(a, b, offsetof(struct el_view_row, mine));
}

static int compare_rows(const struct el_view *view, const struct el_view_row *a,
			const struct el_view_row *b, bool cum)
{
	uint64_t first_a = cum ? a->cum : a->flat, first_b = cum ? b->cum : b->flat;
	uint64_t second_a = cum ? a->flat : a->cum, second_b = cum ? b->flat : b->cum;

	if (first_a != first_b)
		return (first_a < first_b) - (first_a > first_b);
	if (second_a != second_b)
		return (second_a < second_b) - (second_a > second_b);
	return by_name(view, a, b);
}

static int compare_positions(const void *left, const void *right, void *context)
{
	const struct order *order = context;
	const struct el_view_row *rows = order->view->rows.at;

	return compare_rows(order->view, &rows[*(const uint32_t *)left],
			    &rows[*(const uint32_t *)right], order->cum);
}

static int compare_inlined(const void *left, const void *right)
{
	const struct el_view_inlined *a = left, *b = right;

	if (a->row != b->row)
		return (a->row > b->row) - (a->row < b->row);
	if (a->flat != b->flat)
		return (a->flat < b->flat) - (a->flat > b->flat);
	return (a->from > b->from) - (a->from < b->from);
}

static void renumber_inlined(struct el_view *view, const uint32_t *new_of)
{
	for (size_t i = 0; i < view->inlined.n; i++) {
		view->inlined.at[i].row = new_of[view->inlined.at[i].row];
		view->inlined.at[i].from = new_of[view->inlined.at[i].from];
	}
	if (view->inlined.n)
		qsort(view->inlined.at, view->inlined.n, sizeof(*view->inlined.at),
		      compare_inlined);
}

int el_view_sort(struct el_view *view, bool cum)
{
	size_t n = view->rows.n;
	el_auto_free uint32_t *old_of = calloc(n + 1, sizeof(*old_of));
	el_auto_free uint32_t *new_of = calloc(n + 1, sizeof(*new_of));
	struct el_view_row *sorted = calloc(n + 1, sizeof(*sorted));
	struct order order = {view, cum};
	uint64_t sum = 0;

	if (!old_of || !new_of || !sorted) {
		free(sorted);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		old_of[i] = i;
	qsort_r(old_of, n, sizeof(*old_of), compare_positions, &order);
	for (size_t i = 0; i < n; i++) {
		sorted[i] = view->rows.at[old_of[i]];
		sum += sorted[i].flat;
		sorted[i].sum = sum;
		new_of[old_of[i]] = i;
	}
	free(view->rows.at);
	view->rows.at = sorted;
	view->rows.capacity = n + 1;
	renumber_inlined(view, new_of);
	return 0;
}
