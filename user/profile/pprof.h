/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile as a file: google/pprof's profile.proto in gzip, with what
 * pprof has no place for in fields from 1000 on (pprof_fields.h). Our own
 * files are read back without loss; other tools' as far as they go.
 */
#ifndef EL_PPROF_H
#define EL_PPROF_H

#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"
#include "user/profile/profile.h"

/* Appends the file's bytes to `ret`; the same profile always gives the same bytes. 0 or -ENOMEM. */
int el_pprof_encode(const struct el_profile *profile, struct el_buffer *ret);

/* Encodes into the file of that path as el_file_replace() does; "-" is stdout, unless that is a
 * terminal. */
int el_pprof_save(const struct el_profile *profile, const char *path, struct el_error *error);

/*
 * Reads a profile from bytes that nobody vouches for, compressed or not.
 * -EINVAL with a sentence when they are damaged or no profile, -EFBIG beyond
 * the limits of pprof_read.c, -ENOMEM.
 */
int el_pprof_decode(const void *bytes, size_t size, struct el_profile **ret,
		    struct el_error *error);

/* The same from a file; "-" is stdin. The sentence names the file. */
int el_pprof_load(const char *path, struct el_profile **ret, struct el_error *error);

#endif
