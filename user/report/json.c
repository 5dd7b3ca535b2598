/* SPDX-License-Identifier: Apache-2.0 */
/* See json.h. The two outer levels are indented, one row of a table stays on one line. */
#include "user/report/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "user/report/escape.h"

#define BROKEN_LEVELS 2

static void add(struct el_json *json, const char *text)
{
	el_buffer_add(json->out, text, strlen(text));
}

static void begin_line(struct el_json *json)
{
	add(json, "\n");
	for (unsigned int i = 0; i < json->depth; i++)
		add(json, "  ");
}

static void begin(struct el_json *json, const char *key)
{
	if (json->follows)
		add(json, ",");
	if (json->depth && json->depth <= BROKEN_LEVELS)
		begin_line(json);
	else if (json->follows)
		add(json, " ");
	json->follows = true;
	if (!key)
		return;
	add(json, "\"");
	add(json, key);
	add(json, "\": ");
}

void el_json_open(struct el_json *json, const char *key, char bracket)
{
	begin(json, key);
	el_buffer_add(json->out, &bracket, 1);
	json->depth++;
	json->follows = false;
}

void el_json_close(struct el_json *json, char bracket)
{
	bool broken = json->follows && json->depth <= BROKEN_LEVELS;

	json->depth--;
	if (broken)
		begin_line(json);
	el_buffer_add(json->out, &bracket, 1);
	json->follows = true;
	if (!json->depth)
		add(json, "\n");
}

void el_json_bytes(struct el_json *json, const char *key, const char *value, size_t size)
{
	begin(json, key);
	add(json, "\"");
	el_escape_json(json->out, value, size);
	add(json, "\"");
}

void el_json_string(struct el_json *json, const char *key, const char *value)
{
	el_json_bytes(json, key, value, strlen(value));
}

void el_json_uint(struct el_json *json, const char *key, uint64_t value)
{
	char made[24];

	begin(json, key);
	snprintf(made, sizeof(made), "%" PRIu64, value);
	add(json, made);
}

void el_json_number(struct el_json *json, const char *key, double value)
{
	char made[40];

	begin(json, key);
	if (isfinite(value))
		snprintf(made, sizeof(made), "%.6g", value);
	else
		snprintf(made, sizeof(made), "null");
	add(json, made);
}

void el_json_bool(struct el_json *json, const char *key, bool value)
{
	begin(json, key);
	add(json, value ? "true" : "false");
}
