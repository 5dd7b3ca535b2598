/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readable names: C++ (Itanium ABI), Rust legacy (the hash at its end is
 * dropped) and Rust v0, through libiberty, with limits on what is tried.
 */
#ifndef EL_DEMANGLE_H
#define EL_DEMANGLE_H

/* A malloc'ed name, or NULL when `name` is not mangled, too long, or memory is short. */
char *el_demangle(const char *name);

#endif
