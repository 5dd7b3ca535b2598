/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file's bytes to a profile, in passes over its fields, because other tools
 * write them in any order: strings, what refers to strings only, mappings,
 * locations, samples, ticks. Everything is bounded: the unpacked size, its
 * ratio to the file's, the number of items of all tables together.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "user/profile/file.h"
#include "user/profile/gzip.h"
#include "user/profile/pprof.h"
#include "user/profile/pprof_fields.h"
#include "user/profile/pprof_reader.h"

#define FILE_LIMIT ((size_t)1 << 30)
#define UNPACKED_LIMIT ((size_t)1 << 30)
/* A profile unpacks to about 3 times its size, a bomb to a thousand times. */
#define UNPACKED_RATIO 100
#define UNPACKED_ALWAYS ((size_t)16 << 20)

/* Rows, lines and stack entries together: the tables stay under about 4 GiB. */
#define ITEM_LIMIT ((size_t)1 << 26)

int el_pprof_damaged(struct el_pprof_reader *reader, const char *what)
{
	return el_error_set(reader->error, -EINVAL, "the profile is damaged: %s", what);
}

int el_pprof_count_item(struct el_pprof_reader *reader)
{
	if (++reader->n_items <= ITEM_LIMIT)
		return 0;
	return el_error_set(reader->error, -EFBIG, "the profile has more than %zu million rows",
			    ITEM_LIMIT >> 20);
}

/* Calls `visit` for each field of a message. */
static int each_field(struct el_pprof_reader *reader, const void *bytes, size_t size,
		      el_pprof_visit *visit)
{
	struct el_cursor cursor = el_cursor_of(bytes, size);
	struct el_protobuf_field field;
	int err = 0;

	while (!err && el_protobuf_next(&cursor, &field))
		err = visit(reader, &field);
	if (!err && cursor.failed)
		err = el_pprof_damaged(reader, "a message ends too early or is malformed");
	return err;
}

/* --- strings --- */

int el_pprof_intern_text(struct el_pprof_reader *reader, uint64_t index, uint32_t *ret)
{
	struct el_pprof_text *text;
	int err;

	if (index >= reader->texts.n)
		return el_pprof_damaged(reader, "it names a string that is not there");
	text = &reader->texts.at[index];
	if (!text->string) {
		err = el_strings_add_bytes(&reader->profile->strings, text->at, text->size, ret);
		if (err)
			return err;
		text->string = *ret + 1;
	}
	*ret = text->string - 1;
	return 0;
}

bool el_pprof_text_is(const struct el_pprof_reader *reader, uint64_t index, const char *wanted)
{
	const struct el_pprof_text *text =
		index < reader->texts.n ? &reader->texts.at[index] : NULL;

	return text && text->size == strlen(wanted) && !memcmp(text->at, wanted, text->size);
}

static int visit_strings(struct el_pprof_reader *reader, const struct el_protobuf_field *field)
{
	int err = 0;

	switch (field->number) {
	case EL_PPROF_STRING:
		if (field->wire != EL_PROTOBUF_BYTES || field->size > UINT32_MAX)
			return el_pprof_damaged(reader, "a string is none");
		err = el_pprof_count_item(reader);
		if (!err)
			err = el_vec_push(
				&reader->texts,
				((struct el_pprof_text){(const char *)field->bytes, field->size}));
		break;
	case EL_PPROF_VERSION:
		reader->ours = field->value == EL_PPROF_OUR_VERSION;
		break;
	case EL_PPROF_N_STRINGS:
		reader->n_strings = field->value;
		break;
	case EL_PPROF_DEFAULT_SAMPLE_TYPE:
		reader->default_type = field->value;
		break;
	case EL_PPROF_SAMPLE_TYPE:
		reader->n_types++;
		break;
	}
	return err;
}

static int read_strings(struct el_pprof_reader *reader)
{
	int err = each_field(reader, reader->bytes, reader->size, visit_strings);
	uint32_t string;

	if (err)
		return err;
	if (!reader->texts.n || reader->texts.at[0].size)
		return el_error_set(reader->error, -EINVAL,
				    "this is not a pprof profile: it has no string table");
	if (!reader->n_types)
		return el_error_set(reader->error, -EINVAL,
				    "this is not a pprof profile: it has no sample type");
	for (uint64_t i = 0; reader->ours && i < reader->n_strings && !err; i++)
		err = el_pprof_intern_text(reader, i, &string);
	return err;
}

