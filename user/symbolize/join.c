/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See join.h. Puts the parts together: raw.h keeps, acquire.h gets hold,
 * questions.h asks, fold.h builds.
 */
#include "user/symbolize/join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/time.h"
#include "user/symbolize/acquire.h"
#include "user/symbolize/fold.h"
#include "user/symbolize/questions.h"
#include "user/symbolize/raw.h"

#define KNOWN_LIMIT (16u << 20)
#define IDLE_NS 30000000000ull /* without a question: the parser gives its caches back */

struct el_join {
	struct el_parser *parser;
	struct el_join_options options;
	struct el_processes *processes;
	struct el_raw raw;
	struct el_acquire acquire;
	struct el_known known;
	uint64_t asked_ns; /* when the parser was last busy for us; 0: its caches are given back */
	struct el_join_counts counts;
};

int el_join_new(struct el_parser *parser, const struct el_join_options *options,
		struct el_join **ret)
{
	struct el_join *join = calloc(1, sizeof(*join));
	int err;

	if (!join)
		return -ENOMEM;
	join->parser = parser;
	join->options = *options;
	if (!join->options.known_limit)
		join->options.known_limit = KNOWN_LIMIT;
	err = el_processes_new(&join->processes);
	if (!err)
		err = el_raw_init(&join->raw);
	if (!err)
		err = el_known_init(&join->known);
	if (err) {
		el_join_free(join);
		return err;
	}
	el_acquire_init(&join->acquire, parser, join->processes);
	*ret = join;
	return 0;
}

void el_join_free(struct el_join *join)
{
	if (!join)
		return;
	el_acquire_deinit(&join->acquire);
	el_known_deinit(&join->known);
	el_raw_deinit(&join->raw);
	el_processes_free(join->processes);
	free(join);
}

/* --- the sink --- */

/* The frames of a user stack are looked at once per state of its process's mappings. */
static int look_at_stack(struct el_join *join, const struct el_raw_sample *sample)
{
	struct el_raw_stack *stack = &join->raw.stacks.at[sample->user_stack];
	const struct el_process *process = el_processes_get(join->processes, sample->image);
	struct el_acquire_image *image;
	int err = 0;

	if (!process)
		return 0;
	if (stack->walked != process->generation + 1) {
		err = el_acquire_stack(&join->acquire, sample->image,
				       join->raw.frames.at + stack->first_frame, stack->n_frames,
				       sample->time_ns, &stack->jit);
		stack->walked = process->generation + 1;
	}
	if (err || !stack->jit)
		return err;
	image = el_acquire_image(&join->acquire, sample->image);
	if (!image)
		return -ENOMEM;
	image->jit_sampled = true;
	return 0;
}

static int take_sample(void *context, const struct el_record_sample *record)
{
	struct el_join *join = context;
	const struct el_process *process = el_processes_of_sample(join->processes, record);
	const struct el_raw_sample *sample;
	struct el_acquire_image *image;
	uint32_t id;
	int err;

	if (!process)
		return -ENOMEM;
	id = process->id;
	err = el_raw_add_sample(&join->raw, record, id);
	if (err)
		return err;
	sample = &join->raw.samples.at[join->raw.samples.n - 1];
	if (!(record->flags & EL_SAMPLE_KERNEL_THREAD))
		err = el_acquire_first_sight(&join->acquire, id, record->time_ns);
	if (!err && record->flags & EL_SAMPLE_MM_CHANGED) {
		image = el_acquire_image(&join->acquire, id);
		if (image)
			image->moved = true;
	}
	if (!err && sample->user_stack)
		err = look_at_stack(join, sample);
	if (!err && sample->kernel_stack)
		err = el_acquire_kernel(&join->acquire);
	return err;
}

static int take_stack(void *context, const struct el_record_stack *record)
{
	struct el_join *join = context;

	return el_raw_add_stack(&join->raw, record);
}

static int take_fork(void *context, uint64_t time_ns, uint32_t parent, uint32_t child)
{
	struct el_join *join = context;

	return el_processes_fork(join->processes, time_ns, parent, child);
}

static int take_exec(void *context, uint64_t time_ns, uint32_t pid, const char *comm)
{
	struct el_join *join = context;

	return el_processes_exec(join->processes, time_ns, pid, comm);
}

static int take_comm(void *context, uint64_t time_ns, uint32_t pid, uint32_t tid, const char *comm)
{
	struct el_join *join = context;

	return el_processes_comm(join->processes, time_ns, pid, tid, comm);
}

static int take_exit(void *context, uint64_t time_ns, uint32_t pid)
{
	struct el_join *join = context;

	return el_processes_exit(join->processes, time_ns, pid);
}

static int take_mmap(void *context, uint64_t time_ns, uint32_t pid,
		     const struct el_mapping *mapping)
{
	struct el_join *join = context;

	return el_processes_mmap(join->processes, time_ns, pid, mapping);
}

static int take_cgroup(void *context, uint64_t cgroup_id, const char *path)
{
	struct el_join *join = context;

	return el_processes_cgroup(join->processes, cgroup_id, path);
}

