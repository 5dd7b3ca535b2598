/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ticks of a profile as columns. They are put by CPU: there a clock's
 * weight is the time since the tick before, so on a busy CPU the gap is 0 and
 * the weight differs from the one before by the timer's noise only. That,
 * and the row, is what is left to compress.
 */
#ifndef EL_PPROF_TICKS_H
#define EL_PPROF_TICKS_H

#include <stddef.h>

#include "base/buffer.h"
#include "user/profile/build.h"

/* Appends the message EL_PPROF_TICKS. 0 or -ENOMEM. */
int el_pprof_ticks_encode(const struct el_profile *profile, struct el_buffer *ret);

/* Builds the ticks of a message; rows[i] is the profile's row of the file's sample i. -EINVAL when
 * damaged. */
int el_pprof_ticks_decode(const void *bytes, size_t size, const uint32_t *rows, size_t n_rows,
			  struct el_profile_builder *builder);

#endif
