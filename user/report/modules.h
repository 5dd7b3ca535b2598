/* SPDX-License-Identifier: Apache-2.0 */
/* One line that says which programs and libraries the time went to: what a split by kind leaves
 * open. */
#ifndef EL_REPORT_MODULES_H
#define EL_REPORT_MODULES_H

#include "user/report/call.h"

/* 0 or -ENOMEM. Nothing is printed where there is one module only. */
int el_modules_text(const struct el_report_call *call, struct el_text *text);

#endif
