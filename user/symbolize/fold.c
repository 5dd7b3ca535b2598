/* SPDX-License-Identifier: Apache-2.0 */
/* See fold.h: ask about every frame of the window's stacks, then build row by row. */
#include "user/symbolize/fold.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "user/symbolize/fold_location.h"

/* A stack's part in the window. */
struct use {
	uint64_t first_ns, last_ns;
	uint32_t image; /* of its samples; stack IDs differ between images */
	bool used;
	bool varies; /* some frame's answer depends on the time */
};

/* One pair of stacks that was built already. */
struct pair {
	uint32_t user, kernel, flags, stack;
};

struct folding {
	struct el_fold *fold;
	struct el_fold_locations locations;
	struct use *uses;  /* by raw stack */
	uint32_t *threads; /* profile string by raw thread string */
	EL_VEC(struct pair) pairs;
	struct el_index by_pair;
	EL_VEC(uint32_t) processes; /* pairs of image id, profile process: few, searched by index */
	struct el_index by_image;
};

enum el_pc el_fold_pc(const struct el_frame *frame, bool leaf, bool exact_event)
{
	if (frame->flags & EL_FRAME_RETURN)
		return EL_PC_RETURN;
	if (frame->flags & EL_FRAME_EXACT || frame->kind == EL_FRAME_KERNEL || !leaf || exact_event)
		return EL_PC_EXACT;
	return EL_PC_LATE;
}

static bool taken(const struct el_fold *fold, const struct el_raw_sample *sample)
{
	return sample->time_ns < fold->to_ns;
}

static const struct el_frame *frames_of(const struct el_fold *fold, uint32_t stack)
{
	return fold->raw->frames.at + fold->raw->stacks.at[stack].first_frame;
}

static uint32_t image_of(const struct el_frame *frame, uint32_t image)
{
	return frame->kind == EL_FRAME_KERNEL ? 0 : image;
}

/* --- asking --- */

static void note_use(struct folding *folding, uint32_t stack, const struct el_raw_sample *sample)
{
	struct use *use = &folding->uses[stack];

	if (!stack)
		return;
	if (!use->used || sample->time_ns < use->first_ns)
		use->first_ns = sample->time_ns;
	if (!use->used || sample->time_ns > use->last_ns)
		use->last_ns = sample->time_ns;
	use->used = true;
	use->image = sample->image;
}

static void note_uses(struct folding *folding)
{
	const struct el_raw *raw = folding->fold->raw;

	for (size_t i = 0; i < raw->samples.n; i++) {
		if (!taken(folding->fold, &raw->samples.at[i]))
			continue;
		note_use(folding, raw->samples.at[i].user_stack, &raw->samples.at[i]);
		note_use(folding, raw->samples.at[i].kernel_stack, &raw->samples.at[i]);
	}
}

static int ask_about_stacks(struct folding *folding)
{
	const struct el_fold *fold = folding->fold;
	int err = 0;

	for (size_t i = 1; !err && i < fold->raw->stacks.n; i++) {
		const struct use *use = &folding->uses[i];
		const struct el_frame *frames = frames_of(fold, i);

		for (uint32_t f = 0; !err && use->used && f < fold->raw->stacks.at[i].n_frames; f++)
			err = el_questions_frame(fold->questions, image_of(&frames[f], use->image),
						 frames[f].addr,
						 el_fold_pc(&frames[f], !f, fold->event->exact),
						 use->first_ns, use->last_ns);
	}
	return err ? err
		   : el_questions_ask(fold->questions, fold->progress, fold->progress_context);
}

static void find_varying(struct folding *folding)
{
	const struct el_fold *fold = folding->fold;

	for (size_t i = 1; fold->questions->spans.n && i < fold->raw->stacks.n; i++) {
		struct use *use = &folding->uses[i];
		const struct el_frame *frames = frames_of(fold, i);

		for (uint32_t f = 0; use->used && f < fold->raw->stacks.at[i].n_frames; f++)
			use->varies |= el_questions_varies(
				fold->questions, image_of(&frames[f], use->image), frames[f].addr,
				el_fold_pc(&frames[f], !f, fold->event->exact));
	}
}

