/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See sideband.h. Names inside records are NUL-terminated and padded to eight
 * bytes; the kernel's fallbacks for a mapping's name ("//anon", "//toolong",
 * "[heap]") are those of perf_event_mmap_event() in kernel/events/core.c.
 */
#include "user/sampling/sideband.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cursor.h"

static void parse_file_identity(struct el_cursor *cursor, bool build_id, struct el_mapping *mapping)
{
	const uint8_t *id;
	uint8_t size;

	if (!build_id) {
		mapping->dev_major = el_cursor_u32(cursor);
		mapping->dev_minor = el_cursor_u32(cursor);
		mapping->inode = el_cursor_u64(cursor);
		el_cursor_u64(cursor); /* inode generation */
		return;
	}
	size = el_cursor_u8(cursor);
	el_cursor_bytes(cursor, 3);
	id = el_cursor_bytes(cursor, EL_BUILD_ID_MAX);
	if (!id)
		return;
	mapping->build_id_size = size <= EL_BUILD_ID_MAX ? size : 0;
	memcpy(mapping->build_id, id, mapping->build_id_size);
}

static uint32_t mapping_flags(const char *path)
{
	if (!strcmp(path, "[vdso]"))
		return EL_MAPPING_VDSO;
	if (!strncmp(path, "//", 2) || path[0] == '[' || !path[0])
		return EL_MAPPING_ANONYMOUS;
	return EL_MAPPING_FILE;
}

static void parse_mmap2(struct el_cursor *cursor, uint16_t misc, struct el_sideband *event)
{
	struct el_mapping *mapping = &event->mapping;
	uint64_t size;
	uint32_t prot;

	event->pid = el_cursor_u32(cursor);
	event->tid = el_cursor_u32(cursor);
	mapping->start = el_cursor_u64(cursor);
	size = el_cursor_u64(cursor);
	mapping->offset = el_cursor_u64(cursor);
	parse_file_identity(cursor, misc & PERF_RECORD_MISC_MMAP_BUILD_ID, mapping);
	prot = el_cursor_u32(cursor);
	el_cursor_u32(cursor); /* flags */
	mapping->path = el_cursor_string(cursor);
	if (cursor->failed || size > UINT64_MAX - mapping->start)
		return el_cursor_fail(cursor);
	mapping->end = mapping->start + size;
	mapping->flags = mapping_flags(mapping->path);
	if (mapping->flags == EL_MAPPING_ANONYMOUS)
		mapping->path = "";
	if ((prot & PROT_EXEC) && !(misc & PERF_RECORD_MISC_MMAP_DATA) && size)
		event->type = EL_SIDEBAND_MMAP;
}

static void parse_task(struct el_cursor *cursor, enum el_sideband_type type,
		       struct el_sideband *event)
{
	event->type = type;
	event->pid = el_cursor_u32(cursor);
	event->parent_pid = el_cursor_u32(cursor);
	event->tid = el_cursor_u32(cursor);
	el_cursor_u32(cursor); /* the parent's thread */
	el_cursor_u64(cursor); /* a time of the kernel's own clock */
}

static void parse_body(struct el_cursor *cursor, const struct perf_event_header *header,
		       struct el_sideband *event)
{
	switch (header->type) {
	case PERF_RECORD_MMAP2:
		parse_mmap2(cursor, header->misc, event);
		break;
	case PERF_RECORD_COMM:
		event->type = header->misc & PERF_RECORD_MISC_COMM_EXEC ? EL_SIDEBAND_EXEC
									: EL_SIDEBAND_COMM;
		event->pid = el_cursor_u32(cursor);
		event->tid = el_cursor_u32(cursor);
		event->text = el_cursor_string(cursor);
		break;
	case PERF_RECORD_FORK:
		parse_task(cursor, EL_SIDEBAND_FORK, event);
		break;
	case PERF_RECORD_EXIT:
		parse_task(cursor, EL_SIDEBAND_EXIT, event);
		break;
	case PERF_RECORD_LOST:
		event->type = EL_SIDEBAND_LOST;
		el_cursor_u64(cursor); /* id of the event */
		event->n = el_cursor_u64(cursor);
		break;
	case PERF_RECORD_CGROUP:
		event->type = EL_SIDEBAND_CGROUP;
		event->n = el_cursor_u64(cursor);
		event->text = el_cursor_string(cursor);
		break;
	}
}

int el_sideband_parse(const void *bytes, size_t size, struct el_sideband *ret)
{
	struct el_sideband event = {.type = EL_SIDEBAND_OTHER};
	struct perf_event_header header;
	struct el_cursor body;

	if (size < sizeof(header) + sizeof(event.time_ns))
		return -EBADMSG;
	memcpy(&header, bytes, sizeof(header));
	if (header.size != size)
		return -EBADMSG;
	memcpy(&event.time_ns, (const char *)bytes + size - sizeof(event.time_ns),
	       sizeof(event.time_ns));
	body = el_cursor_of((const char *)bytes + sizeof(header),
			    size - sizeof(header) - sizeof(event.time_ns));
	parse_body(&body, &header, &event);
	if (body.failed)
		return -EBADMSG;
	*ret = event;
	return 0;
}
