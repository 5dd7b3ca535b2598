/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See gdbjit_list.h. A link back that is wrong ends the walk: in a list at
 * rest every loop has one. Entries lie close together in the process's heap,
 * so memory is read by pages, and each page once per walk.
 */
#include "symbolizer/gdbjit_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"

#define PAGE 4096u
#define PAGES 64u /* a power of two */
#define ENTRY_SIZE 32u
#define TRIES 3
#define ENTRIES_PER_LOOK_AT_CLOCK 64

struct page {
	uint64_t addr; /* | 1: in use; pages are aligned */
	size_t size;   /* readable bytes */
	uint8_t bytes[PAGE];
};

struct walk {
	const struct el_gdbjit_memory *memory;
	uint64_t deadline_ns;
	struct page *pages;
};

static int read_exactly(const struct el_gdbjit_memory *memory, uint64_t addr, void *bytes,
			size_t size)
{
	ssize_t n = memory->read(memory->context, addr, bytes, size);

	if (n < 0)
		return n;
	return (size_t)n == size ? 0 : -EFAULT;
}

static int read_by_page(struct walk *walk, uint64_t addr, void *bytes, size_t size)
{
	uint64_t first = addr & ~(uint64_t)(PAGE - 1);
	struct page *page = &walk->pages[first / PAGE % PAGES];
	size_t off = addr - first;
	ssize_t n;

	if (off + size > PAGE)
		return read_exactly(walk->memory, addr, bytes, size);
	if (page->addr != (first | 1)) {
		page->addr = 0;
		n = walk->memory->read(walk->memory->context, first, page->bytes, PAGE);
		if (n < 0)
			return n;
		page->size = n;
		page->addr = first | 1;
	}
	if (off + size > page->size)
		return -EFAULT;
	memcpy(bytes, page->bytes + off, size);
	return 0;
}

static uint64_t first_entry(const uint8_t *descriptor)
{
	uint64_t first;

	memcpy(&first, descriptor + 16, sizeof(first));
	return first;
}

static int read_descriptor(const struct el_gdbjit_memory *memory, uint64_t addr, uint8_t *ret)
{
	uint32_t version;
	int err = read_exactly(memory, addr, ret, EL_GDBJIT_DESCRIPTOR_SIZE);

	if (err)
		return err;
	memcpy(&version, ret, sizeof(version));
	return version == 1 ? 0 : -EINVAL;
}

static struct el_gdbjit_entry decode_entry(uint64_t addr, const uint8_t *bytes)
{
	struct el_cursor cursor = el_cursor_of(bytes, ENTRY_SIZE);
	struct el_gdbjit_entry entry = {.addr = addr};

	entry.next = el_cursor_u64(&cursor);
	entry.previous = el_cursor_u64(&cursor);
	entry.symfile_addr = el_cursor_u64(&cursor);
	entry.symfile_size = el_cursor_u64(&cursor);
	return entry;
}

/* Sets list->complete when the end was reached by consistent links. */
static int follow(struct walk *walk, struct el_gdbjit_list *list)
{
	uint64_t addr = first_entry(list->descriptor), previous = 0;
	struct el_gdbjit_entry entry;
	uint8_t bytes[ENTRY_SIZE];

	list->complete = false;
	list->entries.n = 0;
	while (addr) {
		if (list->entries.n >= EL_GDBJIT_ENTRIES_MAX)
			return 0;
		if (list->entries.n % ENTRIES_PER_LOOK_AT_CLOCK == 0 &&
		    walk->memory->now(walk->memory->context) > walk->deadline_ns)
			return 0;
		if (read_by_page(walk, addr, bytes, sizeof(bytes)))
			return 0;
		entry = decode_entry(addr, bytes);
		if (entry.previous != previous || entry.next == addr)
			return 0;
		if (el_vec_push(&list->entries, entry))
			return -ENOMEM;
		previous = addr;
		addr = entry.next;
	}
	list->complete = true;
	return 0;
}

int el_gdbjit_list_read(struct el_gdbjit_list *list, const struct el_gdbjit_memory *memory,
			uint64_t descriptor, uint64_t deadline_ns)
{
	struct walk walk = {.memory = memory, .deadline_ns = deadline_ns};
	uint8_t after[EL_GDBJIT_DESCRIPTOR_SIZE];
	int err = 0;

	walk.pages = malloc(PAGES * sizeof(*walk.pages));
	if (!walk.pages)
		return -ENOMEM;
	for (int try = 0; try < TRIES && !err; try++) {
		for (size_t i = 0; i < PAGES; i++)
			walk.pages[i].addr = 0;
		err = read_descriptor(memory, descriptor, list->descriptor);
		if (!err)
			err = follow(&walk, list);
		if (!err)
			err = read_descriptor(memory, descriptor, after);
		if (!err && list->complete && !memcmp(after, list->descriptor, sizeof(after)))
			break;
		list->complete = false;
		/* The same descriptor and a broken list: it will not get better. */
		if (!err && !memcmp(after, list->descriptor, sizeof(after)) && try > 0)
			break;
	}
	free(walk.pages);
	return err;
}

bool el_gdbjit_list_unchanged(const struct el_gdbjit_list *list,
			      const struct el_gdbjit_memory *memory, uint64_t descriptor)
{
	uint8_t now[EL_GDBJIT_DESCRIPTOR_SIZE], bytes[ENTRY_SIZE];
	struct el_gdbjit_entry entry;

	if (!list->complete || read_exactly(memory, descriptor, now, sizeof(now)) ||
	    memcmp(now, list->descriptor, sizeof(now)))
		return false;
	if (!list->entries.n)
		return true;
	if (read_exactly(memory, list->entries.at[0].addr, bytes, sizeof(bytes)))
		return false;
	entry = decode_entry(list->entries.at[0].addr, bytes);
	return !memcmp(&entry, &list->entries.at[0], sizeof(entry));
}

void el_gdbjit_list_deinit(struct el_gdbjit_list *list)
{
	el_vec_deinit(&list->entries);
	*list = (struct el_gdbjit_list){0};
}
