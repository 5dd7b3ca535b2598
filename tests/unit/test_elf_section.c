/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed sections: the bytes that went in, and no memory for what claims too much. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "symbolizer/elf.h"
#include "tests/unit/elf_writer.h"

#define ZLIB 1
#define ZSTD 2

struct fixture {
	struct elf_writer writer;
	struct el_elf elf;
	void *file;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	elf_writer_init(&fixture->writer, ET_DYN);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	el_elf_deinit(&fixture->elf);
	elf_writer_deinit(&fixture->writer);
	free(fixture);
	return 0;
}

static size_t compress_into(uint32_t kind, const void *bytes, size_t size, void *ret, size_t room)
{
	uLongf n = room;

	if (kind == ZSTD)
		return ZSTD_compress(ret, room, bytes, size, 3);
	assert_int_equal(compress(ret, &n, bytes, size), Z_OK);
	return n;
}

/* .debug_str holds `bytes`, compressed; asks for it. */
static int load(struct fixture *fixture, uint32_t kind, const void *bytes, size_t size,
		struct el_piece *ret)
{
	size_t room = size + size / 8 + 1000, section, n;
	void *packed = malloc(room);
	struct el_buffer *content;

	section =
		elf_writer_section(&fixture->writer, ".debug_str", SHT_PROGBITS, SHF_COMPRESSED, 0);
	content = elf_writer_bytes(&fixture->writer, section);
	n = compress_into(kind, bytes, size, packed, room);
	el_buffer_add_u32(content, kind);
	el_buffer_add_u32(content, 0);
	el_buffer_add_u64(content, size);
	el_buffer_add_u64(content, 1);
	el_buffer_add(content, packed, n);
	free(packed);
	fixture->file = elf_writer_finish(&fixture->writer, &n);
	el_bytes_init_memory(&fixture->elf.bytes, fixture->file, n);
	assert_int_equal(el_elf_read(&fixture->elf), 0);
	return el_elf_load_debug(&fixture->elf, "str", ret);
}

static void expands(void **state, uint32_t kind)
{
	size_t size = 300000;
	uint8_t *bytes = malloc(size);
	struct el_piece piece = {0};

	for (size_t i = 0; i < size; i++)
		bytes[i] = i * i >> 7;
	assert_int_equal(load(*state, kind, bytes, size, &piece), 0);
	assert_int_equal(piece.size, size);
	assert_memory_equal(el_piece_range(&piece, 0, size), bytes, size);
	el_piece_deinit(&piece);
	free(bytes);
}

static void zlib_section_is_expanded(void **state)
{
	expands(state, ZLIB);
}

static void zstd_section_is_expanded(void **state)
{
	expands(state, ZSTD);
}

static void refuses(void **state, uint32_t kind)
{
	size_t size = 20u << 20;
	uint8_t *zeros = calloc(1, size);
	struct el_piece piece = {0};

	assert_int_equal(load(*state, kind, zeros, size, &piece), -EFBIG);
	free(zeros);
}

static void zlib_bomb_is_refused(void **state)
{
	refuses(state, ZLIB);
}

static void zstd_bomb_is_refused(void **state)
{
	refuses(state, ZSTD);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(zlib_section_is_expanded),
		T(zstd_section_is_expanded),
		T(zlib_bomb_is_refused),
		T(zstd_bomb_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
