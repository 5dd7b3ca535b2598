/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a file or of memory, and pieces of them that are loaded page by
 * page when touched. Files are read by pread, so that one that shrinks while
 * it is read yields an error and not a signal. It knows nothing of ELF.
 */
#ifndef EL_BYTES_H
#define EL_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where pieces come from. Exactly one of `fd` and `memory` is in use. */
struct el_bytes {
	int fd;          /* owned; -1: memory, or closed for the moment */
	uint8_t *memory; /* owned, malloc */
	uint64_t size;
	/* Optional: gets a new descriptor after `fd` was closed to save one; -errno. */
	int (*reopen)(void *context);
	void *context;
};

/* Takes `fd`, which must be a regular file. 0 or -errno. */
int el_bytes_init_fd(struct el_bytes *bytes, int fd);
/* Takes `memory`. */
void el_bytes_init_memory(struct el_bytes *bytes, void *memory, size_t size);
void el_bytes_deinit(struct el_bytes *bytes);
/* All `size` bytes at `off`: 0, -EIO when the file is shorter, or -errno. */
int el_bytes_read(struct el_bytes *bytes, uint64_t off, void *ret, size_t size);

/* A part of a file with pages that appear on demand. A zeroed one is empty. */
struct el_piece {
	struct el_bytes *bytes; /* NULL: all of it is loaded */
	uint64_t off;
	size_t size;
	uint8_t *at;
	uint8_t *loaded; /* one bit a page */
	size_t n_loaded; /* pages read so far */
	bool borrowed;   /* `at` belongs to `bytes` */
	bool mapped;     /* `at` is an anonymous mapping, not malloc */
};

/* Nothing is read yet. 0, -EINVAL when it reaches past the end, -ENOMEM. */
int el_piece_init(struct el_piece *piece, struct el_bytes *bytes, uint64_t off, size_t size);
/* Takes malloc'ed bytes that are complete. */
void el_piece_init_whole(struct el_piece *piece, uint8_t *at, size_t size);
void el_piece_deinit(struct el_piece *piece);
/* The range in place, valid until deinit; NULL when it is out of range or unreadable. */
const uint8_t *el_piece_range(struct el_piece *piece, uint64_t off, size_t size);
/* A NUL-terminated string of at most 1 MiB in place, or NULL. */
const char *el_piece_string(struct el_piece *piece, uint64_t off);
/* Bytes of memory in use. */
size_t el_piece_resident(const struct el_piece *piece);

#endif
