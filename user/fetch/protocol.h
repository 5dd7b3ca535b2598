/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the client and the fetcher say to each other over a stream socket: one
 * request, one reply, each a header and a bounded body; a descriptor comes
 * with the header of its reply. Both ends are the same program, integers are
 * as in memory. Neither end trusts the sizes that the other one claims.
 */
#ifndef EL_FETCH_PROTOCOL_H
#define EL_FETCH_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define EL_FETCH_MAGIC 0x31464c45u /* "ELF1" */
#define EL_FETCH_BODY_MAX 16384    /* bytes of a request's body: two paths and some numbers */

enum el_fetch_type {
	EL_FETCH_MAPPING,  /* u64 start, end, offset, inode; u32 flags, major, minor, has build ID;
			      path */
	EL_FETCH_DEBUG,    /* u32 build ID size, build ID, debuglink ("" none), path; strings end in
			      NUL */
	EL_FETCH_PERF_MAP, /* nothing */
	EL_FETCH_KALLSYMS, /* nothing */
	EL_FETCH_MEMORY,   /* u64 addr, u64 size */
	EL_N_FETCH_TYPES
};

struct el_fetch_request {
	uint32_t magic;
	uint32_t type;     /* enum el_fetch_type */
	uint32_t size;     /* of the body */
	uint32_t sequence; /* comes back in the reply */
	uint32_t image, pid;
	uint64_t start_ns;
};

struct el_fetch_reply {
	uint32_t magic;
	uint32_t sequence;
	int32_t result; /* 0 or -errno */
	uint32_t size;  /* of the body: bytes of memory */
};

/* Sends header and body (may be empty), with a descriptor when fd >= 0; waits while the other side
 * is slow. 0 or -errno. */
int el_fetch_send(int socket, const void *header, size_t header_size, const void *body,
		  size_t body_size, int fd);
/*
 * Receives exactly `size` bytes until `deadline_ns` (CLOCK_MONOTONIC, UINT64_MAX
 * never); at most one descriptor that came along goes to *ret_fd (or is closed
 * when NULL). 0, -ETIMEDOUT, -ECONNRESET when the other side is gone.
 */
int el_fetch_receive(int socket, void *bytes, size_t size, uint64_t deadline_ns, int *ret_fd);

#endif
