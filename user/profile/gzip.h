/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip (RFC 1952) into and out of memory. Writing is a stream, so that a large
 * profile is never in memory uncompressed; reading has limits, because a few
 * kilobytes can unpack to gigabytes.
 */
#ifndef EL_GZIP_H
#define EL_GZIP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

struct el_gzip;

/* Appends to `out`, which must outlive it. */
int el_gzip_new(struct el_buffer *out, struct el_gzip **ret);
void el_gzip_add(struct el_gzip *gzip, const void *bytes, size_t size);
/* Completes the stream. 0 or -ENOMEM for anything since _new. */
int el_gzip_finish(struct el_gzip *gzip);
void el_gzip_free(struct el_gzip *gzip);

bool el_gzip_is(const void *bytes, size_t size);
/* Unpacks all members. -EINVAL damaged, -ENODATA cut off, -EFBIG over `limit`, -ENOMEM. */
int el_gzip_unpack(const void *bytes, size_t size, size_t limit, struct el_buffer *ret);

#endif
