/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a perf map that arrives in two parts: lines, overlaps, names. libFuzzer. */
#include <stdlib.h>

#include "symbolizer/perfmap.h"
#include "symbolizer/perfmap_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static struct el_perfmap_name parsed;
	struct el_perfmap map;
	const char *name;
	uint64_t start;
	size_t used;

	if (el_perfmap_init(&map))
		return 0;
	used = el_perfmap_parse(&map, (const char *)bytes, size / 2);
	el_perfmap_find(&map, 0x1000, &start, &name);
	el_perfmap_parse(&map, (const char *)bytes + used, size - used);
	for (uint64_t addr = 0; addr < 0x2000; addr += 0x111)
		if (el_perfmap_find(&map, addr, &start, &name))
			el_perfmap_name_parse(name, &parsed);
	for (size_t i = 1; i < map.ranges.n; i++)
		if (map.ranges.at[i - 1].end > map.ranges.at[i].start)
			abort();
	el_perfmap_deinit(&map);
	return 0;
}
