/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that are there whole or not at all: a temporary file in the same
 * folder, synced, then renamed. Nothing is left behind on failure, nor when
 * the program is killed while it writes, where the file system has O_TMPFILE.
 */
#ifndef EL_FILE_H
#define EL_FILE_H

#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"

/*
 * Replaces `path` (mode 0600; a symbolic link itself, not what it leads to).
 * Devices and FIFOs are written to instead. -errno with a sentence that
 * says what to do.
 */
int el_file_replace(const char *path, const void *bytes, size_t size, struct el_error *error);

/* Binary output for a pipe: -EINVAL when stdout is a terminal. */
int el_file_write_stdout(const void *bytes, size_t size, struct el_error *error);

/* Appends a whole file or pipe, up to `limit` bytes: -EFBIG beyond. -ENXIO: a device. "-" is
 * stdin. */
int el_file_read(const char *path, size_t limit, struct el_buffer *ret, struct el_error *error);

#endif
