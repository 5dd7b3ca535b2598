/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only way to make or extend a profile: rows are interned, so that equal
 * rows have one index, and samples are summed. Used by the join, the pprof
 * reader and merge.
 *
 * Every el_profile_build_*() takes a row, gives its index, and returns 0,
 * -EINVAL when the row refers to an index that does not exist (yet),
 * -EOVERFLOW when a table is full, or -ENOMEM. Rows are compared by their
 * bytes: zero the reserved members. Index 0 is never given, except for
 * strings, samples and counters. `lines` and `stack_locations` are pools of
 * ranges and have no row 0.
 */
#ifndef EL_PROFILE_BUILD_H
#define EL_PROFILE_BUILD_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "user/profile/profile.h"

struct el_profile_builder;

int el_profile_builder_new(struct el_profile_builder **ret);
/* Continues `profile`, which is the builder's from then on; on failure it stays the caller's. */
int el_profile_builder_adopt(struct el_profile *profile, struct el_profile_builder **ret);
void el_profile_builder_free(struct el_profile_builder *builder);

/* The profile under construction: its scalar members (value types, period, start, ...) are set
 * here. */
struct el_profile *el_profile_builder_profile(struct el_profile_builder *builder);

/*
 * Sorts the ticks by time, checks, and hands the profile over; the builder is
 * empty then and only to be freed. On failure the profile stays the builder's.
 */
int el_profile_builder_finish(struct el_profile_builder *builder, struct el_profile **ret,
			      struct el_error *error);
/* Frees the builder and leaves an adopted profile, ticks sorted, to its caller. */
void el_profile_builder_release(struct el_profile_builder *builder);

int el_profile_build_string(struct el_profile_builder *builder, const char *text, uint32_t *ret);
int el_profile_build_object(struct el_profile_builder *builder,
			    const struct el_profile_object *object, uint32_t *ret);
int el_profile_build_mapping(struct el_profile_builder *builder,
			     const struct el_profile_mapping *mapping, uint32_t *ret);
int el_profile_build_function(struct el_profile_builder *builder,
			      const struct el_profile_function *function, uint32_t *ret);
/* first_line and n_lines are set here from `lines`, innermost inline first. */
int el_profile_build_location(struct el_profile_builder *builder,
			      const struct el_profile_location *location,
			      const struct el_profile_line *lines, size_t n_lines, uint32_t *ret);
/* Leaf first. No location and EL_STACK_END_ROOT is stack 0: nothing is known. */
int el_profile_build_stack(struct el_profile_builder *builder, const uint32_t *locations,
			   size_t n_locations, uint8_t end, uint32_t *ret);
int el_profile_build_process(struct el_profile_builder *builder,
			     const struct el_profile_process *process, uint32_t *ret);
/* Adds the values to the row of the same stack, process, tid and thread. */
int el_profile_build_sample(struct el_profile_builder *builder,
			    const struct el_profile_sample *sample, uint32_t *ret);
/* In any order; its weight and count must also be in the row's values. */
int el_profile_build_tick(struct el_profile_builder *builder, const struct el_profile_tick *tick,
			  uint32_t *ret);
/* Adds to the counter of the same name and unit. */
int el_profile_build_counter(struct el_profile_builder *builder,
			     const struct el_profile_counter *counter, uint32_t *ret);
/* A sentence for the reader; said once. */
int el_profile_build_comment(struct el_profile_builder *builder, const char *text, uint32_t *ret);

#endif
