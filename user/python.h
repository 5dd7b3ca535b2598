/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a command line starts Python, from its words alone. */
#ifndef EL_PYTHON_H
#define EL_PYTHON_H

#include <stdbool.h>

/*
 * The word that is a Python or a script for one: the command itself, or what
 * env, timeout, nice and the like are given. NULL when there is none.
 */
char *const *el_python_of(char *const *command);

/* Its options keep out PYTHONPATH (-E, -I) or sitecustomize (-S). */
bool el_python_is_isolated(char *const *python);

#endif
