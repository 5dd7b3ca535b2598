/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of resolvers. Its order is the precedence: what a process
 * registers itself comes before the file behind a mapping, because generated
 * code may be written over file mappings; a perf map, which anything may
 * write and which carries no lines, comes last.
 */
#include "symbolizer/resolver.h"

#include "base/time.h"

const struct el_resolver *const el_resolvers[] = {
	&el_resolver_kernel, &el_resolver_gdbjit, &el_resolver_elf, &el_resolver_perfmap, NULL,
};

void el_found_reset(struct el_found *found)
{
	found->frames.n = 0;
	*found = (struct el_found){.frames.at = found->frames.at,
				   .frames.capacity = found->frames.capacity};
}

uint64_t el_resolver_now_ns(const struct el_resolver_context *context)
{
	const struct el_source *source = &context->source;

	return source->now ? source->now(source->context) : el_now_ns();
}
