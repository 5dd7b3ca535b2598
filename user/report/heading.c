/* SPDX-License-Identifier: Apache-2.0 */
/* See heading.h. */
#include "user/report/heading.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#define FEW_SAMPLES 100 /* a share is no better than +-10 points */
#define WAITS_BELOW 0.2 /* cores used: less, and the program mostly waits */
#define BUSY_ABOVE 0.9

/* X(counter, label): what is said as lost when it is not 0. */
#define LOSSES(X)                                                                                  \
	X("lost ring", "ring buffer full")                                                         \
	X("ran lost ring", "samples, ring buffer full")                                            \
	X("stack lost ring", "stacks, ring buffer full")                                           \
	X("stacks missing", "stacks never came")                                                   \
	X("side-band lost", "process and mapping records")                                         \
	X("images unread", "processes that were gone before they were read")                       \
	X("mappings refused", "mappings, too many")                                                \
	X("jit refused", "JIT images refused")                                                     \
	X("perf maps refused", "perf maps refused")                                                \
	X("perf map bad lines", "bad lines of perf maps")                                          \
	X("target full", "children not followed")                                                  \
	X("parser restarts", "parser restarts")                                                    \
	X("fetcher restarts", "fetcher restarts")                                                  \
	X("quarantined", "inputs quarantined")

static const struct {
	const char *counter, *label;
} losses[] = {
#define X(counter, label) {counter, label},
	LOSSES(X)
#undef X
};

#define N_LOSSES (sizeof(losses) / sizeof(losses[0]))

static const struct el_value_type *shown_type(const struct el_profile *profile)
{
	return &profile->value_types[profile->n_value_types - 1];
}

bool el_report_is_time(const struct el_report_call *call)
{
	return !strcmp(el_report_string(call, shown_type(call->profile)->unit), "nanoseconds");
}

const char *el_report_value(const struct el_report_call *call, uint64_t value, char *room)
{
	return el_report_is_time(call) ? el_text_time(value, room) : el_text_count(value, room);
}

static const struct el_profile_counter *counter_of(const struct el_report_call *call,
						   const char *name)
{
	for (size_t i = 0; i < call->profile->counters.n; i++)
		if (!strcmp(el_report_string(call, call->profile->counters.at[i].name), name))
			return &call->profile->counters.at[i];
	return NULL;
}

/* What the kernel kept for this profile: the sum of its weights must be the same. */
static uint64_t accounted(const struct el_report_call *call)
{
	const char *kept = el_report_is_time(call) ? "kept" : "ran kept";

	return el_profile_counter_value(call->profile, kept) +
	       el_profile_counter_value(call->profile, "carried in") -
	       el_profile_counter_value(call->profile, "carried out");
}

static bool is_whole_machine(const struct el_report_call *call)
{
	const struct el_profile_counter *filtered = counter_of(call, "filtered");

	return filtered && !filtered->value && !call->profile->command;
}

/* "node (7346)", "3 processes": what was looked at when nothing was run. */
static void who(const struct el_report_call *call, struct el_text *text)
{
	const struct el_profile *profile = call->profile;
	const struct el_profile_process *process;

	if (is_whole_machine(call)) {
		el_text_printf(text, "the whole machine");
	} else if (profile->processes.n == 2) { /* row 0 is none */
		process = &profile->processes.at[1];
		el_text_name(text, el_report_string(call, process->comm), 0);
		el_text_printf(text, " (%u)", process->pid);
	} else if (profile->processes.n > 2) {
		el_text_printf(text, "%zu processes", profile->processes.n - 1);
	}
}

static void what_was_run(const struct el_report_call *call, struct el_text *text)
{
	const struct el_profile *profile = call->profile;
	time_t seconds = profile->start_wall_ns / 1000000000;
	char when[40] = "";
	struct tm tm;

	if (profile->start_wall_ns > 0 && gmtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm);
	if (!profile->command && !*when)
		return;
	el_text_style(text, EL_STYLE_DIM);
	if (profile->command)
		el_text_name(text, el_report_string(call, profile->command),
			     text->width > 40 ? text->width - 30 : 0);
	else
		who(call, text);
	el_text_printf(text, "  %s", when);
	el_text_style(text, EL_STYLE_PLAIN);
	el_text_printf(text, "\n");
}

