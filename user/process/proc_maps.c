/* SPDX-License-Identifier: Apache-2.0 */
/* See proc_maps.h. A line: "START-END PERM OFFSET MAJOR:MINOR INODE   PATH", all but the inode in
 * hex. */
#include "user/process/proc_maps.h"

#include <string.h>

/* A path of 4095 bytes with every byte a newline, and the columns before it. */
#define LINE_MAX_SIZE (4 * 4096 + 128)

struct text {
	const char *at, *end;
	bool bad;
};

void el_proc_maps_deinit(struct el_proc_maps *maps)
{
	el_buffer_deinit(&maps->line);
}

/* A number and the character that must follow it. */
static uint64_t number(struct text *text, unsigned int base, char after)
{
	uint64_t value = 0;
	const char *start = text->at;

	for (; text->at < text->end; text->at++) {
		char c = *text->at;
		unsigned int digit = c >= '0' && c <= '9'   ? (unsigned int)(c - '0')
				     : c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a' + 10)
							    : 99;

		if (digit >= base)
			break;
		if (value > (UINT64_MAX - digit) / base)
			text->bad = true;
		value = value * base + digit;
	}
	if (text->at == start || text->at == text->end || *text->at != after)
		text->bad = true;
	else
		text->at++;
	return value;
}

/* In place. The kernel escapes the newline alone, so a literal "\012" reads as one too. */
static void unescape(char *path)
{
	char *to = path;

	for (const char *from = path; *from;) {
		if (!strncmp(from, "\\012", 4)) {
			*to++ = '\n';
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
}

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

uint32_t el_mapping_kind(const char *path, uint64_t inode)
{
	/* Shared memory without a name of its own: the kernel's names for it, all of which have an
	 * inode. */
	static const char *const nameless[] = {"/dev/zero (deleted)", "/SYSV",
					       "/anon_hugepage (deleted)", "anon_inode:", "//anon"};

	if (!strcmp(path, "[vdso]"))
		return EL_MAPPING_VDSO;
	for (size_t i = 0; i < sizeof(nameless) / sizeof(*nameless); i++)
		if (starts_with(path, nameless[i]))
			return EL_MAPPING_ANONYMOUS;
	/* Most often a JIT's second view of its code, but programs are run from there too. */
	if (starts_with(path, "/memfd:"))
		return EL_MAPPING_FILE | EL_MAPPING_ANONYMOUS;
	return *path == '/' || inode ? EL_MAPPING_FILE : EL_MAPPING_ANONYMOUS;
}

/* `line` ends with a NUL in the place of its newline. */
static int parse_line(struct el_proc_maps *maps, char *line, size_t size)
{
	struct text text = {line, line + size, false};
	struct el_mapping mapping = {0};
	const char *permissions;
	char *path;

	mapping.start = number(&text, 16, '-');
	mapping.end = number(&text, 16, ' ');
	permissions = text.at;
	text.at = text.end - text.at > 5 ? text.at + 5 : text.end;
	mapping.offset = number(&text, 16, ' ');
	mapping.dev_major = (uint32_t)number(&text, 16, ':');
	mapping.dev_minor = (uint32_t)number(&text, 16, ' ');
	mapping.inode = number(&text, 10, ' ');
	if (text.bad || mapping.start >= mapping.end || strlen(line) != size) {
		maps->n_bad_lines++;
		return 0;
	}
	maps->read_to = mapping.end;
	if (permissions[2] != 'x')
		return 0;
	path = line + (text.at - line);
	path += strspn(path, " ");
	unescape(path);
	mapping.path = path;
	mapping.flags = el_mapping_kind(path, mapping.inode);
	return maps->mapping(maps->context, &mapping);
}

/* A line that has come whole. */
static int end_line(struct el_proc_maps *maps)
{
	int err;

	el_buffer_add_u8(&maps->line, '\0');
	err = maps->line.err;
	if (!err && !maps->skipping)
		err = parse_line(maps, (char *)maps->line.bytes.at, maps->line.bytes.n - 1);
	maps->line.bytes.n = 0;
	maps->skipping = false;
	return err;
}

int el_proc_maps_feed(struct el_proc_maps *maps, const char *text, size_t size)
{
	while (size) {
		const char *newline = memchr(text, '\n', size);
		size_t piece = newline ? (size_t)(newline - text) : size;
		int err;

		if (!maps->skipping && maps->line.bytes.n + piece > LINE_MAX_SIZE) {
			maps->skipping = true;
			maps->n_bad_lines++;
		}
		if (!maps->skipping)
			el_buffer_add(&maps->line, text, piece);
		err = newline ? end_line(maps) : maps->line.err;
		if (err)
			return err;
		piece += newline != NULL;
		text += piece;
		size -= piece;
	}
	return 0;
}
