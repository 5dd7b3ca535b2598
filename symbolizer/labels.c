/* SPDX-License-Identifier: Apache-2.0 */
/* Words for the enumerations of symbolizer.h, from its own tables. */
#include "symbolizer/symbolizer.h"

const char *el_miss_label(enum el_miss miss)
{
	static const char *const labels[] = {
#define X(name, label, sentence) [EL_MISS_##name] = label,
		EL_MISSES(X)
#undef X
	};

	return miss < EL_N_MISSES ? labels[miss] : "";
}

const char *el_miss_sentence(enum el_miss miss)
{
	static const char *const sentences[] = {
#define X(name, label, sentence) [EL_MISS_##name] = sentence,
		EL_MISSES(X)
#undef X
	};

	return miss < EL_N_MISSES ? sentences[miss] : "";
}

const char *el_code_label(enum el_code code)
{
	static const char *const labels[] = {
#define X(name, label) [EL_CODE_##name] = label,
		EL_CODES(X)
#undef X
	};

	return code < EL_N_CODES ? labels[code] : "";
}
