/* SPDX-License-Identifier: Apache-2.0 */
/* See show.h. */
#include "user/show.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "user/profile/pprof.h"
#include "user/report/report.h"

static unsigned int terminal_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}

/* NO_COLOR is the field's agreement: https://no-color.org */
static int choose_colour(const char *wanted, bool *ret, struct el_error *error)
{
	const char *term = getenv("TERM");

	if (!wanted || !strcmp(wanted, "always"))
		*ret = wanted || (isatty(STDOUT_FILENO) && !getenv("NO_COLOR") && term &&
				  strcmp(term, "dumb"));
	else if (!strcmp(wanted, "never"))
		*ret = false;
	else
		return el_error_set(error, -EINVAL, "--color %s: give always or never", wanted);
	return 0;
}

int el_show_load(const char *path, struct el_profile **ret, struct el_error *error)
{
	int err = el_pprof_load(path, ret, error);

	return err == -EINVAL ? -EBADMSG : err;
}

int el_show(const char *report, const struct el_arguments *arguments,
	    const struct el_profile *profile, struct el_error *error)
{
	EL_VEC(struct el_ownership_rule) rules = {0};
	struct el_report_options options = {
		.by = arguments->by,
		.kind = arguments->kind,
		.sort_cum = arguments->by_cum,
		.all = arguments->all_rows,
		.min_given = arguments->min_given,
		.min_percent = arguments->min_percent,
		.context_given = arguments->context_given,
		.context = arguments->context,
		.files = arguments->files.at,
		.n_files = arguments->files.n,
		.functions = arguments->functions.at,
		.n_functions = arguments->functions.n,
		.json = arguments->json,
		.verbose = arguments->verbose,
		.width = terminal_width(),
	};
	int err = choose_colour(arguments->color, &options.colour, error);

	for (size_t i = 0; i < arguments->libraries.n && !err; i++)
		err = el_vec_push(&rules,
				  ((struct el_ownership_rule){arguments->libraries.at[i], false}));
	for (size_t i = 0; i < arguments->mine.n && !err; i++)
		err = el_vec_push(&rules,
				  ((struct el_ownership_rule){arguments->mine.at[i], true}));
	options.rules = rules.at;
	options.n_rules = rules.n;
	if (!err)
		err = el_report_render(el_report_find(report), profile, &options, stdout, error);
	el_vec_deinit(&rules);
	return err;
}
