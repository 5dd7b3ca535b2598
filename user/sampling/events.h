/* SPDX-License-Identifier: Apache-2.0 */
/* The table of event sources: what -e takes, what perf_event_open needs for it, what its values are
 * called. */
#ifndef EL_EVENTS_H
#define EL_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

struct el_event_type {
	const char *name; /* "cpu", "page-faults" */
	const char *help;
	uint32_t type;   /* PERF_TYPE_* */
	uint64_t config; /* PERF_COUNT_* */
	bool clock;      /* the period is time, the weight is elapsed time */
	bool exact;      /* the leaf is the very instruction */
	uint64_t default_period;
	const char *value_type; /* profile value: "cpu", "page-faults" */
	const char *value_unit; /* "nanoseconds", "count" */
};

/* The row of that name, or NULL. */
const struct el_event_type *el_event_type_find(const char *name);
/* All rows, ended by one without a name. */
extern const struct el_event_type el_event_types[];

#endif
