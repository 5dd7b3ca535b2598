/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles as something to read: one table of renderers that feeds --format,
 * --help, the periodic reports and the tests. A renderer sees the model alone
 * (and the source files it names); it computes nothing that view.h computes.
 *
 * A report is made in memory and written at the end, so that an error leaves
 * no half a report. Names and source text are escaped on the way; see escape.h.
 */
#ifndef EL_REPORT_H
#define EL_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buffer.h"
#include "base/error.h"
#include "user/profile/profile.h"
#include "user/report/ownership.h"

/* Zeroed is the default of everything. */
struct el_report_options {
	const char *by;    /* table: "line", "function", ... (view.h); NULL: function */
	const char *kind;  /* only samples whose leaf is of this kind of code: "Numba", any case;
			      NULL: all */
	uint32_t pid, tid; /* only these; 0: all */
	bool sort_cum;     /* table: largest cum first */
	bool all;          /* everything, instead of the first screen */
	bool min_given;
	double min_percent; /* leave out what is under this share; when min_given */
	bool context_given;
	uint32_t context; /* lines: cold lines around hot ones, when context_given; else 2 */
	const char *const
		*files; /* globs: only source files that match, whole or by their last part */
	size_t n_files;
	const char *const *functions; /* globs: only functions that match */
	size_t n_functions;
	const struct el_ownership_rule *rules; /* whose code: tried in order, the last match wins */
	size_t n_rules;
	bool json;
	bool verbose; /* text: every counter, with what it means */
	bool colour;
	unsigned int width; /* of the terminal; 0: lines are never cut */
};

struct el_report_call;

struct el_report {
	const char *name;
	const char *help;
	/* Appends the report; 0 or -errno. */
	int (*text)(const struct el_report_call *call, struct el_buffer *out);
	int (*json)(const struct el_report_call *call, struct el_buffer *out);
};

/* All of them, ended by one without a name. */
extern const struct el_report el_reports[];
/* The row of that name, or NULL. */
const struct el_report *el_report_find(const char *name);

/* Writes the report and flushes `out`. 0, or -errno with a sentence: -EINVAL for options that make
 * no sense, what the write said for a full disk or a closed pipe. */
int el_report_render(const struct el_report *report, const struct el_profile *profile,
		     const struct el_report_options *options, FILE *out, struct el_error *error);

/* The same into memory; `out` is the caller's to deinit. */
int el_report_text(const struct el_report *report, const struct el_profile *profile,
		   const struct el_report_options *options, struct el_buffer *out,
		   struct el_error *error);

#endif