static int ask_by_time(struct folding *folding)
{
	const struct el_fold *fold = folding->fold;
	bool any = false;
	int err = 0;

	for (size_t i = 0; !err && i < fold->raw->samples.n; i++) {
		const struct el_raw_sample *sample = &fold->raw->samples.at[i];
		uint32_t stack = sample->user_stack;
		const struct el_frame *frames = frames_of(fold, stack);

		if (!taken(fold, sample) || !folding->uses[stack].varies)
			continue;
		any = true;
		for (uint32_t f = 0; !err && f < fold->raw->stacks.at[stack].n_frames; f++)
			err = el_questions_frame_at(
				fold->questions, image_of(&frames[f], sample->image),
				frames[f].addr, el_fold_pc(&frames[f], !f, fold->event->exact),
				sample->time_ns);
	}
	if (err || !any)
		return err;
	return el_questions_ask(fold->questions, fold->progress, fold->progress_context);
}

/* --- building --- */

struct room {
	uint32_t at[2 * EL_MAX_FRAMES + 1];
	size_t n;
};

static int add_frames(struct folding *folding, const struct el_raw_sample *sample, uint32_t stack,
		      struct room *room)
{
	const struct el_fold *fold = folding->fold;
	const struct el_frame *frames = frames_of(fold, stack);
	uint32_t n = fold->raw->stacks.at[stack].n_frames;
	int err = 0;

	for (uint32_t f = 0; !err && f < n && room->n < 2 * EL_MAX_FRAMES; f++) {
		const struct el_fold_place place = {
			.image = image_of(&frames[f], sample->image),
			.addr = frames[f].addr,
			.pc = el_fold_pc(&frames[f], !f, fold->event->exact),
			.time_ns = sample->time_ns,
		};

		err = el_fold_location(&folding->locations, &place, &room->at[room->n++]);
	}
	return err;
}

static int build_stack(struct folding *folding, const struct el_raw_sample *sample, uint32_t *ret)
{
	const struct el_raw *raw = folding->fold->raw;
	uint8_t end = EL_STACK_END_NO_USER;
	struct room room = {.n = 0};
	int err = add_frames(folding, sample, sample->kernel_stack, &room);

	if (sample->kernel_stack)
		end = raw->stacks.at[sample->kernel_stack].end;
	if (sample->user_stack)
		end = raw->stacks.at[sample->user_stack].end;
	if (!err)
		err = add_frames(folding, sample, sample->user_stack, &room);
	if (!err && !room.n)
		err = el_fold_no_stack(&folding->locations, &room.at[room.n++]);
	if (err)
		return err;
	return el_profile_build_stack(folding->fold->builder, room.at, room.n,
				      end < EL_N_STACK_ENDS ? end : EL_STACK_END_READ, ret);
}

static bool equal_pair(const void *owner, uint32_t position, const void *wanted)
{
	const struct folding *folding = owner;
	const struct pair *have = &folding->pairs.at[position];
	const struct pair *want = wanted;

	return have->user == want->user && have->kernel == want->kernel;
}

static int find_stack(struct folding *folding, const struct el_raw_sample *sample, uint32_t *ret)
{
	struct pair pair = {.user = sample->user_stack, .kernel = sample->kernel_stack};
	uint64_t hash = el_hash_u64(pair.user, pair.kernel);
	uint32_t at;
	int err;

	if (folding->uses[pair.user].varies)
		return build_stack(folding, sample, ret);
	at = el_index_find(&folding->by_pair, hash, equal_pair, folding, &pair);
	if (at != EL_INDEX_NONE) {
		*ret = folding->pairs.at[at].stack;
		return 0;
	}
	err = build_stack(folding, sample, &pair.stack);
	if (!err)
		err = el_index_add(&folding->by_pair, hash, folding->pairs.n);
	if (!err)
		err = el_vec_push(&folding->pairs, pair);
	if (!err)
		*ret = pair.stack;
	return err;
}

static int build_process(struct folding *folding, uint32_t image, uint32_t *ret)
{
	const struct el_fold *fold = folding->fold;
	const struct el_process *process = el_processes_get(fold->processes, image);
	struct el_profile_process row = {0};
	char comm[sizeof(process->comm) + 1] = "";
	int err;

	if (!process) {
		*ret = 0;
		return 0;
	}
	memcpy(comm, process->comm, sizeof(process->comm));
	row.pid = process->key.tgid;
	row.exec_id = process->key.exec_id;
	row.start_ns = process->key.start_ns;
	err = el_profile_build_string(fold->builder, comm, &row.comm);
	if (!err)
		err = el_profile_build_string(fold->builder,
					      el_processes_string(fold->processes, process->cgroup),
					      &row.cgroup);
	return err ? err : el_profile_build_process(fold->builder, &row, ret);
}

