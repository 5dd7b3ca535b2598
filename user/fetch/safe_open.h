/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening files whose names and links a profiled process controls. A file is
 * first only pointed at (O_PATH has no side effect, not even on a FIFO or a
 * device), then judged, then opened through that very pointer.
 */
#ifndef EL_SAFE_OPEN_H
#define EL_SAFE_OPEN_H

#include <stdint.h>
#include <sys/stat.h>

/*
 * Points at `path` as a process whose root is `root` would see it: links,
 * also absolute ones and "..", stay inside, magic links are refused.
 * O_PATH descriptor or -errno.
 */
int el_point_in_root(int root, const char *path);
/* Points at `name` in `folder`, which must be the file itself and no link. */
int el_point_plain(int folder, const char *name);
/* Like el_point_in_root(), for a folder. */
int el_point_folder(int root, const char *path);

/* What is pointed at. 0, -EACCES when it is not a regular file or larger than `size_max`. */
int el_judge_regular(int pointer, uint64_t size_max, struct stat *ret);
/* Opens what `pointer` points at for reading. */
int el_open_pointed(int pointer);

#endif