/* "7.10s wall, 7.00s CPU, 0.99 of 2 cores: CPU-bound" */
static void how_much(const struct el_report_call *call, struct el_text *text)
{
	const struct el_profile *profile = call->profile;
	double cores = profile->duration_ns ? (double)call->all / profile->duration_ns : 0;
	bool machine = is_whole_machine(call);
	char room[32];

	if (profile->duration_ns)
		el_text_printf(text, "%s wall, ", el_text_time(profile->duration_ns, room));
	el_text_printf(text, "%s", el_report_value(call, call->all, room));
	if (!el_report_is_time(call)) {
		el_text_printf(text, " ");
		el_text_name(text, el_report_string(call, shown_type(profile)->type), 0);
		return;
	}
	el_text_printf(text, " CPU");
	if (!profile->duration_ns)
		return;
	el_text_printf(text, ", %.2f", cores);
	if (profile->n_cpus)
		el_text_printf(text, " of %u", profile->n_cpus);
	el_text_printf(text, " cores");
	if (cores < WAITS_BELOW)
		el_text_printf(text, machine ? ": mostly idle"
					     : ": it mostly waits, and only its CPU time is below");
	else if (!machine && cores > BUSY_ABOVE && cores < 1 / BUSY_ABOVE)
		el_text_printf(text, ": CPU-bound");
}

static void how_sure(const struct el_report_call *call, const struct el_view *view,
		     struct el_text *text)
{
	double precision = el_view_precision(view);
	char room[32];

	el_text_printf(text, " | %s sample%s", el_text_count(view->n_samples, room),
		       view->n_samples == 1 ? "" : "s");
	if (!el_report_is_time(call) && call->profile->period == 1)
		el_text_printf(text, ", every one counted");
	else if (view->n_samples)
		el_text_printf(text,
			       precision < 0.095 ? ", a share is good to ±%.2f points"
						 : ", a share is good to ±%.1f points",
			       precision);
}

static void one_loss(const struct el_profile_counter *counter, const char *label, bool is_time,
		     uint64_t of, struct el_text *text)
{
	char room[32];

	if (is_time)
		el_text_printf(text, " %s (%.2f %%) %s", el_text_time(counter->value, room),
			       100.0 * counter->value / (of ? of : 1), label);
	else
		el_text_printf(text, " %s %s", el_text_count(counter->value, room), label);
}

static void what_was_lost(const struct el_report_call *call, struct el_text *text)
{
	uint64_t expected = accounted(call);
	int n = 0;

	if (!call->profile->counters.n)
		return;
	el_text_printf(text, " | lost");
	for (size_t i = 0; i < N_LOSSES; i++) {
		const struct el_profile_counter *counter = counter_of(call, losses[i].counter);
		bool is_time;

		if (!counter || !counter->value)
			continue;
		is_time = !strcmp(el_report_string(call, counter->unit), "ns");
		el_text_printf(text, n++ ? "," : "");
		one_loss(counter, losses[i].label, is_time, expected, text);
	}
	if (!n)
		el_text_printf(text, " 0");
	if (expected)
		el_text_printf(text,
			       call->all == expected ? ", sampled/accounted %.2f"
						     : ", sampled/accounted %.4f",
			       (double)call->all / expected);
}

struct part {
	const char *label;
	uint64_t value;
};

static int larger_first(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return (x->value < y->value) - (x->value > y->value);
}

static size_t unknown_parts(const struct el_view *view, struct part *parts, uint64_t *ret_sum)
{
	size_t n = 0;

	*ret_sum = view->no_stack + view->code[EL_CODE_UNKNOWN];
	if (view->code[EL_CODE_UNKNOWN])
		parts[n++] =
			(struct part){"kind of code not recorded", view->code[EL_CODE_UNKNOWN]};
	for (int miss = 0; miss < EL_N_MISSES; miss++) {
		if (!view->miss[miss])
			continue;
		*ret_sum += view->miss[miss];
		parts[n++] = (struct part){el_miss_label(miss), view->miss[miss]};
	}
	if (view->no_stack)
		parts[n++] = (struct part){"no stack", view->no_stack};
	qsort(parts, n, sizeof(*parts), larger_first);
	return n;
}

/* "Numba 62.2 %  native 4.9 %  unknown 0.2 % (JIT code gone 0.2)" */
static void kinds(const struct el_view *view, struct el_text *text)
{
	struct part codes[EL_N_CODES], unknown[EL_N_MISSES + 2];
	uint64_t not_known;
	size_t n_unknown = unknown_parts(view, unknown, &not_known);
	size_t n = 0;
	char room[32];

	if (!view->total)
		return;
	for (int code = 0; code < EL_N_CODES; code++)
		if (view->code[code] && code != EL_CODE_UNKNOWN)
			codes[n++] = (struct part){el_code_label(code), view->code[code]};
	qsort(codes, n, sizeof(*codes), larger_first);
	for (size_t i = 0; i < n; i++)
		el_text_printf(text, "%s%s %s %%", i ? "  " : "", codes[i].label,
			       el_text_percent(el_view_percent(view, codes[i].value), room));
	if (not_known)
		el_text_printf(text, "%sunknown %s %% (", n ? "  " : "",
			       el_text_percent(el_view_percent(view, not_known), room));
	for (size_t i = 0; i < n_unknown; i++)
		el_text_printf(text, "%s%s %s%s", i ? ", " : "", unknown[i].label,
			       el_text_percent(el_view_percent(view, unknown[i].value), room),
			       i + 1 == n_unknown ? ")" : "");
	el_text_printf(text, "\n");
}