static bool equal_image(const void *owner, uint32_t position, const void *wanted)
{
	const struct folding *folding = owner;

	return folding->processes.at[2 * position] == *(const uint32_t *)wanted;
}

static int find_process(struct folding *folding, uint32_t image, uint32_t *ret)
{
	uint64_t hash = el_hash_u64(0, image);
	uint32_t at = el_index_find(&folding->by_image, hash, equal_image, folding, &image);
	int err;

	if (at != EL_INDEX_NONE) {
		*ret = folding->processes.at[2 * at + 1];
		return 0;
	}
	err = build_process(folding, image, ret);
	if (!err)
		err = el_index_add(&folding->by_image, hash, folding->processes.n / 2);
	if (!err)
		err = el_vec_push(&folding->processes, image);
	return err ? err : el_vec_push(&folding->processes, *ret);
}

static int find_thread(struct folding *folding, uint32_t thread, uint32_t *ret)
{
	uint32_t *slot = &folding->threads[thread];
	int err = 0;

	if (thread && !*slot)
		err = el_profile_build_string(folding->fold->builder,
					      el_strings_get(&folding->fold->raw->threads, thread),
					      slot);
	if (!err)
		*ret = *slot;
	return err;
}

static int build_sample(struct folding *folding, const struct el_raw_sample *sample)
{
	struct el_fold *fold = folding->fold;
	struct el_profile_sample row = {.tid = sample->tid};
	struct el_profile_tick tick = {.cpu = sample->cpu, .weight = sample->weight};
	uint32_t at;
	int err = find_stack(folding, sample, &row.stack);

	if (!err)
		err = find_process(folding, sample->image, &row.process);
	if (!err)
		err = find_thread(folding, sample->thread, &row.thread);
	if (err)
		return err;
	row.values[0] = fold->event->clock ? 1 : sample->weight;
	if (fold->event->clock)
		row.values[1] = sample->weight;
	err = el_profile_build_sample(fold->builder, &row, &tick.sample);
	if (err)
		return err;
	if (sample->time_ns > fold->from_ns)
		tick.time_ns = sample->time_ns - fold->from_ns;
	err = el_profile_build_tick(fold->builder, &tick, &at);
	if (!err) {
		fold->n_samples++;
		fold->weight += sample->weight;
	}
	return err;
}

static int build_value_types(struct el_fold *fold)
{
	struct el_profile *profile = el_profile_builder_profile(fold->builder);
	struct el_value_type *type = profile->value_types;
	int err = 0;

	if (fold->event->clock) {
		err = el_profile_build_string(fold->builder, "samples", &type->type);
		if (!err)
			err = el_profile_build_string(fold->builder, "count", &type->unit);
		type++;
	}
	if (!err)
		err = el_profile_build_string(fold->builder, fold->event->value_type, &type->type);
	if (!err)
		err = el_profile_build_string(fold->builder, fold->event->value_unit, &type->unit);
	profile->n_value_types = type - profile->value_types + 1;
	profile->period_type = *type;
	profile->period = fold->period;
	return err;
}

static int build(struct folding *folding)
{
	const struct el_raw *raw = folding->fold->raw;
	int err = build_value_types(folding->fold);

	for (size_t i = 0; !err && i < raw->samples.n; i++) {
		if (taken(folding->fold, &raw->samples.at[i]))
			err = build_sample(folding, &raw->samples.at[i]);
	}
	return err;
}

int el_fold_run(struct el_fold *fold, struct el_error *error)
{
	struct folding folding = {
		.fold = fold,
		.locations = {.builder = fold->builder, .questions = fold->questions},
		.uses = calloc(fold->raw->stacks.n, sizeof(*folding.uses)),
		.threads = calloc(fold->raw->threads.start.n, sizeof(*folding.threads)),
	};
	int err = folding.uses && folding.threads ? 0 : -ENOMEM;

	if (!err) {
		note_uses(&folding);
		err = ask_about_stacks(&folding);
	}
	if (!err) {
		find_varying(&folding);
		err = ask_by_time(&folding);
	}
	if (!err)
		err = build(&folding);
	free(folding.uses);
	free(folding.threads);
	el_fold_locations_deinit(&folding.locations);
	el_vec_deinit(&folding.pairs);
	el_index_deinit(&folding.by_pair);
	el_vec_deinit(&folding.processes);
	el_index_deinit(&folding.by_image);
	if (err)
		return el_error_set(error, err, "cannot build the profile: %s", strerror(-err));
	return 0;
}
