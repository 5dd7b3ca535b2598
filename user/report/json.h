/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JSON writer (RFC 8259): objects and arrays are opened and closed, commas and
 * line breaks are its own. Strings may hold any bytes; the result is valid
 * UTF-8 without raw control characters. In memory; errors stick to out->err.
 */
#ifndef EL_REPORT_JSON_H
#define EL_REPORT_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

struct el_json {
	struct el_buffer *out;
	unsigned int depth;
	bool follows; /* something was written at this depth */
};

/* `key` is NULL within an array; keys are words of our own. */
void el_json_open(struct el_json *json, const char *key, char bracket);
void el_json_close(struct el_json *json, char bracket);
void el_json_string(struct el_json *json, const char *key, const char *value);
void el_json_bytes(struct el_json *json, const char *key, const char *value, size_t size);
void el_json_uint(struct el_json *json, const char *key, uint64_t value);
void el_json_number(struct el_json *json, const char *key, double value); /* NaN: null */
void el_json_bool(struct el_json *json, const char *key, bool value);

#endif
