/* SPDX-License-Identifier: Apache-2.0 */
/* See modules.h. */
#include "user/report/modules.h"

#define MODULES_MAX 5
#define MIN_PERCENT 1.0

static void one(const struct el_report_call *call, const struct el_view *view,
		const struct el_view_row *row, struct el_text *text)
{
	const struct el_profile_object *object = &call->profile->objects.at[row->object];
	const char *path = row->object ? el_report_string(call, object->path) : "[unknown]";
	char room[32];

	el_text_name(text, el_path_last(path), 0);
	el_text_printf(text, " %s %%", el_text_percent(el_view_percent(view, row->flat), room));
}

int el_modules_text(const struct el_report_call *call, struct el_text *text)
{
	struct el_view *view;
	size_t n = 0;
	int err = el_report_view(call, EL_VIEW_BY_MODULE, &view);

	if (err)
		return err;
	while (n < view->rows.n && n < MODULES_MAX &&
	       el_view_percent(view, view->rows.at[n].flat) >= MIN_PERCENT)
		n++;
	for (size_t i = 0; n > 1 && i < n; i++) {
		el_text_printf(text, i ? ", " : "by module: ");
		one(call, view, &view->rows.at[i], text);
	}
	if (n > 1)
		el_text_printf(text, "\n");
	el_view_free(view);
	return 0;
}
