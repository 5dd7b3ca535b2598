/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The separate debug file of an object, asked of the source by build ID and
 * then by .gnu_debuglink (GDB manual, "Separate Debug Files"). One found by
 * build ID must carry that ID, one found by link must have its checksum.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "symbolizer/object_part.h"

#define CHUNK (256u << 10)

static bool has_crc(struct el_bytes *bytes, uint32_t wanted)
{
	uint8_t *chunk = malloc(CHUNK);
	uint64_t off = 0;
	uint32_t crc = 0;

	while (chunk && off < bytes->size) {
		size_t n = bytes->size - off < CHUNK ? bytes->size - off : CHUNK;

		if (el_bytes_read(bytes, off, chunk, n))
			break;
		crc = crc32(crc, chunk, n);
		off += n;
	}
	free(chunk);
	return chunk && off == bytes->size && crc == wanted;
}

static bool has_build_id(const struct el_object *object, const struct el_elf *debug)
{
	return object->build_id_size && object->build_id_size == debug->build_id_size &&
	       !memcmp(object->build_id, debug->build_id, debug->build_id_size);
}

/* Asks for one debug file and keeps it if it is the right one. */
static bool try_debug(struct el_object *object, const struct el_debug_request *request,
		      uint32_t crc)
{
	const struct el_source *source = &object->objects->context->source;
	struct el_elf *debug = &object->debug;
	bool right;
	int fd;

	fd = source->open_debug ? source->open_debug(source->context, &object->image, request) : -1;
	if (fd < 0)
		return false;
	if (el_bytes_init_fd(&debug->bytes, fd) || el_elf_read(debug)) {
		el_elf_deinit(debug);
		return false;
	}
	right = has_build_id(object, debug);
	if (!right && request->debuglink && (!object->build_id_size || !debug->build_id_size))
		right = has_crc(&debug->bytes, crc);
	if (!right)
		el_elf_deinit(debug);
	return right;
}

void el_object_find_debug(struct el_object *object)
{
	struct el_debug_request request = {.path = object->path ? object->path : ""};
	char link[256];
	uint32_t crc = 0;

	if (object->debug_tried || !object->is_file)
		return;
	object->debug_tried = true;
	if (object->build_id_size) {
		request.build_id = object->build_id;
		request.build_id_size = object->build_id_size;
		object->has_debug = try_debug(object, &request, 0);
	}
	if (object->has_debug || el_elf_debuglink(&object->elf, link, sizeof(link), &crc))
		return;
	request.build_id = NULL;
	request.build_id_size = 0;
	request.debuglink = link;
	object->has_debug = try_debug(object, &request, crc);
}
