/* SPDX-License-Identifier: Apache-2.0 */
/* See programs.h. */
#include "user/sampling/programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "bpf/profile.skel.h"
#include "user/sampling/events.h"
#include "user/sampling/requirements.h"

/* libbpf reports through one callback of the whole program; its last warning tells what errno does
 * not. */
static char last_warning[256];

static int keep_warning(enum libbpf_print_level level, const char *format, va_list args)
{
	char text[sizeof(last_warning)];

	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(text, sizeof(text), format, args);
	text[strcspn(text, "\n")] = '\0';
	/* The verifier's log comes between two lines that frame it and say nothing. */
	if (text[0] && !strstr(text, "END PROG LOAD LOG") && !strstr(text, "failed to load object"))
		snprintf(last_warning, sizeof(last_warning), "%s",
			 strncmp(text, "libbpf: ", 8) ? text : text + 8);
	return 0;
}

/*
 * The longest time between two ticks that the clock's jitter allows, ns.
 * The period moves by ±20 % and each move restarts the interval: two of the
 * longest can follow each other without a tick. The rest is for a timer that is late.
 */
static uint64_t longest_gap(uint64_t period_ns)
{
	return period_ns / 5 * 12 + 100000;
}

static size_t ring_size(const struct el_sampler_options *options)
{
	size_t wanted = options->ring_size, size = sysconf(_SC_PAGESIZE);

	if (!wanted)
		wanted = (size_t)libbpf_num_possible_cpus() * (256 << 10);
	if (!options->ring_size && wanted < 4 << 20)
		wanted = 4 << 20;
	while (size < wanted && size < 1u << 30)
		size *= 2;
	return size;
}

static void set_options(struct profile_bpf *skeleton, const struct el_sampler_options *options)
{
	size_t ring = ring_size(options);
	uint64_t seed = 0;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = (uint64_t)getpid() << 32 ^
		       (uintptr_t)skeleton; /* an early boot: unlikely, not secret */
	skeleton->rodata->option_seed = seed;
	skeleton->rodata->option_ring_half = ring / 2;
	skeleton->rodata->option_longest_gap = longest_gap(options->period);
	skeleton->rodata->option_period = options->period;
	skeleton->rodata->option_clock = options->event->clock;
	skeleton->rodata->option_exact = options->event->exact;
	skeleton->rodata->option_all = options->all;
	skeleton->rodata->option_user_only = options->user_only;
	bpf_map__set_max_entries(skeleton->maps.records, ring);
	bpf_map__set_max_entries(skeleton->maps.scratches, libbpf_num_possible_cpus());
	if (options->all) {
		bpf_map__set_max_entries(skeleton->maps.targets, 1);
		bpf_program__set_autoload(skeleton->progs.on_fork, false);
		bpf_program__set_autoload(skeleton->progs.on_exec, false);
		bpf_program__set_autoload(skeleton->progs.on_free, false);
	}
}

static void *map_shared(const struct bpf_map *map, size_t *ret_size)
{
	size_t page = sysconf(_SC_PAGESIZE),
	       size = (size_t)bpf_map__value_size(map) * bpf_map__max_entries(map);
	void *memory;

	size = (size + page - 1) / page * page;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (memory == MAP_FAILED)
		return NULL;
	*ret_size = size;
	return memory;
}

static int map_all(struct el_programs *programs)
{
	struct profile_bpf *skeleton = programs->skeleton;

	programs->counters = map_shared(skeleton->maps.counters, &programs->counters_size);
	programs->clocks = map_shared(skeleton->maps.clocks, &programs->clocks_size);
	programs->known = map_shared(skeleton->maps.known, &programs->known_size);
	return programs->counters && programs->clocks && programs->known ? 0 : -ENOMEM;
}

static int follow_targets(struct profile_bpf *skeleton)
{
	skeleton->links.on_fork = bpf_program__attach(skeleton->progs.on_fork);
	skeleton->links.on_exec =
		skeleton->links.on_fork ? bpf_program__attach(skeleton->progs.on_exec) : NULL;
	skeleton->links.on_free =
		skeleton->links.on_exec ? bpf_program__attach(skeleton->progs.on_free) : NULL;
	return skeleton->links.on_free ? 0 : -errno;
}

int el_programs_init(struct el_programs *programs, const struct el_sampler_options *options,
		     el_record_take *take, void *context, struct el_error *error)
{
	const char *step = "open";
	int err = 0;

	*programs = (struct el_programs){0};
	last_warning[0] = '\0';
	libbpf_set_print(keep_warning);
	programs->skeleton = profile_bpf__open();
	if (!programs->skeleton)
		err = -errno;
	if (!err) {
		step = "load";
		set_options(programs->skeleton, options);
		err = profile_bpf__load(programs->skeleton);
	}
	if (!err) {
		step = "map the arrays of";
		err = map_all(programs);
	}
	if (!err) {
		programs->ring = ring_buffer__new(bpf_map__fd(programs->skeleton->maps.records),
						  take, context, NULL);
		err = programs->ring ? 0 : -errno;
	}
	if (!err && !options->all) {
		step = "attach";
		err = follow_targets(programs->skeleton);
	}
	if (err) {
		el_programs_deinit(programs);
		return el_bpf_error(err, step, last_warning, error);
	}
	return 0;
}

void el_programs_deinit(struct el_programs *programs)
{
	ring_buffer__free(programs->ring);
	if (programs->counters)
		munmap(programs->counters, programs->counters_size);
	if (programs->clocks)
		munmap(programs->clocks, programs->clocks_size);
	if (programs->known)
		munmap(programs->known, programs->known_size);
	profile_bpf__destroy(programs->skeleton);
	*programs = (struct el_programs){0};
}

int el_programs_attach(struct el_programs *programs, int perf_fd)
{
	/* Not bpf_program__attach_perf_event(): that one also enables the event. */
	return bpf_link_create(bpf_program__fd(programs->skeleton->progs.on_tick), perf_fd,
			       BPF_PERF_EVENT, NULL);
}

int el_programs_add_target(struct el_programs *programs, uint32_t pid, enum el_target_state state)
{
	struct el_target target = {.state = state};

	return bpf_map_update_elem(bpf_map__fd(programs->skeleton->maps.targets), &pid, &target,
				   BPF_ANY);
}

int el_programs_ring_fd(const struct el_programs *programs)
{
	return bpf_map__fd(programs->skeleton->maps.records);
}

int el_programs_consume(struct el_programs *programs)
{
	int n = ring_buffer__consume(programs->ring);

	return n < 0 ? n : 0;
}
