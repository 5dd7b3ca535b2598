/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names in perf maps that hold more than a name: V8's "JS:*fib /a/fib.js:1:13"
 * (also LazyCompile, Function, Script and Eval; the mark is the tier: ~ bytecode, ^ baseline,
 * + middle, * optimized) and CPython's "py::fib:/a/fib.py" (perf trampolines,
 * 3.12). The marks stay in the system name; two tiers of a function are one.
 */
#ifndef EL_PERFMAP_NAME_H
#define EL_PERFMAP_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizer/perfmap.h"

struct el_perfmap_name {
	char name[EL_PERFMAP_NAME_MAX + 1];
	char file[EL_PERFMAP_NAME_MAX + 1];
	uint32_t line; /* where the function begins; 0 unknown */
	bool is_python;
};

/* False: it is a plain name. */
bool el_perfmap_name_parse(const char *raw, struct el_perfmap_name *ret);

#endif
