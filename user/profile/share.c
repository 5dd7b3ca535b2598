/* SPDX-License-Identifier: Apache-2.0 */
/* How far a sampled share can be trusted: E. B. Wilson, JASA 22 (1927), without continuity
 * correction. */
#include <math.h>

#include "user/profile/view.h"

#define Z95 1.959963984540054 /* 97.5 % point of the normal distribution */

void el_share_interval(double share, double n, double *ret_low, double *ret_high)
{
	double z2, middle, half;

	if (!(n > 0)) {
		*ret_low = 0;
		*ret_high = 1;
		return;
	}
	z2 = Z95 * Z95 / n;
	middle = (share + z2 / 2) / (1 + z2);
	half = Z95 * sqrt(share * (1 - share) / n + z2 / (4 * n)) / (1 + z2);
	/* Rounding must not put the share itself outside. */
	*ret_low = fmax(0, fmin(share, middle - half));
	*ret_high = fmin(1, fmax(share, middle + half));
}

double el_view_percent(const struct el_view *view, uint64_t part)
{
	return view->total ? 100.0 * part / view->total : 0;
}

void el_view_interval(const struct el_view *view, uint64_t part, double *ret_low, double *ret_high)
{
	el_share_interval(el_view_percent(view, part) / 100, view->n_effective, ret_low, ret_high);
	*ret_low *= 100;
	*ret_high *= 100;
}

double el_view_precision(const struct el_view *view)
{
	double low, high;

	el_share_interval(0.5, view->n_effective, &low, &high);
	return (high - low) / 2 * 100;
}
