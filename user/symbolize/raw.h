/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples and stack bodies as the sampler delivered them, in compact arrays,
 * until a window takes them. Knows wire.h and nothing else: not what an
 * address means, not which process an image id names.
 */
#ifndef EL_RAW_H
#define EL_RAW_H

#include <stdbool.h>

#include "base/index.h"
#include "base/strings.h"
#include "base/vec.h"
#include "bpf/wire.h"

enum el_raw_flags {
	EL_RAW_STACK_MISSING = 1 << 0, /* the body of a stack it names never came */
};

struct el_raw_sample {
	uint64_t time_ns, weight;
	uint32_t user_stack, kernel_stack; /* index into stacks, 0: none */
	uint32_t image;
	uint32_t tid;
	uint32_t thread; /* string */
	uint16_t cpu;
	uint16_t flags; /* enum el_raw_flags */
};

struct el_raw_stack {
	uint64_t id;
	uint32_t first_frame;
	uint16_t n_frames;
	uint8_t end; /* enum el_stack_end */
	bool kernel;
	/* Left to the owner of the samples: */
	uint32_t walked; /* the image's mapping generation + 1 at the last look at its frames; 0:
			    never */
	bool jit;        /* some frame lies in code made at run time */
	bool used;       /* came, or was named by a sample, since the last window */
};

struct el_raw {
	EL_VEC(struct el_raw_sample) samples;
	EL_VEC(struct el_raw_stack) stacks; /* row 0 is none */
	EL_VEC(struct el_frame) frames;
	struct el_index by_id;
	struct el_strings threads;
	uint64_t *newest; /* as the kernel's array of known stacks: slot -> the last ID that came */
	uint64_t n_missing;
};

int el_raw_init(struct el_raw *raw);
void el_raw_deinit(struct el_raw *raw);

/* A body that is here already is not taken twice. 0 or -errno. */
int el_raw_add_stack(struct el_raw *raw, const struct el_record_stack *record);
int el_raw_add_sample(struct el_raw *raw, const struct el_record_sample *record, uint32_t image);

/*
 * Forgets the samples before `to_ns`, and the stacks that neither a sample
 * names nor the kernel believes to be here (it sends those again). Stack
 * indexes change. 0 or -ENOMEM: everything is still there.
 */
int el_raw_forget(struct el_raw *raw, uint64_t to_ns);
size_t el_raw_size(const struct el_raw *raw);

#endif
