/* SPDX-License-Identifier: Apache-2.0 */
/* Readable names; see demangle.h. */
#include "symbolizer/demangle.h"

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Substitutions let a short name stand for a huge one; libiberty bounds its recursion, we the
 * result. */
#define MANGLED_MAX 4096
#define READABLE_MAX (64u << 10)

/* Legacy Rust names end in "::h" and 16 hexadecimal digits. */
static void drop_rust_hash(char *name)
{
	size_t size = strlen(name), i;

	if (size < 20 || strncmp(name + size - 19, "::h", 3))
		return;
	for (i = size - 16; i < size; i++)
		if (!strchr("0123456789abcdef", name[i]))
			return;
	name[size - 19] = 0;
}

char *el_demangle(const char *name)
{
	char *readable = NULL;

	if (name[0] != '_' || strnlen(name, MANGLED_MAX) == MANGLED_MAX)
		return NULL;
	if (name[1] == 'R' || name[1] == 'Z')
		readable = rust_demangle(name, DMGL_RET_DROP | DMGL_PARAMS);
	if (!readable && name[1] == 'Z')
		readable = cplus_demangle_v3(name, DMGL_PARAMS | DMGL_ANSI);
	if (readable && strnlen(readable, READABLE_MAX) == READABLE_MAX) {
		free(readable);
		return NULL;
	}
	if (readable)
		drop_rust_hash(readable);
	return readable;
}
