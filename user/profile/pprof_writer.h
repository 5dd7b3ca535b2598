/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that write a profile share. Errors are sticky in the writer. Private to
 * pprof_write*.c. */
#ifndef EL_PPROF_WRITER_H
#define EL_PPROF_WRITER_H

#include "base/buffer.h"
#include "base/strings.h"
#include "user/profile/gzip.h"
#include "user/profile/profile.h"

struct el_pprof_writer {
	const struct el_profile *profile;
	struct el_gzip *gzip;
	struct el_buffer message; /* the one being made */
	struct el_buffer inner;   /* and the one inside it */
	struct el_buffer packed;
	struct el_strings extra; /* after the model's strings; its "" is not written */
	uint32_t *location_ids;  /* by row */
	uint32_t *location_rows; /* by id - 1 */
	int err;
};

/* Puts the message made so far out as one field of the profile; the next starts empty. */
void el_pprof_emit_message(struct el_pprof_writer *writer, uint32_t field);
/* Adds the inner message to the message as one field; the next starts empty. */
void el_pprof_add_inner(struct el_pprof_writer *writer, uint32_t field);

/* Decides the ids; before anything that names a location. 0 or -ENOMEM. */
int el_pprof_number_locations(struct el_pprof_writer *writer);
void el_pprof_write_objects(struct el_pprof_writer *writer);
int el_pprof_write_mappings(struct el_pprof_writer *writer);
void el_pprof_write_functions(struct el_pprof_writer *writer);
void el_pprof_write_locations(struct el_pprof_writer *writer);

#endif
