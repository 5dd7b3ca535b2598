/* SPDX-License-Identifier: Apache-2.0 */
/* What a renderer is given: the profile, the options made sense of, and whose code each function
 * is. */
#ifndef EL_REPORT_CALL_H
#define EL_REPORT_CALL_H

#include "user/profile/view.h"
#include "user/report/ownership.h"
#include "user/report/report.h"
#include "user/report/text.h"

/* Where a function's code lies: as its first location says. */
struct el_origin {
	uint32_t object; /* 0: unknown */
	uint16_t miss;   /* enum el_miss: why there is no line, EL_MISS_NONE with lines */
};

struct el_report_call {
	const struct el_profile *profile;
	const struct el_report_options *options;
	const struct el_ownership *ownership;
	const struct el_origin *origins; /* by function */
	enum el_view_by by;
	const char *kind; /* options->kind as it is written, or NULL */
	uint32_t codes;   /* as in el_view_options */
	uint64_t all;     /* sum of the shown value over the whole profile */
};

/* One origin for each function of the profile; 0 or -ENOMEM, freed by free(). */
int el_origins_of(const struct el_profile *profile, struct el_origin **ret);

/* A view with the call's filters. */
int el_report_view(const struct el_report_call *call, enum el_view_by by, struct el_view **ret);

/* Whether --file and --function let it through. */
bool el_report_wants(const struct el_report_call *call, const char *file, const char *function);

/* Text with the call's colour and width that appends to `out`; give it back with _end(). */
struct el_text el_report_text_begin(const struct el_report_call *call, struct el_buffer *out);
int el_report_text_end(struct el_text *text, struct el_buffer *out);

const char *el_report_string(const struct el_report_call *call, uint32_t string);
/* The part after the last slash; the whole when there is none. */
const char *el_path_last(const char *path);
/* Relative to the current folder when inside it. */
const char *el_path_short(const char *path, const char *folder);

#endif
