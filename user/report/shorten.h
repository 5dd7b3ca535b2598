/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Function names that fit a line: a long C++ or Rust name keeps its words and
 * loses what is inside its template arguments, then inside its parameters.
 * The full name is in the file and in JSON.
 */
#ifndef EL_REPORT_SHORTEN_H
#define EL_REPORT_SHORTEN_H

#include <stddef.h>

/* Columns above which a name is shortened. */
#define EL_SHORTEN_ABOVE 72

/*
 * `name` itself when it is short enough, or its short form in `room`, cut to
 * `size` with its NUL.
 */
const char *el_shorten(const char *name, char *room, size_t size);

#endif
