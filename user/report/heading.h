/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands above and below every report: how long, how much, how sure,
 * of which kinds, what was lost, the books in one line, and the sentences
 * that the recording left for its reader.
 */
#ifndef EL_REPORT_HEADING_H
#define EL_REPORT_HEADING_H

#include "user/report/call.h"
#include "user/report/json.h"

/* Whether the value shown is time; else it is a count of events. */
bool el_report_is_time(const struct el_report_call *call);
/* The shown value, for people: "4.11s", "12,345". `room` of at least 32 bytes. */
const char *el_report_value(const struct el_report_call *call, uint64_t value, char *room);

void el_heading_text(const struct el_report_call *call, const struct el_view *view,
		     struct el_text *text);
void el_footing_text(const struct el_report_call *call, struct el_text *text);

/* Members of the report's object: everything of both. */
void el_heading_json(const struct el_report_call *call, const struct el_view *view,
		     struct el_json *json);

#endif