/* --- the whole --- */

static int read_profile(struct el_pprof_reader *reader)
{
	static el_pprof_visit *const passes[] = {
		el_pprof_visit_heads,    el_pprof_visit_enumerations, el_pprof_visit_tables,
		el_pprof_visit_mappings, el_pprof_visit_locations,    el_pprof_visit_samples,
		el_pprof_visit_ticks};
	int err = read_strings(reader);

	for (size_t i = 0; !err && i < sizeof(passes) / sizeof(passes[0]); i++) {
		err = each_field(reader, reader->bytes, reader->size, passes[i]);
		if (!err && passes[i] == el_pprof_visit_heads)
			err = el_pprof_put_default_last(reader);
	}
	return err;
}

static void reader_deinit(struct el_pprof_reader *reader)
{
	el_profile_builder_free(reader->builder);
	el_vec_deinit(&reader->texts);
	el_vec_deinit(&reader->objects);
	el_vec_deinit(&reader->processes);
	el_vec_deinit(&reader->samples);
	el_vec_deinit(&reader->stack);
	el_vec_deinit(&reader->lines);
	el_id_map_deinit(&reader->mappings);
	el_id_map_deinit(&reader->functions);
	el_id_map_deinit(&reader->locations);
}

static int decode_message(const void *bytes, size_t size, struct el_profile **ret,
			  struct el_error *error)
{
	struct el_pprof_reader reader = {.bytes = bytes, .size = size, .error = error};
	uint64_t seed = 0;
	int err = el_profile_builder_new(&reader.builder);

	if (!err) {
		reader.profile = el_profile_builder_profile(reader.builder);
		if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
			seed = 0;
		reader.mappings.seed = reader.functions.seed = reader.locations.seed = seed;
		*error->text = '\0';
		err = read_profile(&reader);
	}
	if (!err)
		err = el_profile_builder_finish(reader.builder, ret, error);
	if (err && !*error->text)
		el_error_set(error, err, "the profile cannot be read: %s", strerror(-err));
	reader_deinit(&reader);
	return err;
}

static int unpack(const void *bytes, size_t size, struct el_buffer *ret, struct el_error *error)
{
	size_t limit =
		size > UNPACKED_LIMIT / UNPACKED_RATIO ? UNPACKED_LIMIT : size * UNPACKED_RATIO;
	int err =
		el_gzip_unpack(bytes, size, limit > UNPACKED_ALWAYS ? limit : UNPACKED_ALWAYS, ret);

	switch (err) {
	case 0:
		return 0;
	case -ENODATA:
		return el_error_set(error, -EINVAL,
				    "the profile is cut off: its compressed data ends too early");
	case -EINVAL:
		return el_error_set(error, err,
				    "the profile is damaged: its compressed data is invalid");
	case -EFBIG:
		return el_error_set(error, err, "the profile unpacks to more than is plausible");
	default:
		return el_error_set(error, err, "not enough memory to unpack the profile");
	}
}

int el_pprof_decode(const void *bytes, size_t size, struct el_profile **ret, struct el_error *error)
{
	struct el_buffer unpacked = {0};
	int err;

	if (!size)
		return el_error_set(error, -EINVAL, "the file is empty");
	if (!el_gzip_is(bytes, size))
		return decode_message(bytes, size, ret, error);
	err = unpack(bytes, size, &unpacked, error);
	if (!err)
		err = decode_message(unpacked.bytes.at, unpacked.bytes.n, ret, error);
	el_buffer_deinit(&unpacked);
	return err;
}

int el_pprof_load(const char *path, struct el_profile **ret, struct el_error *error)
{
	struct el_buffer file = {0};
	struct el_error why;
	int err = el_file_read(path, FILE_LIMIT, &file, error);

	if (!err) {
		err = el_pprof_decode(file.bytes.at, file.bytes.n, ret, &why);
		if (err)
			el_error_set(error, err, "%s%s: %.500s", path,
				     el_gzip_is(file.bytes.at, file.bytes.n)
					     ? ""
					     : " is no profile, or a damaged one",
				     why.text);
	}
	el_buffer_deinit(&file);
	return err;
}