static void filters(const struct el_report_call *call, const struct el_view *view,
		    struct el_text *text)
{
	const struct el_report_options *options = call->options;

	if (!options->kind && !options->pid && !options->tid)
		return;
	el_text_printf(text, "only ");
	if (call->kind)
		el_text_printf(text, "%s", call->kind);
	if (options->pid)
		el_text_printf(text, "%sprocess %u", options->kind ? ", " : "", options->pid);
	if (options->tid)
		el_text_printf(text, "%sthread %u", options->kind || options->pid ? ", " : "",
			       options->tid);
	el_text_printf(text, ": %.1f %% of all; shares below are of it\n",
		       call->all ? 100.0 * view->total / call->all : 0.0);
}

void el_heading_text(const struct el_report_call *call, const struct el_view *view,
		     struct el_text *text)
{
	what_was_run(call, text);
	how_much(call, text);
	how_sure(call, view, text);
	what_was_lost(call, text);
	el_text_printf(text, "\n");
	kinds(view, text);
	filters(call, view, text);
	if (!call->all) {
		el_text_printf(
			text, "no samples: %s\n",
			el_report_is_time(call)
				? "nothing of it ran on a CPU for as long as a sampling period"
				: "the event did not happen as often as the count");
	} else if (view->n_samples < FEW_SAMPLES && el_report_is_time(call)) {
		el_text_printf(text, "few samples: run it longer, or sample faster (-F)\n");
	}
}

static void kinds_json(const struct el_view *view, struct el_json *json)
{
	el_json_open(json, "kinds", '{');
	for (int code = 0; code < EL_N_CODES; code++)
		if (view->code[code])
			el_json_uint(json, el_code_label(code), view->code[code]);
	el_json_close(json, '}');
	el_json_open(json, "unknown", '{');
	for (int miss = 0; miss < EL_N_MISSES; miss++)
		if (view->miss[miss])
			el_json_uint(json, el_miss_label(miss), view->miss[miss]);
	if (view->no_stack)
		el_json_uint(json, "no stack", view->no_stack);
	el_json_close(json, '}');
}

static void books_json(const struct el_report_call *call, struct el_json *json)
{
	const struct el_profile *profile = call->profile;

	el_json_open(json, "counters", '[');
	for (size_t i = 0; i < profile->counters.n; i++) {
		const struct el_profile_counter *counter = &profile->counters.at[i];

		el_json_open(json, NULL, '{');
		el_json_string(json, "name", el_report_string(call, counter->name));
		el_json_uint(json, "value", counter->value);
		el_json_string(json, "unit", el_report_string(call, counter->unit));
		el_json_string(json, "meaning", el_report_string(call, counter->sentence));
		el_json_close(json, '}');
	}
	el_json_close(json, ']');
	el_json_open(json, "comments", '[');
	for (size_t i = 0; i < profile->comments.n; i++)
		el_json_string(json, NULL, el_report_string(call, profile->comments.at[i]));
	el_json_close(json, ']');
}

void el_heading_json(const struct el_report_call *call, const struct el_view *view,
		     struct el_json *json)
{
	const struct el_profile *profile = call->profile;

	el_json_string(json, "command", el_report_string(call, profile->command));
	el_json_string(json, "event", el_report_string(call, profile->event));
	el_json_string(json, "value", el_report_string(call, shown_type(profile)->type));
	el_json_string(json, "unit", el_report_string(call, shown_type(profile)->unit));
	el_json_uint(json, "period", profile->period);
	el_json_uint(json, "start_ns", profile->start_wall_ns > 0 ? profile->start_wall_ns : 0);
	el_json_uint(json, "duration_ns", profile->duration_ns);
	el_json_uint(json, "cpus", profile->n_cpus);
	el_json_uint(json, "all", call->all);
	el_json_uint(json, "total", view->total);
	el_json_uint(json, "samples", view->n_samples);
	if (view->n_samples)
		el_json_number(json, "precision_percent", el_view_precision(view));
	kinds_json(view, json);
	books_json(call, json);
}
