/* SPDX-License-Identifier: Apache-2.0 */
/* What stands below every report, for people; see heading.h. */
#include <inttypes.h>

#include "user/report/heading.h"

static const char *unit_after(const struct el_report_call *call,
			      const struct el_profile_counter *counter)
{
	return strcmp(el_report_string(call, counter->unit), "ns") ? "" : " ns";
}

/* A line for each, with what it means. */
static void explain_counters(const struct el_report_call *call, struct el_text *text)
{
	el_text_printf(text, "counters:");
	for (size_t i = 0; i < call->profile->counters.n; i++) {
		const struct el_profile_counter *counter = &call->profile->counters.at[i];

		el_text_printf(text, "\n%20" PRIu64 "%-3s  ", counter->value,
			       unit_after(call, counter));
		el_text_name(text, el_report_string(call, counter->name), 0);
		el_text_printf(text, ": ");
		el_text_name(text, el_report_string(call, counter->sentence), 0);
	}
}

/* Those that are not 0, in one line. */
static void list_counters(const struct el_report_call *call, struct el_text *text)
{
	const struct el_profile *profile = call->profile;
	size_t n_zero = 0;

	el_text_printf(text, "counters:");
	for (size_t i = 0; i < profile->counters.n; i++) {
		const struct el_profile_counter *counter = &profile->counters.at[i];

		if (!counter->value) {
			n_zero++;
			continue;
		}
		el_text_printf(text, i > n_zero ? ", " : " ");
		el_text_name(text, el_report_string(call, counter->name), 0);
		el_text_printf(text, " %" PRIu64 "%s", counter->value, unit_after(call, counter));
	}
	if (n_zero)
		el_text_printf(text, "%s%zu others 0", n_zero < profile->counters.n ? ", " : " ",
			       n_zero);
}

void el_footing_text(const struct el_report_call *call, struct el_text *text)
{
	const struct el_profile *profile = call->profile;

	for (size_t i = 0; i < profile->comments.n; i++) {
		el_text_name(text, el_report_string(call, profile->comments.at[i]), 0);
		el_text_printf(text, "\n");
	}
	if (!profile->counters.n)
		return;
	el_text_style(text, EL_STYLE_DIM);
	if (call->options->verbose)
		explain_counters(call, text);
	else
		list_counters(call, text);
	el_text_style(text, EL_STYLE_PLAIN);
	el_text_printf(text, "\n");
}
