/* SPDX-License-Identifier: Apache-2.0 */
/* See events.h. Sources: linux/perf_event.h, perf_event_open(2). */
#include "user/sampling/events.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>

#define SOFTWARE(event) .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_##event
#define HARDWARE(event) .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_##event

const struct el_event_type el_event_types[] = {
	{"cpu", "CPU time, by the clock of each CPU", SOFTWARE(CPU_CLOCK), .clock = true,
	 .default_period = 10101010, .value_type = "cpu", .value_unit = "nanoseconds"},
	{"page-faults", "page faults: which line touches new memory", SOFTWARE(PAGE_FAULTS),
	 .exact = true, .default_period = 1, .value_type = "page-faults", .value_unit = "count"},
	{"minor-faults", "page faults served without reading a file", SOFTWARE(PAGE_FAULTS_MIN),
	 .exact = true, .default_period = 1, .value_type = "minor-faults", .value_unit = "count"},
	{"major-faults", "page faults that read from a disk", SOFTWARE(PAGE_FAULTS_MAJ),
	 .exact = true, .default_period = 1, .value_type = "major-faults", .value_unit = "count"},
	{"context-switches", "times a thread left its CPU", SOFTWARE(CONTEXT_SWITCHES),
	 .exact = true, .default_period = 1, .value_type = "context-switches",
	 .value_unit = "count"},
	{"cpu-migrations", "times a thread moved to another CPU", SOFTWARE(CPU_MIGRATIONS),
	 .exact = true, .default_period = 1, .value_type = "cpu-migrations", .value_unit = "count"},
	{"cycles", "cycles of the CPU (hardware)", HARDWARE(CPU_CYCLES), .default_period = 10000000,
	 .value_type = "cycles", .value_unit = "count"},
	{"instructions", "instructions (hardware)", HARDWARE(INSTRUCTIONS),
	 .default_period = 10000000, .value_type = "instructions", .value_unit = "count"},
	{"cache-misses", "misses of the last cache (hardware)", HARDWARE(CACHE_MISSES),
	 .default_period = 10000, .value_type = "cache-misses", .value_unit = "count"},
	{NULL},
};

const struct el_event_type *el_event_type_find(const char *name)
{
	for (const struct el_event_type *type = el_event_types; type->name; type++)
		if (!strcmp(type->name, name))
			return type;
	return NULL;
}
