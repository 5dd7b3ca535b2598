/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences for the reader that follow from the profile itself: what is missing in it and how to
 * get it. */
#ifndef EL_ADVICE_H
#define EL_ADVICE_H

#include "user/numba.h"
#include "user/profile/profile.h"

/* Adds them to the profile's comments; 0 or -ENOMEM. `numba` may be NULL. */
int el_advice_add(const struct el_numba *numba, struct el_profile *profile);

#endif
