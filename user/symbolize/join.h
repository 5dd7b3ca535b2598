/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw samples to a profile: keeps samples and stack bodies, has files and JIT
 * code acquired while they are there, and at a dump asks the parser for
 * everything that was hit and builds the model. The only caller of the parser.
 *
 * Feed it from a sampler's sink. A window ends with el_join_dump(), which
 * takes the samples gathered so far; stacks, images and answers stay for the next.
 */
#ifndef EL_JOIN_H
#define EL_JOIN_H

#include "base/error.h"
#include "user/process/process.h"
#include "user/profile/profile.h"
#include "user/sampling/events.h"
#include "user/sampling/sampler.h"
#include "user/symbolize/parser.h"

struct el_join;

struct el_join_options {
	const struct el_event_type *event;
	uint64_t period;
	size_t known_limit; /* bytes of answers kept between windows; 0: 16 MiB */
};

int el_join_new(struct el_parser *parser, const struct el_join_options *options,
		struct el_join **ret);
void el_join_free(struct el_join *join);

/* The sink to give to el_sampler_drain(). */
void el_join_sink(struct el_join *join, struct el_sampler_sink *ret);
/* A process known from the start (-p): scan it now. */
int el_join_attach(struct el_join *join, uint32_t pid);
/* Acquires what the last drain made necessary: new files, changed JIT lists. Call after each drain.
 */
int el_join_acquire(struct el_join *join);

/* Progress of a dump, for a terminal: addresses resolved of all. */
typedef void el_join_progress(void *context, size_t done, size_t all);

/* Builds the profile of [from, to) out of the samples so far and forgets them. Counters are added
 * by the caller. */
int el_join_dump(struct el_join *join, uint64_t from_ns, uint64_t to_ns, el_join_progress *progress,
		 void *context, struct el_profile **ret, struct el_error *error);

struct el_join_counts {
	uint64_t samples, weight;       /* taken into profiles */
	uint64_t stacks_missing;        /* samples whose body never came: kept, without frames */
	uint64_t images, images_unread; /* gone before /proc could be read */
	uint64_t mappings_refused;      /* of processes with too many */
};
void el_join_counts(const struct el_join *join, struct el_join_counts *ret);

#endif