static int take_lost(void *context, uint64_t time_ns, uint64_t n)
{
	struct el_join *join = context;

	(void)time_ns;
	(void)n;
	for (size_t i = 0; i < join->acquire.images.n; i++)
		join->acquire.images.at[i].moved = true;
	return 0;
}

void el_join_sink(struct el_join *join, struct el_sampler_sink *ret)
{
	*ret = (struct el_sampler_sink){
		.context = join,
		.sample = take_sample,
		.stack = take_stack,
		.fork = take_fork,
		.exec = take_exec,
		.comm = take_comm,
		.exit = take_exit,
		.mmap = take_mmap,
		.cgroup = take_cgroup,
		.lost = take_lost,
	};
}

int el_join_attach(struct el_join *join, uint32_t pid)
{
	return el_processes_scan(join->processes, el_now_ns(), pid);
}

int el_join_acquire(struct el_join *join)
{
	int err = el_acquire_run(&join->acquire, false);

	if (!err && join->asked_ns && el_now_ns() - join->asked_ns > IDLE_NS) {
		join->asked_ns = 0;
		(void)el_parser_evict(join->parser, 0); /* only memory is at stake */
	}
	return err;
}

/* --- windows --- */

static int start_known_again(struct el_join *join)
{
	struct el_known fresh;
	int err;

	if (el_known_size(&join->known) <= join->options.known_limit)
		return 0;
	err = el_known_init(&fresh);
	if (err)
		return err;
	el_known_deinit(&join->known);
	join->known = fresh;
	return 0;
}

/* Stacks can lie in mappings that became known after their samples came. */
static int want_mappings_of_window(struct el_join *join)
{
	int err = 0;

	for (size_t i = 0; !err && i < join->raw.samples.n; i++) {
		if (join->raw.samples.at[i].user_stack)
			err = look_at_stack(join, &join->raw.samples.at[i]);
	}
	return err;
}

static int build(struct el_join *join, struct el_fold *fold, struct el_profile **ret,
		 struct el_error *error)
{
	struct el_questions questions;
	int err = el_questions_init(&questions, join->parser, join->processes, &join->known);

	if (!err)
		err = el_profile_builder_new(&fold->builder);
	if (err)
		el_error_set(error, err, "cannot build the profile: %s", strerror(-err));
	fold->questions = &questions;
	if (!err)
		err = el_fold_run(fold, error);
	if (!err)
		err = el_profile_builder_finish(fold->builder, ret, error);
	el_profile_builder_free(fold->builder);
	el_questions_deinit(&questions);
	return err;
}

static void drop_image(void *context, uint32_t id)
{
	struct el_join *join = context;

	el_acquire_drop(&join->acquire, id);
}

static int describe(struct el_join *join, const struct el_fold *fold, struct el_profile *profile)
{
	uint64_t now = el_now_ns();
	uint64_t to = fold->to_ns < now ? fold->to_ns : now;

	profile->start_wall_ns = (int64_t)(el_clock_ns(CLOCK_REALTIME) - (now - fold->from_ns));
	profile->duration_ns = to > fold->from_ns ? to - fold->from_ns : 0;
	profile->n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	return el_strings_add(&profile->strings, join->options.event->name, &profile->event);
}

int el_join_dump(struct el_join *join, uint64_t from_ns, uint64_t to_ns, el_join_progress *progress,
		 void *context, struct el_profile **ret, struct el_error *error)
{
	struct el_fold fold = {
		.raw = &join->raw,
		.processes = join->processes,
		.event = join->options.event,
		.period = join->options.period,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.progress = progress,
		.progress_context = context,
	};
	struct el_profile *profile = NULL;
	int err = want_mappings_of_window(join);

	if (!err)
		err = el_acquire_run(&join->acquire, true);
	if (!err)
		err = start_known_again(join);
	if (err)
		return el_error_set(error, err, "cannot build the profile: %s", strerror(-err));
	err = build(join, &fold, &profile, error);
	if (err)
		return err;
	join->asked_ns = el_now_ns();
	err = describe(join, &fold, profile);
	if (!err)
		err = el_raw_forget(&join->raw, to_ns);
	if (err) {
		el_profile_free(profile);
		return el_error_set(error, err, "cannot build the profile: %s", strerror(-err));
	}
	join->counts.samples += fold.n_samples;
	join->counts.weight += fold.weight;
	/* A window late: samples that stay may belong to images that ended in this one. */
	el_processes_forget(join->processes, from_ns, drop_image, join);
	*ret = profile;
	return 0;
}

void el_join_counts(const struct el_join *join, struct el_join_counts *ret)
{
	struct el_processes_counts processes;

	el_processes_counts(join->processes, &processes);
	*ret = join->counts;
	ret->mappings_refused = processes.mappings_refused;
	ret->stacks_missing = join->raw.n_missing;
	ret->images = join->acquire.n_images;
	ret->images_unread = join->acquire.n_unread;
}
