/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sentence for the person at the terminal, filled where the context is
 * known (what failed, on what, why, what to do) and printed by main alone.
 */
#ifndef EL_BASE_ERROR_H
#define EL_BASE_ERROR_H

#include <stdarg.h>
#include <stdio.h>

struct el_error {
	char text[768];
	int exit_status; /* what the program ends with; 0: main decides */
};

/* Sets the sentence and returns `err`, so that it can end a function. */
__attribute__((format(printf, 3, 4))) static inline int
el_error_set(struct el_error *error, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return err;
}

#endif
