/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files that read a profile share: the state between passes, and
 * one function per kind of message. Private to pprof_read*.c.
 */
#ifndef EL_PPROF_READER_H
#define EL_PPROF_READER_H

#include "base/vec.h"
#include "user/profile/build.h"
#include "user/profile/id_map.h"
#include "user/profile/protobuf.h"

#define EL_PPROF_MAX_NAMES 64 /* of an enumeration */

struct el_pprof_text {
	const char *at;
	uint32_t size;
	uint32_t string; /* + 1; 0: not interned yet */
};

struct el_pprof_reader {
	const uint8_t *bytes;
	size_t size;
	struct el_profile_builder *builder;
	struct el_profile *profile; /* the builder's */
	struct el_error *error;
	size_t n_items;

	bool ours;
	uint64_t n_strings; /* of the model, when ours */
	EL_VEC(struct el_pprof_text) texts;
	EL_VEC(uint32_t) objects, processes, samples; /* the file's row -> the profile's */
	struct el_id_map mappings, functions, locations;
	uint8_t codes[EL_PPROF_MAX_NAMES], misses[EL_PPROF_MAX_NAMES],
		ends[EL_PPROF_MAX_NAMES]; /* the file's number -> ours */
	uint32_t n_codes, n_misses, n_ends;

	uint64_t default_type;            /* index of a text */
	uint32_t n_types;                 /* in the file */
	uint32_t value_of[EL_MAX_VALUES]; /* our value -> the file's */
	EL_VEC(uint32_t) stack;
	EL_VEC(struct el_profile_line) lines;
};

/* 0, -EINVAL with a sentence, -EFBIG, -ENOMEM; as all functions here. */
typedef int el_pprof_visit(struct el_pprof_reader *reader, const struct el_protobuf_field *field);

/* Says what is wrong; -EINVAL. */
int el_pprof_damaged(struct el_pprof_reader *reader, const char *what);
/* One more row, line or stack entry; -EFBIG beyond the limit. */
int el_pprof_count_item(struct el_pprof_reader *reader);
/* The model's string of a string of the file. */
int el_pprof_intern_text(struct el_pprof_reader *reader, uint64_t index, uint32_t *ret);
bool el_pprof_text_is(const struct el_pprof_reader *reader, uint64_t index, const char *wanted);
/* The last value is the one that reports show. */
int el_pprof_put_default_last(struct el_pprof_reader *reader);

/* The passes, in this order. */
el_pprof_visit el_pprof_visit_heads, el_pprof_visit_enumerations, el_pprof_visit_tables;
el_pprof_visit el_pprof_visit_mappings, el_pprof_visit_locations;
el_pprof_visit el_pprof_visit_samples, el_pprof_visit_ticks;

#endif
