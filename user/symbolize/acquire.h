/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has the parser get hold of things while they are there: files of mappings
 * that were hit, and code made at run time, which may be gone a moment later.
 * Remembers per process image what was asked for; the answers are not its job.
 */
#ifndef EL_ACQUIRE_H
#define EL_ACQUIRE_H

#include "base/index.h"
#include "user/process/process.h"
#include "user/symbolize/parser.h"

struct el_acquire_image {
	uint32_t id; /* 0: the row is free */
	uint32_t pid;
	EL_VEC(uint32_t) mappings; /* announced or waiting, ascending */
	uint32_t files_generation; /* all its mappings were announced at this generation + 1 */
	uint64_t refreshed_ns, scanned_ns;
	bool scan_tried;           /* at first sight */
	bool jit_sampled, jit_new; /* since the last refresh: any sample, a new stack in JIT code */
	bool moved, moved_leaf;    /* mappings changed unseen; and a leaf is in none we know */
	bool ended;                /* said to the parser */
	uint8_t hangs;             /* of fetchers, while its memory was read */
};

struct el_acquire_waiting {
	uint32_t image, mapping;
};

struct el_acquire {
	struct el_parser *parser;
	struct el_processes *processes;
	EL_VEC(struct el_acquire_image) images;
	struct el_index by_id;
	EL_VEC(struct el_acquire_waiting) waiting;
	bool kernel;
	uint64_t n_images, n_unread;
};

void el_acquire_init(struct el_acquire *acquire, struct el_parser *parser,
		     struct el_processes *processes);
void el_acquire_deinit(struct el_acquire *acquire);

/* The row of a process image, made and announced at first sight. NULL: out of memory. */
struct el_acquire_image *el_acquire_image(struct el_acquire *acquire, uint32_t id);
/* The first sample of a process that was not read yet: reads it, or counts that it is gone. */
int el_acquire_first_sight(struct el_acquire *acquire, uint32_t id, uint64_t time_ns);
int el_acquire_kernel(struct el_acquire *acquire);

/* Whether code may appear, change and go in there without a file that tells. NULL is no mapping:
 * yes. */
bool el_acquire_is_jit(const struct el_mapping *mapping);
/* A stack seen at `time_ns` for the first time: what it hits is wanted. *ret_jit: some frame is in
 * JIT code. */
int el_acquire_stack(struct el_acquire *acquire, uint32_t image, const struct el_frame *frames,
		     size_t n, uint64_t time_ns, bool *ret_jit);

/* Everything that is due now; with `all`, also what could wait. 0 or -ENOMEM. */
int el_acquire_run(struct el_acquire *acquire, bool all);
/* The image was forgotten. */
void el_acquire_drop(struct el_acquire *acquire, uint32_t id);

#endif
