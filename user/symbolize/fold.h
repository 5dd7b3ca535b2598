/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the profile of a window out of raw samples and answers: everything
 * asked is asked through questions.h, everything made is made through build.h.
 * No sample is dropped here: what has no stack gets one location that says so.
 */
#ifndef EL_FOLD_H
#define EL_FOLD_H

#include "user/profile/build.h"
#include "user/sampling/events.h"
#include "user/symbolize/questions.h"
#include "user/symbolize/raw.h"

struct el_fold {
	const struct el_raw *raw;
	struct el_processes *processes;
	struct el_questions *questions;
	struct el_profile_builder *builder;
	const struct el_event_type *event;
	uint64_t period;
	uint64_t from_ns,
		to_ns; /* samples before to_ns are taken; a late one from before from_ns too */
	el_questions_progress *progress; /* or NULL */
	void *progress_context;
	uint64_t n_samples, weight; /* out: what was taken */
};

/* 0 or -errno with a sentence; the builder holds the profile then. */
int el_fold_run(struct el_fold *fold, struct el_error *error);

/* What a frame's address stands for. */
enum el_pc el_fold_pc(const struct el_frame *frame, bool leaf, bool exact_event);

#endif
