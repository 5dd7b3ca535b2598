/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numba's symbols as a Numba user writes them:
 *   _ZN8__main__6ditherB2v1B38c8tJ...E5ArrayIhLi2E1C7mutable7alignedE
 *   dither(uint8[:,::1])
 * The mangling is Numba's own use of the Itanium ABI (numba/core/
 * itanium_mangler.py, 0.56 to 0.68): nested names, "B" tags that tell variants
 * apart, types by letter or by name with template arguments, other characters
 * as _XX. The module __main__ is left out, tags too, argument types stay.
 */
#ifndef EL_NUMBA_NAME_H
#define EL_NUMBA_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define EL_NUMBA_NAME_MAX 512 /* longer ones end in "..." */

struct el_numba_name {
	char text[EL_NUMBA_NAME_MAX];
	bool wrapper; /* glue around a function: from Python, from C, for ufuncs */
};

/* False: not a name that Numba makes from a Python function; `ret` is undefined then. */
bool el_numba_name_parse(const char *symbol, struct el_numba_name *ret);
/* Any symbol that only Numba's objects have, its run-time helpers included. */
bool el_numba_name_is(const char *symbol);

#endif
