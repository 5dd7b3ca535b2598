/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Process images and their executable mappings over time: who was (pid, time),
 * what was mapped at (address, time), what it was called, which cgroup.
 * Fed by side-band events and by scans of /proc; asked by the join and the
 * unwinder. A leaf: it knows the kernel's text formats, not BPF or symbols.
 *
 * Nothing is forgotten until el_processes_forget(): samples of a dead process
 * are still resolved. Ids count up and are never reused. Times: CLOCK_MONOTONIC ns.
 */
#ifndef EL_PROCESS_H
#define EL_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings.h"
#include "base/vec.h"
#include "bpf/wire.h"
#include "symbolizer/symbolizer.h" /* struct el_mapping */

struct el_processes;

/* One process between two execs. */
struct el_process {
	uint32_t id; /* the image id used everywhere in user space; 0: the kernel */
	struct el_image_key key;
	uint64_t from_ns, to_ns; /* life of the image; to_ns UINT64_MAX while alive */
	uint32_t parent_pid;
	char comm[16];   /* of the process, NUL-terminated */
	uint32_t cgroup; /* string of the table below: path, "" unknown */
	bool scanned;    /* /proc/PID/maps was read */
	bool kernel_thread;
	bool told; /* begun by an exec that we were told of, and so were its mappings: needs no scan
		    */
	uint32_t generation; /* grows with every change of its mappings */
};

/* A mapping and when it was there. */
struct el_process_mapping {
	struct el_mapping mapping; /* id unique over all processes */
	uint64_t from_ns, to_ns;
};

int el_processes_new(struct el_processes **ret);
void el_processes_free(struct el_processes *processes);

/* --- feeding, in time order --- */

/* What the side-band said; pids are thread-group ids. */
int el_processes_fork(struct el_processes *processes, uint64_t time_ns, uint32_t parent,
		      uint32_t child);
int el_processes_exec(struct el_processes *processes, uint64_t time_ns, uint32_t pid,
		      const char *comm);
int el_processes_comm(struct el_processes *processes, uint64_t time_ns, uint32_t pid, uint32_t tid,
		      const char *comm);
int el_processes_exit(struct el_processes *processes, uint64_t time_ns, uint32_t pid);
/* The id is set here, and the flags follow from path and inode: scans and side-band agree then. */
int el_processes_mmap(struct el_processes *processes, uint64_t time_ns, uint32_t pid,
		      const struct el_mapping *mapping);
int el_processes_cgroup(struct el_processes *processes, uint64_t cgroup_id, const char *path);

/*
 * Reads /proc/PID now: maps, comm, start time, cgroup. -ESRCH when it is gone. Idempotent: what is
 * known stays as it is, what is no longer there ends at `time_ns`.
 */
int el_processes_scan(struct el_processes *processes, uint64_t time_ns, uint32_t pid);
/*
 * Reads only the cgroup, if it is not known: for an image that was told. By the time of a scan its
 * process may have gone on to another program, whose mappings are none of this image's.
 */
int el_processes_scan_cgroup(struct el_processes *processes, uint32_t id);

/* --- asking --- */

/*
 * The image a sample belongs to; made (and marked not scanned) when unknown. NULL: out of memory.
 * The pointer holds until el_processes_forget() says that the image is gone. An image that no
 * sample asked for goes by itself some time after its end.
 */
struct el_process *el_processes_of_sample(struct el_processes *processes,
					  const struct el_record_sample *sample);
struct el_process *el_processes_get(struct el_processes *processes, uint32_t id);
/* What covered `addr` at `time_ns`, or NULL. Valid until the next feeding call. */
const struct el_process_mapping *el_process_mapping_at(struct el_processes *processes, uint32_t id,
						       uint64_t addr, uint64_t time_ns);
/* Mappings of an image, sorted by id (so: oldest first); count in *ret_n. Valid until the next
 * feeding call. */
const struct el_process_mapping *el_process_mappings(struct el_processes *processes, uint32_t id,
						     size_t *ret_n);
const char *el_processes_string(const struct el_processes *processes, uint32_t string);

/* Drops images that ended before `time_ns`, and mappings that did; calls `gone` with each image id.
 */
void el_processes_forget(struct el_processes *processes, uint64_t time_ns,
			 void (*gone)(void *context, uint32_t id), void *context);

struct el_processes_counts {
	size_t images;             /* kept now */
	uint64_t mappings_refused; /* of images with too many */
};
void el_processes_counts(const struct el_processes *processes, struct el_processes_counts *ret);

#endif
