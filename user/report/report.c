/* SPDX-License-Identifier: Apache-2.0 */
/* The table of renderers, and what happens before and after each of them; see report.h. */
#include "user/report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "user/report/call.h"
#include "user/report/lines.h"
#include "user/report/table.h"

const struct el_report el_reports[] = {
	{"lines", "annotated source: a share on every hot line, your own files first",
	 el_annotated_text, el_annotated_json},
	{"table", "flat and cumulative shares of lines, functions, files, modules, ...",
	 el_table_text, el_table_json},
	{0},
};

const struct el_report *el_report_find(const char *name)
{
	for (const struct el_report *report = el_reports; report->name; report++)
		if (!strcmp(report->name, name))
			return report;
	return NULL;
}

static int code_of(const char *kind, struct el_report_call *call)
{
	for (int code = 0; code < EL_N_CODES; code++) {
		if (strcasecmp(kind, el_code_label(code)))
			continue;
		call->codes = 1u << code;
		call->kind = el_code_label(code);
		return 0;
	}
	return -EINVAL;
}

static int understand(struct el_report_call *call, struct el_error *error)
{
	const struct el_report_options *options = call->options;
	const struct el_profile *profile = call->profile;

	call->by = EL_VIEW_BY_FUNCTION;
	if (options->by && el_view_by_find(options->by, &call->by))
		return el_error_set(error, -EINVAL,
				    "--by %s: there is no such table. There are line, function, "
				    "file, module, process, thread and address",
				    options->by);
	if (options->kind && code_of(options->kind, call))
		return el_error_set(error, -EINVAL,
				    "--kind %s: there is no such kind of code. There are Numba, "
				    "native, kernel, JIT, Python and unknown",
				    options->kind);
	if (!profile->n_value_types)
		return el_error_set(error, -EINVAL, "the profile has no values to show");
	for (size_t i = 0; i < profile->samples.n; i++)
		call->all += profile->samples.at[i].values[profile->n_value_types - 1];
	return 0;
}

int el_report_text(const struct el_report *report, const struct el_profile *profile,
		   const struct el_report_options *options, struct el_buffer *out,
		   struct el_error *error)
{
	struct el_report_call call = {.profile = profile, .options = options};
	el_auto_free struct el_origin *origins = NULL;
	struct el_ownership *ownership = NULL;
	int err = understand(&call, error);

	if (err)
		return err;
	err = el_origins_of(profile, &origins);
	if (!err)
		err = el_ownership_new(profile, options->rules, options->n_rules, &ownership);
	if (!err) {
		call.origins = origins;
		call.ownership = ownership;
		err = (options->json ? report->json : report->text)(&call, out);
	}
	el_ownership_free(ownership);
	if (!err)
		err = out->err;
	return err ? el_error_set(error, err, "cannot make the report: %s", strerror(-err)) : 0;
}

int el_report_render(const struct el_report *report, const struct el_profile *profile,
		     const struct el_report_options *options, FILE *out, struct el_error *error)
{
	struct el_buffer made = {0};
	int err = el_report_text(report, profile, options, &made, error);

	if (!err) {
		errno = 0;
		if (fwrite(made.bytes.at, 1, made.bytes.n, out) != made.bytes.n || fflush(out)) {
			err = errno ? -errno : -EIO;
			el_error_set(error, err, "cannot write the report: %s", strerror(-err));
		}
	}
	el_buffer_deinit(&made);
	return err;
}

int el_origins_of(const struct el_profile *profile, struct el_origin **ret)
{
	struct el_origin *origins = calloc(profile->functions.n + 1, sizeof(*origins));

	if (!origins)
		return -ENOMEM;
	for (size_t i = 1; i < profile->locations.n; i++) {
		const struct el_profile_location *location = &profile->locations.at[i];
		struct el_origin origin = {.object = profile->mappings.at[location->mapping].object,
					   .miss = location->miss};

		for (uint32_t l = 0; l < location->n_lines; l++) {
			uint32_t function = profile->lines.at[location->first_line + l].function;

			if (!origins[function].object)
				origins[function] = origin;
		}
	}
	*ret = origins;
	return 0;
}

static bool is_mine(void *context, const struct el_profile *profile, uint32_t function)
{
	const struct el_report_call *call = context;

	(void)profile;
	return el_ownership_is_mine(call->ownership, function);
}

int el_report_view(const struct el_report_call *call, enum el_view_by by, struct el_view **ret)
{
	struct el_view_options options = {
		.by = by,
		.codes = call->codes,
		.pid = call->options->pid,
		.tid = call->options->tid,
		.sort_cum = call->options->sort_cum,
		.mine = is_mine,
		.mine_context = (void *)call,
	};

	return el_view_new(call->profile, &options, ret);
}

static bool passes(const char *const *globs, size_t n, const char *text)
{
	return !n || el_any_glob_matches(globs, n, text);
}

bool el_report_wants(const struct el_report_call *call, const char *file, const char *function)
{
	const struct el_report_options *options = call->options;

	return (passes(options->files, options->n_files, file) ||
		passes(options->files, options->n_files, el_path_last(file))) &&
	       passes(options->functions, options->n_functions, function);
}

struct el_text el_report_text_begin(const struct el_report_call *call, struct el_buffer *out)
{
	return (struct el_text){
		.out = *out,
		.colour = call->options->colour,
		.width = call->options->width,
	};
}

int el_report_text_end(struct el_text *text, struct el_buffer *out)
{
	*out = text->out;
	return out->err;
}

const char *el_report_string(const struct el_report_call *call, uint32_t string)
{
	return el_strings_get(&call->profile->strings, string);
}

const char *el_path_last(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

const char *el_path_short(const char *path, const char *folder)
{
	size_t size = strlen(folder);

	return size > 1 && !strncmp(path, folder, size) && path[size] == '/' && path[size + 1]
		       ? path + size + 1
		       : path;
}
