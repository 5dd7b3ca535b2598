/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target of the profile reader: any bytes are refused with a
 * sentence or give a profile that passes the check, can be viewed, and comes
 * back from its own file byte for byte.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/profile/pprof.h"
#include "user/profile/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(int condition)
{
	if (!condition)
		abort();
}

static void view_all(const struct el_profile *profile)
{
	for (int by = 0; by < EL_N_VIEWS; by++) {
		struct el_view_options options = {.by = by};
		struct el_view *view;
		uint64_t flat = 0;

		require(!el_view_new(profile, &options, &view));
		for (size_t i = 0; i < view->rows.n; i++) {
			flat += view->rows.at[i].flat;
			require(view->rows.at[i].flat <= view->rows.at[i].cum);
			require(view->rows.at[i].cum <= view->total);
		}
		require(flat == view->total);
		el_view_free(view);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct el_buffer first = {0}, second = {0};
	struct el_profile *profile, *again;
	struct el_error error = {0};

	if (el_pprof_decode(bytes, size, &profile, &error)) {
		require(*error.text);
		return 0;
	}
	require(!el_profile_check(profile, &error));
	view_all(profile);
	require(!el_pprof_encode(profile, &first));
	require(!el_pprof_decode(first.bytes.at, first.bytes.n, &again, &error));
	require(!el_pprof_encode(again, &second));
	require(first.bytes.n == second.bytes.n &&
		!memcmp(first.bytes.at, second.bytes.at, first.bytes.n));
	el_buffer_deinit(&first);
	el_buffer_deinit(&second);
	el_profile_free(profile);
	el_profile_free(again);
	return 0;
}
