/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the machine must allow before anything is opened, and the sentences
 * for what it refuses: cause and remedy, where errno alone would puzzle.
 */
#ifndef EL_REQUIREMENTS_H
#define EL_REQUIREMENTS_H

#include <stddef.h>

#include "base/error.h"
#include "user/sampling/sampler.h"

/* Kernel, BTF, capabilities, PID namespace, descriptors for n_cpus CPUs (raising the limit if need
 * be). */
int el_requirements_check(size_t n_cpus, struct el_error *error);

/* The sentence for a failed perf_event_open(2) or mmap(2) of its ring; returns err. */
int el_perf_error(int err, const char *step, const struct el_event_type *event, int cpu,
		  struct el_error *error);
/* The sentence for a BPF load that failed; `said` is libbpf's last warning, may be empty. */
int el_bpf_error(int err, const char *step, const char *said, struct el_error *error);

#endif
