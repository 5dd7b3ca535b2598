/* SPDX-License-Identifier: Apache-2.0 */
/* See kallsyms.h. The text is the kernel's own, but its size is not known beforehand. */
#include "symbolizer/kallsyms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/search.h"

#define CHUNK (64u << 10)
#define RANK_END UINT16_MAX
/* The kernel pads functions for call thunks and names the padding, which nothing runs. */
#define PADDING "__pfx_"

int el_kallsyms_init(struct el_kallsyms *kallsyms)
{
	*kallsyms = (struct el_kallsyms){0};
	return el_strings_init(&kallsyms->modules);
}

void el_kallsyms_deinit(struct el_kallsyms *kallsyms)
{
	el_vec_deinit(&kallsyms->symbols);
	el_vec_deinit(&kallsyms->names);
	el_strings_deinit(&kallsyms->modules);
}

/* A word up to a blank; *at moves behind the blank. False: it is empty. */
static bool take_word(const char **at, const char *end, const char **word, size_t *size)
{
	*word = *at;
	while (*at < end && **at != ' ' && **at != '\t')
		(*at)++;
	*size = *at - *word;
	if (*at < end)
		(*at)++;
	return *size;
}

static bool take_addr(const char *word, size_t size, uint64_t *ret)
{
	uint64_t value = 0;

	if (size > 16)
		return false;
	for (size_t i = 0; i < size; i++) {
		char c = word[i];

		if (c >= '0' && c <= '9')
			value = value << 4 | (c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			value = value << 4 | ((c | 0x20) - 'a' + 10);
		else
			return false;
	}
	*ret = value;
	return true;
}

/* Of several names of one address: global before local, few underscores before many. */
static uint16_t rank_of(char type, const char *name, size_t size)
{
	uint16_t rank = type == 'T' ? 0 : type == 't' ? 64 : 128;
	size_t i;

	if (!strchr("tTwW", type))
		return RANK_END;
	for (i = 0; i < size && i < 8 && name[i] == '_'; i++)
		rank += 8;
	return rank;
}

static int add_name(struct el_kallsyms *kallsyms, const char *name, size_t size, uint32_t *ret)
{
	int err = el_vec_reserve(&kallsyms->names, kallsyms->names.n + size + 1);

	if (err || kallsyms->names.n > UINT32_MAX - size - 1)
		return -ENOMEM;
	*ret = kallsyms->names.n;
	memcpy(kallsyms->names.at + kallsyms->names.n, name, size);
	kallsyms->names.n += size;
	kallsyms->names.at[kallsyms->names.n++] = 0;
	return 0;
}

static void take_line(struct el_kallsyms *kallsyms, const char *at, const char *end)
{
	struct el_kallsyms_symbol symbol = {0};
	const char *addr, *type, *name, *module;
	size_t addr_size, type_size, name_size, module_size;
	uint32_t module_name = 0;

	if (!take_word(&at, end, &addr, &addr_size) || !take_word(&at, end, &type, &type_size) ||
	    !take_word(&at, end, &name, &name_size) || type_size != 1 ||
	    !take_addr(addr, addr_size, &symbol.addr))
		return;
	if (take_word(&at, end, &module, &module_size) && module_size > 2 && module[0] == '[')
		el_strings_add_bytes(&kallsyms->modules, module + 1, module_size - 2, &module_name);
	if (name_size > strlen(PADDING) && !memcmp(name, PADDING, strlen(PADDING)))
		return;
	symbol.rank = rank_of(*type, name, name_size);
	/* Symbols of data and per-CPU offsets are not code, though some end it. */
	if (symbol.rank == RANK_END && !strchr("dDbBrR", *type))
		return;
	symbol.module = module_name <= UINT16_MAX ? module_name : 0;
	if (symbol.rank != RANK_END && add_name(kallsyms, name, name_size, &symbol.name))
		return;
	(void)el_vec_push(&kallsyms->symbols, symbol); /* one that does not fit is not found */
}

size_t el_kallsyms_parse(struct el_kallsyms *kallsyms, const char *text, size_t size)
{
	const char *at = text, *end = text + size, *newline;

	while ((newline = memchr(at, '\n', end - at))) {
		take_line(kallsyms, at, newline);
		at = newline + 1;
	}
	return at - text;
}

static int by_addr(const void *a, const void *b)
{
	const struct el_kallsyms_symbol *left = a, *right = b;

	if (left->addr != right->addr)
		return (left->addr > right->addr) - (left->addr < right->addr);
	if (left->rank != right->rank)
		return (left->rank > right->rank) - (left->rank < right->rank);
	return (left->name > right->name) - (left->name < right->name);
}

void el_kallsyms_sort(struct el_kallsyms *kallsyms)
{
	struct el_kallsyms_symbol *symbols = kallsyms->symbols.at, *fitted;
	size_t n = 0;

	if (!kallsyms->symbols.n)
		return;
	qsort(symbols, kallsyms->symbols.n, sizeof(*symbols), by_addr);
	kallsyms->hidden = !symbols[kallsyms->symbols.n - 1].addr;
	for (size_t i = 0; i < kallsyms->symbols.n; i++)
		if (!n || symbols[n - 1].addr != symbols[i].addr)
			symbols[n++] = symbols[i];
	fitted = realloc(symbols, n * sizeof(*symbols));
	kallsyms->symbols.at = fitted ? fitted : symbols;
	if (fitted)
		kallsyms->symbols.capacity = n;
	kallsyms->symbols.n = n;
}

/* All of the file, in chunks that end with a line. */
static int read_all(struct el_kallsyms *kallsyms, int fd)
{
	char *chunk = malloc(CHUNK);
	size_t kept = 0, used, total = 0;
	ssize_t n;

	if (!chunk)
		return -ENOMEM;
	while ((n = read(fd, chunk + kept, CHUNK - kept)) > 0 && total < EL_KALLSYMS_BYTES_MAX) {
		total += n;
		kept += n;
		used = el_kallsyms_parse(kallsyms, chunk, kept);
		if (!used && kept == CHUNK)
			used = kept; /* no line is that long */
		memmove(chunk, chunk + used, kept - used);
		kept -= used;
	}
	free(chunk);
	return n < 0 ? -errno : 0;
}

int el_kallsyms_read(struct el_kallsyms *kallsyms, int fd)
{
	struct el_kallsyms fresh;
	int err;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	err = el_kallsyms_init(&fresh);
	if (!err)
		err = read_all(&fresh, fd);
	if (err) {
		el_kallsyms_deinit(&fresh);
		return err;
	}
	el_kallsyms_sort(&fresh);
	el_kallsyms_deinit(kallsyms);
	*kallsyms = fresh;
	return 0;
}

bool el_kallsyms_find(const struct el_kallsyms *kallsyms, uint64_t addr,
		      struct el_kallsyms_answer *ret)
{
	size_t low = el_partition(kallsyms->symbols.n, i, kallsyms->symbols.at[i].addr <= addr);
	const struct el_kallsyms_symbol *symbol;

	if (!low || kallsyms->hidden)
		return false;
	symbol = &kallsyms->symbols.at[low - 1];
	if (symbol->rank == RANK_END || addr - symbol->addr >= EL_KALLSYMS_FUNCTION_MAX)
		return false;
	*ret = (struct el_kallsyms_answer){
		.name = kallsyms->names.at + symbol->name,
		.module = el_strings_get(&kallsyms->modules, symbol->module),
		.start = symbol->addr,
	};
	return true;
}
