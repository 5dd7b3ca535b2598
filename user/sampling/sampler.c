/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See sampler.h. Everything that can fail is made in el_sampler_new(); the
 * side-band runs from there, so that no mapping is missed between a scan of
 * /proc and the first sample.
 */
#include "user/sampling/sampler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/proc_file.h"
#include "base/time.h"
#include "user/sampling/clock.h"
#include "user/sampling/delivery.h"
#include "user/sampling/events.h"
#include "user/sampling/programs.h"
#include "user/sampling/requirements.h"
#include "user/sampling/sideband_ring.h"

/* A page more than this, for each CPU, is what an unprivileged user may lock. */
#define SIDEBAND_SIZE (512 << 10)
/*
 * A record's time is taken a little before the record is seen in its ring.
 * What is younger than this waits for the next look.
 */
#define SETTLE_NS 500000ull

struct el_sampler {
	struct el_sampler_options options;
	struct el_programs programs;
	struct el_clock clock;
	EL_VEC(struct el_sideband_ring) rings;
	struct el_delivery delivery;
	uint64_t rings_broken;
	int epoll_fd;
};

/* The list of "0-3,8" in a file of /sys; 0 or -errno. */
static int read_cpus(const char *path, int *cpus, size_t room, size_t *ret_n)
{
	el_auto_file FILE *file = fopen(path, "re");
	int first, last, got;
	size_t n = 0;

	if (!file)
		return -errno;
	while (fscanf(file, "%d", &first) == 1) {
		last = first;
		got = fgetc(file);
		if (got == '-' && fscanf(file, "%d", &last) == 1)
			got = fgetc(file);
		if (first < 0 || last < first || last >= EL_MAX_CPUS)
			return -E2BIG;
		for (int cpu = first; cpu <= last && n < room; cpu++)
			cpus[n++] = cpu;
		if (got != ',')
			break;
	}
	*ret_n = n;
	return n ? 0 : -EINVAL;
}

static int online_cpus(int *cpus, size_t *ret_n, struct el_error *error)
{
	int err = read_cpus("/sys/devices/system/cpu/online", cpus, EL_MAX_CPUS, ret_n);

	if (err == -E2BIG)
		return el_error_set(
			error, err,
			"this machine has more than %d CPUs, the most that can be sampled",
			EL_MAX_CPUS);
	if (err)
		return el_error_set(
			error, err,
			"cannot read /sys/devices/system/cpu/online: %s. Is /sys mounted?",
			strerror(-err));
	return 0;
}

