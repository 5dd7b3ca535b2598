/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the kernel's symbol list. libFuzzer. */
#include <stdlib.h>

#include "symbolizer/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct el_kallsyms kallsyms;
	struct el_kallsyms_answer answer;

	if (el_kallsyms_init(&kallsyms))
		return 0;
	el_kallsyms_parse(&kallsyms, (const char *)bytes, size);
	el_kallsyms_sort(&kallsyms);
	for (size_t i = 0; i < kallsyms.symbols.n; i++)
		if (el_kallsyms_find(&kallsyms, kallsyms.symbols.at[i].addr, &answer) &&
		    answer.start != kallsyms.symbols.at[i].addr)
			abort();
	el_kallsyms_deinit(&kallsyms);
	return 0;
}
