/* SPDX-License-Identifier: Apache-2.0 */
/* The renderer `table`: flat, flat %, sum %, cum, cum %, as pprof's -text, with kind and where. */
#ifndef EL_REPORT_TABLE_H
#define EL_REPORT_TABLE_H

#include "user/report/call.h"

int el_table_text(const struct el_report_call *call, struct el_buffer *out);
int el_table_json(const struct el_report_call *call, struct el_buffer *out);

#endif
