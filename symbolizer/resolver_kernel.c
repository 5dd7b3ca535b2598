/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel, its modules and BPF programs, by name. The list is read when the
 * first kernel address is asked about, and again when one is unknown, because
 * modules and BPF programs come; the less that helps, the rarer it is done.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/time.h"
#include "symbolizer/kallsyms.h"
#include "symbolizer/pc.h"
#include "symbolizer/resolver.h"

#define WAIT_FIRST EL_NS_PER_S
#define WAIT_LONGEST (64 * EL_NS_PER_S)

struct state {
	struct el_resolver_context *context;
	struct el_kallsyms kallsyms;
	bool tried;
	uint64_t read_ns; /* when it was read last */
	uint64_t wait_ns; /* until it may be read again */
	char object_path[128];
};

static int attach(struct el_resolver_context *context, const struct el_resolver_target *target,
		  void **ret)
{
	struct state *state = calloc(1, sizeof(*state));

	(void)target;
	if (!state || el_kallsyms_init(&state->kallsyms)) {
		free(state);
		return -ENOMEM;
	}
	state->context = context;
	state->wait_ns = WAIT_FIRST;
	*ret = state;
	return 0;
}

static void detach(void *context)
{
	struct state *state = context;

	if (!state)
		return;
	el_kallsyms_deinit(&state->kallsyms);
	free(state);
}

static void read_list(struct state *state)
{
	const struct el_source *source = &state->context->source;
	int fd = source->open_kallsyms ? source->open_kallsyms(source->context) : -1;

	state->tried = true;
	state->read_ns = el_resolver_now_ns(state->context);
	if (fd < 0)
		return;
	el_kallsyms_read(&state->kallsyms, fd);
	close(fd);
}

static bool find(struct state *state, uint64_t addr, struct el_kallsyms_answer *ret)
{
	if (!state->tried)
		read_list(state);
	if (el_kallsyms_find(&state->kallsyms, addr, ret))
		return true;
	if (el_resolver_now_ns(state->context) - state->read_ns < state->wait_ns)
		return false;
	read_list(state);
	if (el_kallsyms_find(&state->kallsyms, addr, ret)) {
		state->wait_ns = WAIT_FIRST;
		return true;
	}
	if (state->wait_ns < WAIT_LONGEST)
		state->wait_ns *= 2;
	return false;
}

static void miss(const struct state *state, struct el_found *found)
{
	if (state->kallsyms.hidden)
		found->miss = EL_MISS_KERNEL_HIDDEN;
	else if (!state->kallsyms.symbols.n)
		found->miss = EL_MISS_NO_FILE;
	else
		found->miss = EL_MISS_NO_FUNCTION;
}

static bool resolve(void *context, const struct el_place *place, struct el_found *found)
{
	struct state *state = context;
	struct el_kallsyms_answer answer;
	struct el_found_frame frame = {.code = EL_CODE_KERNEL};
	uint64_t addr = el_pc_in_call(place->pc, place->addr);

	if (!place->mapping || !(place->mapping->flags & EL_MAPPING_KERNEL))
		return false;
	found->addr = addr;
	found->code = EL_CODE_KERNEL;
	found->object_path = "[kernel]";
	if (!find(state, addr, &answer)) {
		miss(state, found);
		return true;
	}
	if (answer.module[0]) {
		snprintf(state->object_path, sizeof(state->object_path), "[%s]", answer.module);
		found->object_path = state->object_path;
	}
	frame.name = frame.system_name = answer.name;
	found->miss = EL_MISS_NO_LINE;
	if (el_vec_push(&found->frames, frame))
		found->miss = EL_MISS_NO_FUNCTION;
	return true;
}

const struct el_resolver el_resolver_kernel = {
	.name = "kernel",
	.attach = attach,
	.resolve = resolve,
	.detach = detach,
};
