/* SPDX-License-Identifier: Apache-2.0 */
/* See numba_name.h. Recursion is bounded by depth, output by size. */
#include "symbolizer/numba_name.h"

#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 16
#define SYMBOL_MAX 4096
#define ARGUMENT_MAX 80 /* decoded types that are longer are cut at their first '(' */

struct reader {
	const char *at;
	struct el_numba_name *name;
	size_t size; /* of the text so far */
	bool failed;
};

static void put(struct reader *reader, const char *text, size_t size)
{
	size_t room = EL_NUMBA_NAME_MAX - 1 - reader->size;

	if (size > room) {
		size = room;
		memcpy(reader->name->text + EL_NUMBA_NAME_MAX - 4, "...", 3);
		if (size > 3)
			memcpy(reader->name->text + reader->size, text, size - 3);
	} else {
		memcpy(reader->name->text + reader->size, text, size);
	}
	reader->size += size;
	reader->name->text[reader->size] = 0;
}

static void put_text(struct reader *reader, const char *text)
{
	put(reader, text, strlen(text));
}

/* <length> <characters>: false when there is none. */
static bool take_identifier(struct reader *reader, const char **text, size_t *size)
{
	size_t length = 0;
	const char *at = reader->at;

	while (*at >= '0' && *at <= '9' && length < SYMBOL_MAX)
		length = length * 10 + (*at++ - '0');
	if (at == reader->at || strnlen(at, length) < length)
		return false;
	*text = at;
	*size = length;
	reader->at = at + length;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* _XX stands for a character that no identifier holds; anything else is literal. */
static char decoded(const char *text, size_t size)
{
	int high, low, c;

	if (size < 3 || text[0] != '_')
		return 0;
	high = hex_digit(text[1]);
	low = high < 0 ? -1 : hex_digit(text[2]);
	if (low < 0)
		return 0;
	c = high << 4 | low;
	if (c < 0x20 || c > 0x7e || c == '_')
		return 0;
	if ((c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'))
		return 0;
	return c;
}

static size_t decode(const char *text, size_t size, char *ret, size_t room)
{
	size_t n = 0, i;
	char c;

	for (i = 0; i < size && n + 1 < room; i++) {
		c = decoded(text + i, size - i);
		ret[n++] = c ? c : text[i];
		i += c ? 2 : 0;
	}
	ret[n] = 0;
	return n;
}

/* Parts of names: "_3clocals_3e" is "<locals>", but "get_20" is what it says. */
static void put_part(struct reader *reader, const char *text, size_t size)
{
	char part[SYMBOL_MAX];

	if (size > 6 && !strncmp(text, "_3c", 3) && !strncmp(text + size - 3, "_3e", 3)) {
		put_text(reader, "<");
		put(reader, text + 3, size - 6);
		put_text(reader, ">");
		return;
	}
	if (memmem(text, size, "_3clambda_3e", 12)) {
		decode(text, size, part, sizeof(part));
		put_text(reader, part);
		return;
	}
	put(reader, text, size);
}

static void skip_tags(struct reader *reader)
{
	const char *text;
	size_t size;

	while (*reader->at == 'B') {
		reader->at++;
		if (!take_identifier(reader, &text, &size)) {
			reader->failed = true;
			return;
		}
	}
}

static bool part_is(const char *text, size_t size, const char *wanted)
{
	return size == strlen(wanted) && !memcmp(text, wanted, size);
}

/* N <part>+ E, dots between; leading __main__, <dynamic> and cpython are taken off. */
static void take_nested(struct reader *reader, bool is_function)
{
	const char *text;
	size_t size;
	bool first = true, leading = is_function;

	while (take_identifier(reader, &text, &size)) {
		skip_tags(reader);
		if (leading && part_is(text, size, "cpython")) {
			reader->name->wrapper = true;
			continue;
		}
		if (leading && *reader->at != 'E' &&
		    (part_is(text, size, "__main__") || part_is(text, size, "_3cdynamic_3e"))) {
			leading = false;
			continue;
		}
		leading = false;
		if (!first)
			put_text(reader, ".");
		/* A part that begins with a digit was given an underscore. */
		if (!first && size > 1 && text[0] == '_' && text[1] >= '0' && text[1] <= '9' &&
		    !is_function)
			text++, size--;
		put_part(reader, text, size);
		first = false;
	}
	if (first || *reader->at != 'E')
		reader->failed = true;
	else
		reader->at++;
}

static const char *letter_type(const char *at, size_t *size)
{
	static const struct {
		const char *code, *name;
	} types[] = {
		{"v", "none"},    {"b", "bool"},    {"h", "uint8"},    {"a", "int8"},
		{"t", "uint16"},  {"s", "int16"},   {"j", "uint32"},   {"i", "int32"},
		{"m", "uint64"},  {"l", "int64"},   {"y", "uint64"},   {"x", "int64"},
		{"f", "float32"}, {"d", "float64"}, {"Dh", "float16"}, {"c", "int8"},
		{"w", "char"},    {"z", "..."},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		*size = strlen(types[i].code);
		if (!strncmp(at, types[i].code, *size))
			return types[i].name;
	}
	return NULL;
}

static void take_type(struct reader *reader, int depth);

/* "int64 generator(func=<function gen at 0x...>, ...)": what follows the '(' is different each run.
 */
static void put_named_type(struct reader *reader, const char *text, size_t size)
{
	char type[SYMBOL_MAX];
	size_t n = decode(text, size, type, sizeof(type));
	char *bracket = n > ARGUMENT_MAX || strstr(type, " at 0x") ? strchr(type, '(') : NULL;

	if (bracket)
		*bracket = 0;
	put_text(reader, type);
	if (bracket)
		put_text(reader, "(...)");
}

/* Li<number>E: false when it is none. */
static bool take_number(struct reader *reader, unsigned int *ret)
{
	unsigned int value = 0;
	const char *at = reader->at;

	if (at[0] != 'L' || at[1] != 'i')
		return false;
	for (at += 2; *at >= '0' && *at <= '9' && value < 1000000; at++)
		value = value * 10 + (*at - '0');
	if (*at != 'E')
		return false;
	reader->at = at + 1;
	*ret = value;
	return true;
}

/* uint8[:,::1]: all dimensions, the contiguous one last (C) or first (Fortran), or none. */
static void put_dimensions(struct reader *reader, unsigned int n, char layout)
{
	unsigned int contiguous = layout == 'C' ? n - 1 : layout == 'F' ? 0 : n;

	put_text(reader, "[");
	for (unsigned int i = 0; i < n && i < 32; i++) {
		if (i)
			put_text(reader, ",");
		put_text(reader, i == contiguous ? "::1" : ":");
	}
	put_text(reader, n ? "]" : "()]");
}

/* Array I <type> Li<n>E 1<layout> 7mutable|8readonly 7aligned E, at the 'I'. */
static void take_array(struct reader *reader, int depth)
{
	const char *layout, *text, *element;
	size_t size, begin = reader->size, end;
	unsigned int n;
	char copy[EL_NUMBA_NAME_MAX];

	reader->at++;
	take_type(reader, depth + 1);
	if (reader->failed || !take_number(reader, &n) ||
	    !take_identifier(reader, &layout, &size) || size != 1) {
		reader->failed = true;
		return;
	}
	put_dimensions(reader, n, *layout);
	end = reader->size;
	while (take_identifier(reader, &text, &size)) {
		if (!part_is(text, size, "readonly") || end + 10 >= EL_NUMBA_NAME_MAX)
			continue;
		element = reader->name->text + begin;
		memcpy(copy, element, end - begin + 1);
		reader->size = begin;
		put_text(reader, "readonly ");
		put_text(reader, copy);
	}
	if (*reader->at == 'E')
		reader->at++;
	else
		reader->failed = true;
}

/* Name(a, b), UniTuple(int64 x 2) as Numba prints it; at the 'I'. */
static void take_template(struct reader *reader, bool uniform, int depth)
{
	unsigned int n;
	bool first = true;

	reader->at++;
	put_text(reader, "(");
	while (*reader->at && *reader->at != 'E' && !reader->failed) {
		if (!first)
			put_text(reader, uniform ? " x " : ", ");
		first = false;
		if (take_number(reader, &n)) {
			char number[16];

			snprintf(number, sizeof(number), "%u", n);
			put_text(reader, number);
		} else {
			take_type(reader, depth + 1);
		}
	}
	put_text(reader, ")");
	if (*reader->at == 'E')
		reader->at++;
	else
		reader->failed = true;
}

static void take_type(struct reader *reader, int depth)
{
	const char *text = letter_type(reader->at, &(size_t){0});
	size_t size;

	if (depth > DEPTH_MAX || reader->failed) {
		reader->failed = true;
	} else if (text) {
		letter_type(reader->at, &size);
		reader->at += size;
		put_text(reader, text);
	} else if (*reader->at == 'P' || *reader->at == 'R') {
		reader->at++;
		take_type(reader, depth + 1);
		put_text(reader, "*");
	} else if (*reader->at == 'N') {
		struct reader nested = *reader;
		size_t begin = reader->size;

		nested.at++;
		take_nested(&nested, false);
		*reader = nested;
		if (!reader->failed) {
			char whole[EL_NUMBA_NAME_MAX];

			memcpy(whole, reader->name->text + begin, reader->size - begin + 1);
			size = reader->size - begin;
			reader->size = begin;
			put_named_type(reader, whole, size);
		}
	} else if (take_identifier(reader, &text, &size)) {
		if (*reader->at == 'I' && part_is(text, size, "Array")) {
			take_array(reader, depth);
		} else {
			put_named_type(reader, text, size);
			if (*reader->at == 'I')
				take_template(reader, part_is(text, size, "UniTuple"), depth);
		}
	} else {
		reader->failed = true;
	}
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* What stands before the mangled name, and whether it makes a wrapper. */
static const char *skip_prefix(const char *symbol, struct el_numba_name *ret)
{
	const char *mangled;

	ret->wrapper = false;
	if (!strncmp(symbol, "_Z", 2))
		return symbol;
	if (!strncmp(symbol, "cfunc.", 6) || !strncmp(symbol, "__gufunc__.", 11) ||
	    !strncmp(symbol, "__ufunc__.", 10) || !strncmp(symbol, ".kernel.", 8)) {
		ret->wrapper = true;
		mangled = strstr(symbol, "._Z");
		return mangled ? mangled + 1 : NULL;
	}
	/* Finalizers of generators. */
	if (!strncmp(symbol, "finalize__Z", 11)) {
		ret->wrapper = true;
		return symbol + 9;
	}
	return NULL;
}

/* Tags tell Numba's names from a C++ compiler's: v<number> or c8t..., or the wrapper's own part. */
static bool has_tag(const char *mangled)
{
	const char *at;

	if (!strncmp(mangled, "_ZN7cpython", 11))
		return true;
	for (at = strchr(mangled, 'B'); at; at = strchr(at + 1, 'B')) {
		const char *tag = at + 1;

		while (is_digit(*tag))
			tag++;
		if (tag > at + 1 &&
		    ((tag[0] == 'v' && is_digit(tag[1])) || !strncmp(tag, "c8t", 3)))
			return true;
	}
	/* Generators have none. */
	return strstr(mangled, "generator_28func_3d");
}

static void put_arguments(struct reader *reader)
{
	bool first = true;
	size_t begin = reader->size;

	put_text(reader, "(");
	while (*reader->at && *reader->at != '.' && *reader->at != '$' && !reader->failed) {
		if (!first)
			put_text(reader, ", ");
		first = false;
		take_type(reader, 0);
	}
	if (reader->failed) { /* a type of a later Numba */
		reader->failed = false;
		reader->size = begin;
		reader->name->text[begin] = 0;
		put_text(reader, "(...");
	}
	put_text(reader, ")");
}

bool el_numba_name_parse(const char *symbol, struct el_numba_name *ret)
{
	const char *mangled, *text;
	struct reader reader = {.name = ret};
	size_t size;

	if (strnlen(symbol, SYMBOL_MAX) == SYMBOL_MAX)
		return false;
	mangled = skip_prefix(symbol, ret);
	if (!mangled || !has_tag(mangled))
		return false;
	ret->text[0] = 0;
	reader.at = mangled + 2;
	if (*reader.at == 'N') {
		reader.at++;
		take_nested(&reader, true);
	} else if (take_identifier(&reader, &text, &size)) {
		skip_tags(&reader);
		put_part(&reader, text, size);
	} else {
		return false;
	}
	if (reader.failed)
		return false;
	put_arguments(&reader);
	if (ret->wrapper)
		put_text(&reader, " [wrapper]");
	return true;
}

bool el_numba_name_is(const char *symbol)
{
	static const char *const helpers[] = {"NRT_", "nrt_atomic", "_numba", "numba_", "cfunc._Z"};
	struct el_numba_name name;

	for (size_t i = 0; i < sizeof(helpers) / sizeof(helpers[0]); i++)
		if (!strncmp(symbol, helpers[i], strlen(helpers[i])))
			return true;
	return strnlen(symbol, SYMBOL_MAX) < SYMBOL_MAX && skip_prefix(symbol, &name) == symbol &&
	       has_tag(symbol);
}
