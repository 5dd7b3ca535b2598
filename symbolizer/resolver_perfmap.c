/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that a process lists in its perf map. The file is asked for when the
 * image has code without a file, kept open so that its end survives the
 * process, and read on as it grows. Names only: the line is unknown, though
 * V8 tells where a function begins. Comes last: it claims what nobody else
 * does, and says for the rest of generated code that nothing describes it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/time.h"
#include "symbolizer/pc.h"
#include "symbolizer/perfmap.h"
#include "symbolizer/perfmap_name.h"
#include "symbolizer/resolver.h"

/* A file that is written anew again and again is read rarely from then on. */
#define REWRITES_FREE 8
#define REWRITTEN_NS (10 * EL_NS_PER_S)

struct state {
	struct el_resolver_context *context;
	const struct el_resolver_target *target;
	struct el_perfmap map;
	struct el_perfmap_name name;
	int fd;       /* -1: none yet */
	bool wanted;  /* the image has code without a file */
	bool refused; /* its perf map was, and is counted */
	uint64_t asked_ns, read_ns;
	uint64_t n_entries, n_bad_lines; /* as counted into the context */
};

static int attach(struct el_resolver_context *context, const struct el_resolver_target *target,
		  void **ret)
{
	struct state *state = calloc(1, sizeof(*state));

	if (!state)
		return -ENOMEM;
	if (el_perfmap_init(&state->map)) {
		free(state);
		return -ENOMEM;
	}
	state->context = context;
	state->target = target;
	state->fd = -1;
	*ret = state;
	return 0;
}

static void detach(void *context)
{
	struct state *state = context;

	if (!state)
		return;
	if (state->fd >= 0)
		close(state->fd);
	el_perfmap_deinit(&state->map);
	free(state);
}

static int map(void *context, const struct el_mapping *mapping)
{
	struct state *state = context;

	if (mapping->flags & EL_MAPPING_ANONYMOUS)
		state->wanted = true;
	return 0;
}

/* A file that was unlinked may have a successor. */
static bool is_replaced(int fd)
{
	struct stat stat;

	return !fstat(fd, &stat) && !stat.st_nlink;
}

/* Asked at most once a second: most processes have none. */
static void open_map(struct state *state)
{
	const struct el_source *source = &state->context->source;
	int fd;

	if (!source->open_perf_map || state->target->ended ||
	    (state->asked_ns && el_resolver_now_ns(state->context) - state->asked_ns < EL_NS_PER_S))
		return;
	state->asked_ns = el_resolver_now_ns(state->context);
	fd = source->open_perf_map(source->context, &state->target->image);
	if (fd == -EACCES || fd == -ELOOP || fd == -EFBIG || fd == -EINVAL) {
		state->context->stats.perf_maps_refused += !state->refused;
		state->refused = true;
	}
	if (fd < 0)
		return;
	if (state->fd >= 0)
		close(state->fd);
	state->fd = fd;
}

static int refresh(void *context)
{
	struct state *state = context;
	struct el_symbolizer_stats *stats = &state->context->stats;
	uint64_t now_ns;
	int err;

	if (!state->wanted)
		return 0;
	if (state->fd < 0 || is_replaced(state->fd))
		open_map(state);
	if (state->fd < 0)
		return 0;
	now_ns = el_resolver_now_ns(state->context);
	if (state->map.n_rewrites > REWRITES_FREE && now_ns - state->read_ns < REWRITTEN_NS)
		return 0;
	err = el_perfmap_read(&state->map, state->fd);
	state->read_ns = now_ns;
	if (state->map.n_entries < state->n_entries) /* it was written anew */
		state->n_entries = state->n_bad_lines = 0;
	stats->perf_map_entries += state->map.n_entries - state->n_entries;
	if (state->map.n_bad_lines > state->n_bad_lines)
		stats->perf_map_bad_lines += state->map.n_bad_lines - state->n_bad_lines;
	state->n_entries = state->map.n_entries;
	state->n_bad_lines = state->map.n_bad_lines;
	return err;
}

static bool is_generated(const struct el_place *place)
{
	return place->mapping && (place->mapping->flags & EL_MAPPING_ANONYMOUS);
}

static bool describe(struct state *state, const char *raw, struct el_found *found)
{
	struct el_found_frame frame = {.name = raw, .system_name = raw, .code = EL_CODE_JIT};

	if (el_perfmap_name_parse(raw, &state->name)) {
		frame.name = state->name.name;
		frame.file = state->name.file;
		frame.start_line = state->name.line;
		if (state->name.is_python)
			frame.code = EL_CODE_PYTHON;
	}
	if (el_vec_push(&found->frames, frame))
		return false;
	found->object_path = "[jit]";
	found->code = EL_CODE_JIT;
	found->miss = EL_MISS_NO_LINE;
	return true;
}

static bool resolve(void *context, const struct el_place *place, struct el_found *found)
{
	struct state *state = context;
	uint64_t addr = el_pc_in_call(place->pc, place->addr), start;
	const char *raw;

	if (place->mapping && !is_generated(place))
		return false;
	if (el_perfmap_find(&state->map, addr, &start, &raw)) {
		found->addr = addr;
		return describe(state, raw, found);
	}
	if (!is_generated(place))
		return false;
	found->object_path = "[jit]";
	found->code = EL_CODE_JIT;
	if (!found->miss)
		found->miss = state->target->ended ? EL_MISS_JIT_GONE : EL_MISS_JIT_UNKNOWN;
	return false;
}

const struct el_resolver el_resolver_perfmap = {
	.name = "perf map",
	.attach = attach,
	.map = map,
	.refresh = refresh,
	.resolve = resolve,
	.detach = detach,
};