static int watch(struct el_sampler *sampler, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	return epoll_ctl(sampler->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int open_sideband(struct el_sampler *sampler, const int *cpus, size_t n_cpus,
			 struct el_error *error)
{
	const char *step = "polling";
	int err = 0;

	for (size_t i = 0; i < n_cpus && !err; i++) {
		struct el_sideband_ring ring;

		err = el_sideband_ring_init(&ring, cpus[i], SIDEBAND_SIZE, &step);
		if (!err) {
			err = el_vec_push(&sampler->rings, ring);
			if (err)
				el_sideband_ring_deinit(&ring);
		}
		if (!err)
			err = watch(sampler, ring.fd);
		if (!err)
			err = el_sideband_ring_enable(&ring);
		if (err)
			return el_perf_error(err, step, NULL, cpus[i], error);
	}
	return 0;
}

static int add_targets(struct el_sampler *sampler, struct el_error *error)
{
	const struct el_sampler_options *options = &sampler->options;

	for (size_t i = 0; i < options->n_pids; i++) {
		enum el_target_state state =
			options->await_exec && !i ? EL_TARGET_AWAITS_EXEC : EL_TARGET_ACTIVE;
		uint32_t tgid = 0, threads = 0;
		int err = el_proc_file_leader(options->pids[i], &tgid, &threads);

		if (err == -ENOENT || err == -ESRCH)
			return el_error_set(error, -ESRCH,
					    "there is no process %d (any more): see ps -e",
					    options->pids[i]);
		if (err)
			return el_error_set(error, err, "cannot read /proc/%d/status: %s",
					    options->pids[i], strerror(-err));
		err = el_programs_add_target(&sampler->programs, tgid, state);
		if (err == -E2BIG)
			return el_error_set(error, err,
					    "more than %d processes were named; -a takes them all",
					    EL_MAX_TARGETS);
		if (err)
			return el_error_set(error, err, "cannot make process %d a target: %s",
					    options->pids[i], strerror(-err));
		el_threads_follow(&sampler->delivery.threads, tgid, threads);
	}
	return 0;
}

static int open_all(struct el_sampler *sampler, struct el_error *error)
{
	int cpus[EL_MAX_CPUS];
	size_t n_cpus = 0;
	int err = online_cpus(cpus, &n_cpus, error);

	if (!err)
		err = el_requirements_check(n_cpus, error);
	if (err)
		return err;
	sampler->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (sampler->epoll_fd < 0)
		return el_error_set(error, -errno, "cannot poll: %s", strerror(errno));
	if (el_delivery_init(&sampler->delivery, sampler->options.all))
		return el_error_set(error, -ENOMEM, "too little memory");
	err = el_programs_init(&sampler->programs, &sampler->options, el_delivery_record,
			       &sampler->delivery, error);
	if (!err)
		err = el_clock_init(&sampler->clock, &sampler->programs, &sampler->options, cpus,
				    n_cpus, error);
	if (!err)
		err = open_sideband(sampler, cpus, n_cpus, error);
	if (!err && watch(sampler, el_programs_ring_fd(&sampler->programs)))
		err = el_error_set(error, -errno, "cannot poll the ring of samples: %s",
				   strerror(errno));
	/* Last: who forks from here on is followed by the programs and by the side-band alike. */
	return err ? err : add_targets(sampler, error);
}

int el_sampler_new(const struct el_sampler_options *options, struct el_sampler **ret,
		   struct el_error *error)
{
	struct el_sampler *sampler = calloc(1, sizeof(*sampler));
	int err;

	if (!sampler)
		return el_error_set(error, -ENOMEM, "too little memory");
	sampler->options = *options;
	sampler->epoll_fd = -1;
	if (!options->event)
		sampler->options.event = &el_event_types[0];
	if (!options->period)
		sampler->options.period = sampler->options.event->default_period;
	err = open_all(sampler, error);
	sampler->options.pids = NULL; /* the caller's, and no longer needed */
	if (err) {
		el_sampler_free(sampler);
		return err;
	}
	*ret = sampler;
	return 0;
}

void el_sampler_free(struct el_sampler *sampler)
{
	if (!sampler)
		return;
	for (size_t i = 0; i < sampler->rings.n; i++)
		el_sideband_ring_deinit(&sampler->rings.at[i]);
	el_vec_deinit(&sampler->rings);
	el_clock_deinit(&sampler->clock);
	el_programs_deinit(&sampler->programs);
	el_delivery_deinit(&sampler->delivery);
	if (sampler->epoll_fd >= 0)
		close(sampler->epoll_fd);
	free(sampler);
}

int el_sampler_start(struct el_sampler *sampler, struct el_error *error)
{
	return el_clock_start(&sampler->clock, error);
}

int el_sampler_stop(struct el_sampler *sampler)
{
	return el_clock_stop(&sampler->clock);
}

int el_sampler_fd(const struct el_sampler *sampler)
{
	return sampler->epoll_fd;
}

static int read_rings(struct el_sampler *sampler)
{
	int err = 0;

	for (size_t i = 0; i < sampler->rings.n && !err; i++)
		err = el_sideband_ring_read(&sampler->rings.at[i], el_delivery_sideband,
					    &sampler->delivery, &sampler->rings_broken);
	return err ? err : el_programs_consume(&sampler->programs);
}

int el_sampler_drain(struct el_sampler *sampler, bool last, const struct el_sampler_sink *sink)
{
	static const struct timespec settle = {.tv_nsec = SETTLE_NS};
	uint64_t read_ns = el_now_ns();
	int err;

	el_clock_tend(&sampler->clock, read_ns);
	sampler->delivery.sink = sink;
	read_ns = el_now_ns();
	err = read_rings(sampler);
	if (!err && !last && sampler->delivery.newest_sideband_ns > read_ns - SETTLE_NS) {
		/* Who was woken by a new process wants to hear of it now, while it lives. */
		nanosleep(&settle, NULL);
		read_ns = el_now_ns();
		err = read_rings(sampler);
	}
	if (!err)
		err = el_delivery_hand_over(&sampler->delivery,
					    last ? UINT64_MAX : read_ns - SETTLE_NS);
	sampler->delivery.sink = NULL;
	return err;
}

void el_sampler_forget_stacks(struct el_sampler *sampler)
{
	memset(sampler->programs.known, 0, EL_KNOWN_STACKS * sizeof(*sampler->programs.known));
}

uint64_t el_sampler_delivered(const struct el_sampler *sampler)
{
	return sampler->delivery.delivered;
}

void el_sampler_counts(struct el_sampler *sampler, struct el_sampler_counts *ret)
{
	const struct el_delivery *delivery = &sampler->delivery;

	*ret = (struct el_sampler_counts){
		.sideband_lost =
			delivery->sideband_lost + delivery->sideband_bad + sampler->rings_broken,
		.delivered = delivery->delivered,
		.delivered_weight = delivery->delivered_weight,
		.stacks_missing = delivery->stacks_missing,
		.out_of_order = delivery->queue.out_of_order,
	};
	el_clock_counts(&sampler->clock, ret);
}
