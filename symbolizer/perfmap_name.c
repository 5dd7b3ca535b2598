/* SPDX-License-Identifier: Apache-2.0 */
/* See perfmap_name.h. */
#include "symbolizer/perfmap_name.h"

#include <stdio.h>
#include <string.h>

static const char *const v8_kinds[] = {"JS:", "LazyCompile:", "Function:", "Script:", "Eval:"};

/* Takes ":NUMBER" off the end of [text, *end); false: there is none. */
static bool take_number(const char *text, const char **end, uint32_t *ret)
{
	const char *at = *end;
	uint64_t value = 0, place = 1;

	while (at > text && at[-1] >= '0' && at[-1] <= '9' && place < 10000000000ull) {
		value += (uint64_t)(*--at - '0') * place;
		place *= 10;
	}
	if (at == *end || at == text || at[-1] != ':' || value > UINT32_MAX)
		return false;
	*end = at - 1;
	*ret = value;
	return true;
}

/* Names and paths may both hold blanks; a path that says that it is one is the better hint. */
static const char *find_path(const char *text, const char *end)
{
	static const char *const begins[] = {" /", " file://", " node:", " "};
	const char *at;
	size_t i;

	for (i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		at = memmem(text, end - text, begins[i], strlen(begins[i]));
		if (at)
			return at + 1;
	}
	return NULL;
}

static void copy(char *ret, const char *text, const char *end)
{
	memcpy(ret, text, end - text);
	ret[end - text] = 0;
}

static bool parse_v8(const char *raw, struct el_perfmap_name *ret)
{
	const char *end = raw + strlen(raw), *path;
	uint32_t column;
	size_t i;

	for (i = 0; i < sizeof(v8_kinds) / sizeof(v8_kinds[0]); i++)
		if (!strncmp(raw, v8_kinds[i], strlen(v8_kinds[i])))
			break;
	if (i == sizeof(v8_kinds) / sizeof(v8_kinds[0]))
		return false;
	raw += strlen(v8_kinds[i]);
	raw += strspn(raw, "~^*+'");
	if (!take_number(raw, &end, &column) || !take_number(raw, &end, &ret->line))
		return false;
	path = find_path(raw, end);
	if (!path || path >= end)
		return false;
	if (path - 1 == raw)
		strcpy(ret->name, i == 0 || i == 1 ? "(anonymous)" : "(top level)");
	else
		copy(ret->name, raw, path - 1);
	if (end - path > 8 && !strncmp(path, "file:///", 8))
		path += 7;
	copy(ret->file, path, end);
	ret->is_python = false;
	return true;
}

static bool parse_python(const char *raw, struct el_perfmap_name *ret)
{
	const char *colon;

	if (strncmp(raw, "py::", 4))
		return false;
	raw += 4;
	/* Qualified names hold no ':'; paths may. */
	colon = strchr(raw, ':');
	if (!colon || colon == raw || !colon[1])
		return false;
	copy(ret->name, raw, colon);
	copy(ret->file, colon + 1, colon + 1 + strlen(colon + 1));
	ret->line = 0;
	ret->is_python = true;
	return true;
}

bool el_perfmap_name_parse(const char *raw, struct el_perfmap_name *ret)
{
	if (strnlen(raw, EL_PERFMAP_NAME_MAX + 1) > EL_PERFMAP_NAME_MAX)
		return false;
	return parse_v8(raw, ret) || parse_python(raw, ret);
}
