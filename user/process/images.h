/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to this folder: the table of process images, found by id, by key,
 * and the newest by pid. An image is made by whoever tells of it first
 * (side-band, scan or sample) with what is known then; the rest is learnt.
 */
#ifndef EL_IMAGES_H
#define EL_IMAGES_H

#include "base/index.h"
#include "user/process/cgroups.h"
#include "user/process/mappings.h"
#include "user/process/paths.h"
#include "user/process/process.h"

#define EL_NEVER UINT64_MAX

enum el_start_known {
	EL_START_UNKNOWN,
	EL_START_TICK,  /* from /proc/PID/stat: key.start_ns is cut to a tick */
	EL_START_EXACT, /* from a sample */
};

struct image {
	struct el_process process; /* first: a pointer to one is a pointer to the other */
	uint8_t start_known;       /* enum el_start_known */
	bool exec_id_known;
	bool bound;             /* found by key: both are known */
	bool by_exec;           /* its life began with an exec that we saw */
	bool sampled;           /* its id was given away */
	uint32_t previous;      /* id of the image of this pid before it, 0: none kept */
	uint32_t inherits_from; /* id of the image whose mappings it has yet to copy, 0: none */
	uint64_t inherit_ns;    /* as they were then */
	uint64_t scan_ns;       /* of the last scan, 0: none */
	uint64_t cgroup_id;     /* that process.cgroup was taken from, 0: none */
	struct el_mappings mappings;
};

struct newest {
	uint32_t pid;
	uint32_t id;
};

struct el_processes {
	EL_VEC(struct image *) images; /* by id */
	EL_VEC(struct newest) newest;
	struct el_index by_key; /* positions in images */
	struct el_index by_pid; /* positions in newest */
	struct el_paths paths;
	struct el_cgroups cgroups;
	struct el_strings strings;
	struct image *last; /* of the last sample */
	uint32_t next_image, next_mapping;
	uint64_t boot_offset_ns; /* CLOCK_BOOTTIME - CLOCK_MONOTONIC */
	size_t n_ended_unseen;   /* dead images that no sample asked for */
	size_t prune_at;         /* how many of them are worth a pass */
	uint64_t n_mappings_refused;
};

struct image *el_images_get(const struct el_processes *processes, uint32_t id);
/* The newest image of a pid, dead or alive, or NULL. */
struct image *el_images_newest(const struct el_processes *processes, uint32_t pid);
struct image *el_images_of_key(const struct el_processes *processes,
			       const struct el_image_key *key);
/* A new image. The one of its pid before it ends, or itself, when a newer one is known. NULL: out
 * of memory. */
struct image *el_images_add(struct el_processes *processes, uint32_t pid, uint64_t from_ns);
/* Says that the key is known now. 0 or -ENOMEM. */
int el_images_bind(struct el_processes *processes, struct image *image,
		   const struct el_image_key *key);
void el_images_end(struct el_processes *processes, struct image *image, uint64_t time_ns);
/* Whether start times given to a tick or exactly can be the same. */
bool el_images_same_start(const struct image *image, uint64_t start_ns);
/* Copies the mappings that a fork left for later. 0 or -ENOMEM. */
int el_images_inherit(struct el_processes *processes, struct image *image);
/* Drops every image that `drop` says; calls `gone` (or NULL) with each. */
void el_images_drop(struct el_processes *processes, bool (*drop)(const struct image *, uint64_t),
		    uint64_t time_ns, void (*gone)(void *context, uint32_t id), void *context);
void el_images_deinit(struct el_processes *processes);

/* Puts one mapping into an image, with flags and path made the same whoever told it. 0 or -ENOMEM.
 */
int el_images_map(struct el_processes *processes, struct image *image,
		  const struct el_mapping *mapping, uint64_t from_ns, uint64_t now_ns);

#endif
