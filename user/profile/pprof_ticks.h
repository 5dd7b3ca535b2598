/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ticks of a profile as columns. They are put by CPU: there a clock's
 * weight is the time since the tick before, and differs from the weight before
 * by the timer's noise only, while the ticks that belong to others lie between
 * in the same rhythm. So of each tick is kept:
 *   weight: the zigzag difference to the weight before, its low byte apart,
 *   missed: how many ticks of this weight fit between this one and the one before,
 *   gap: the zigzag rest of the time since the tick before,
 *   sample: its row: twice the row plus 1 when a row as high was seen on this
 *     CPU before, else twice the distance to the next row not seen. Rows are
 *     numbered as they come, so that a stack's first sample costs next to nothing.
 * Each is 0 or small in its own way, and a compressor sees each apart. The
 * noise of the timer is what remains: 2.6 to 2.8 bytes a sample of a whole machine.
 */
#ifndef EL_PPROF_TICKS_H
#define EL_PPROF_TICKS_H

#include <stddef.h>

#include "base/buffer.h"
#include "user/profile/build.h"

#define EL_PPROF_TICK_MIN_SIZE 5 /* bytes of a tick in a message: one in each column */

/* Appends the message EL_PPROF_TICKS. 0 or -ENOMEM. */
int el_pprof_ticks_encode(const struct el_profile *profile, struct el_buffer *ret);

/* Builds the ticks of a message; rows[i] is the profile's row of the file's sample i. -EINVAL when
 * damaged. */
int el_pprof_ticks_decode(const void *bytes, size_t size, const uint32_t *rows, size_t n_rows,
			  struct el_profile_builder *builder);

#endif
