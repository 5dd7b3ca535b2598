/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source files, read for showing their lines. Paths come from debug
 * information of profiled programs: only regular files are opened, never a
 * device, a FIFO or a file of /proc, and nothing above a size limit. A file that cannot
 * be shown is an answer (enum el_source_state), not an error.
 */
#ifndef EL_REPORT_SOURCES_H
#define EL_REPORT_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(name, sentence): why there is no text; the sentence goes before ": PATH". */
#define EL_SOURCE_STATES(X)                                                                        \
	X(READ, "source")                                                                          \
	X(ABSENT, "source not found")                                                              \
	X(REFUSED, "source not readable")                                                          \
	X(NOT_FILE, "source is not a regular file")                                                \
	X(TOO_LARGE, "source is larger than 4 MiB")

enum el_source_state {
#define X(name, sentence) EL_SOURCE_##name,
	EL_SOURCE_STATES(X)
#undef X
};

#define EL_SOURCE_MAX (4u << 20)

struct el_source_file;
struct el_sources;

int el_sources_new(struct el_sources **ret);
void el_sources_free(struct el_sources *sources);

/* The file of that path; 0 or -ENOMEM. Valid until the next call. */
int el_sources_get(struct el_sources *sources, const char *path, const struct el_source_file **ret);

enum el_source_state el_source_state(const struct el_source_file *file);
const char *el_source_state_sentence(enum el_source_state state);
/* Wall clock of the last change, ns; 0 when not read. */
uint64_t el_source_changed_ns(const struct el_source_file *file);
uint32_t el_source_n_lines(const struct el_source_file *file);
/* Line `line`, counted from 1, without its end; NULL past the end of the file. Any bytes. */
const char *el_source_line(const struct el_source_file *file, uint32_t line, size_t *ret_size);

#endif
