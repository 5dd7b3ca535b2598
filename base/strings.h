/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A string table: each distinct string once, named by an index; index 0 is "".
 * A zeroed table must be initialised before use. Strings are NUL-terminated
 * and may hold any other byte; whoever prints one escapes it.
 */
#ifndef EL_BASE_STRINGS_H
#define EL_BASE_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/index.h"
#include "base/vec.h"

struct el_strings {
	EL_VEC(char) bytes;     /* all strings, each with its NUL */
	EL_VEC(uint32_t) start; /* by index: where in bytes */
	struct el_index index;
};

int el_strings_init(struct el_strings *strings);
void el_strings_deinit(struct el_strings *strings);

/* The index of `text`, added if new; 0 or -ENOMEM. NULL is "". */
int el_strings_add(struct el_strings *strings, const char *text, uint32_t *ret);
/* The same for `size` bytes that need no NUL; cut at a NUL inside. */
int el_strings_add_bytes(struct el_strings *strings, const char *text, size_t size, uint32_t *ret);
/* Never NULL; an index out of range reads as "". Valid until the next add. */
const char *el_strings_get(const struct el_strings *strings, uint32_t index);

#endif
