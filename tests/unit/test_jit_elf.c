/* SPDX-License-Identifier: Apache-2.0 */
/* Relocation of registered images: what is applied, what is left alone, and damaged input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbolizer/jit_elf.h"
#include "tests/unit/elf_writer.h"

#define TEXT_ADDR 0x7f0000001000ull
#define SYMBOL_VALUE 0x40

struct fixture {
	uint8_t *bytes;
	size_t size;
	size_t debug, loaded; /* sections */
};

/* The table may lie at any address, so sections are copied in and out. */
static uint8_t *section_place(const struct fixture *fixture, size_t n)
{
	Elf64_Ehdr header;

	memcpy(&header, fixture->bytes, sizeof(header));
	return fixture->bytes + header.e_shoff + n * sizeof(Elf64_Shdr);
}

static Elf64_Shdr section(const struct fixture *fixture, size_t n)
{
	Elf64_Shdr ret;

	memcpy(&ret, section_place(fixture, n), sizeof(ret));
	return ret;
}

static size_t section_of_type(const struct fixture *fixture, uint32_t type)
{
	size_t i = 1;

	while (section(fixture, i).sh_type != type)
		i++;
	return i;
}

static void add_relocation(struct elf_writer *writer, size_t n, uint64_t off, uint32_t type,
			   int64_t addend)
{
	Elf64_Rela relocation = {
		.r_offset = off, .r_info = ELF64_R_INFO(1, type), .r_addend = addend};

	el_buffer_add(elf_writer_bytes(writer, n), &relocation, sizeof(relocation));
}

/* A function in .ltext, 32 bytes of .debug_info and of a loaded section, relocations for both. */
static void make(struct fixture *fixture, const char *function, uint16_t type)
{
	static const uint8_t zeros[128];
	struct elf_writer writer;
	size_t text, for_debug, for_loaded;

	elf_writer_init(&writer, type);
	text = elf_writer_section(&writer, ".ltext", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR,
				  TEXT_ADDR);
	fixture->debug = elf_writer_section(&writer, ".debug_info", SHT_PROGBITS, 0, 0);
	fixture->loaded = elf_writer_section(&writer, ".eh_frame", SHT_PROGBITS, SHF_ALLOC,
					     TEXT_ADDR + 0x1000);
	for_debug = elf_writer_section(&writer, ".rela.debug_info", SHT_RELA, 0, 0);
	for_loaded = elf_writer_section(&writer, ".rela.eh_frame", SHT_RELA, 0, 0);
	el_buffer_add(elf_writer_bytes(&writer, text), zeros, 128);
	el_buffer_add(elf_writer_bytes(&writer, fixture->debug), zeros, 32);
	el_buffer_add(elf_writer_bytes(&writer, fixture->loaded), zeros, 32);
	elf_writer_symbol(&writer, function, text, SYMBOL_VALUE, 16,
			  ELF64_ST_INFO(STB_GLOBAL, STT_FUNC));
	add_relocation(&writer, for_debug, 8, R_X86_64_64, 5);
	add_relocation(&writer, for_debug, 16, R_X86_64_32, 1);
	add_relocation(&writer, for_debug, 20, R_X86_64_PC32, 0); /* not absolute */
	add_relocation(&writer, for_debug, 25, R_X86_64_64, 0);   /* beyond the section */
	add_relocation(&writer, for_debug, ~0ull - 3, R_X86_64_64, 0);
	add_relocation(&writer, for_loaded, 0, R_X86_64_64, 0);
	fixture->bytes = elf_writer_finish(&writer, &fixture->size);
	elf_writer_deinit(&writer);
	for (size_t i = 0; i < 2; i++) {
		size_t n = i ? for_loaded : for_debug;
		Elf64_Shdr header = section(fixture, n);

		header.sh_info = i ? fixture->loaded : fixture->debug;
		header.sh_link = section_of_type(fixture, SHT_SYMTAB);
		memcpy(section_place(fixture, n), &header, sizeof(header));
	}
}

static const uint8_t *content(const struct fixture *fixture, size_t n)
{
	return fixture->bytes + section(fixture, n).sh_offset;
}

static uint64_t word(const uint8_t *at, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, at, size);
	return value;
}

static void debug_sections_are_relocated_by_run_time_addresses(void **state)
{
	struct fixture fixture;
	struct el_jit_elf elf;

	(void)state;
	make(&fixture, "_ZN8__main__1fB2v1Ex", ET_REL);
	assert_int_equal(el_jit_elf_prepare(fixture.bytes, fixture.size, &elf), 0);
	assert_int_equal(elf.n_relocated, 2);
	assert_true(elf.is_numba);
	assert_int_equal(word(content(&fixture, fixture.debug) + 8, 8),
			 TEXT_ADDR + SYMBOL_VALUE + 5);
	assert_int_equal(word(content(&fixture, fixture.debug) + 16, 4),
			 (uint32_t)(TEXT_ADDR + SYMBOL_VALUE + 1));
	assert_int_equal(word(content(&fixture, fixture.debug) + 20, 8), 0);
	free(fixture.bytes);
}

static void loaded_sections_are_left_to_the_loader(void **state)
{
	struct fixture fixture;
	struct el_jit_elf elf;

	(void)state;
	make(&fixture, "f", ET_REL);
	assert_int_equal(el_jit_elf_prepare(fixture.bytes, fixture.size, &elf), 0);
	assert_int_equal(word(content(&fixture, fixture.loaded), 8), 0);
	assert_false(elf.is_numba);
	free(fixture.bytes);
}

static void second_pass_changes_nothing(void **state)
{
	struct fixture fixture;
	struct el_jit_elf elf;

	(void)state;
	make(&fixture, "f", ET_REL);
	assert_int_equal(el_jit_elf_prepare(fixture.bytes, fixture.size, &elf), 0);
	assert_int_equal(el_jit_elf_prepare(fixture.bytes, fixture.size, &elf), 0);
	assert_int_equal(elf.n_relocated, 0);
	free(fixture.bytes);
}

static void linked_images_are_not_relocated(void **state)
{
	struct fixture fixture;
	struct el_jit_elf elf;

	(void)state;
	make(&fixture, "f", ET_DYN);
	assert_int_equal(el_jit_elf_prepare(fixture.bytes, fixture.size, &elf), 0);
	assert_int_equal(elf.n_relocated, 0);
	free(fixture.bytes);
}

static void what_is_no_image_is_refused(void **state)
{
	char beam[128] = {1}, small[] = "\177ELF\2\1\1";
	struct el_jit_elf elf;

	(void)state;
	assert_int_equal(el_jit_elf_prepare(beam, sizeof(beam), &elf), -ENOEXEC);
	assert_int_equal(el_jit_elf_prepare(small, sizeof(small), &elf), -ENOEXEC);
	assert_int_equal(el_jit_elf_prepare(NULL, 0, &elf), -ENOEXEC);
}

/* Exactly sized, so that a sanitizer sees an access past the end. */
static void damaged_images_do_no_harm(void **state)
{
	struct fixture fixture;
	struct el_jit_elf elf;
	uint8_t *damaged;
	int n = 0;

	(void)state;
	make(&fixture, "_ZN8__main__1fB2v1Ex", ET_REL);
	srand(4);
	for (int round = 0; round < 30000; round++) {
		size_t size = round % 4 ? fixture.size : (size_t)rand() % fixture.size;

		damaged = malloc(size ? size : 1);
		memcpy(damaged, fixture.bytes, size);
		for (int i = 0; i < 4 && size; i++) {
			/* The tables are at the ends. */
			size_t at = rand() % 2 ? rand() % size
					       : size - 1 - rand() % (size < 700 ? size : 700);

			damaged[at] = rand() % 3 ? rand() : 0xff;
		}
		n += !el_jit_elf_prepare(damaged, size, &elf);
		free(damaged);
	}
	assert_true(n > 0);
	free(fixture.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(debug_sections_are_relocated_by_run_time_addresses),
		cmocka_unit_test(loaded_sections_are_left_to_the_loader),
		cmocka_unit_test(second_pass_changes_nothing),
		cmocka_unit_test(linked_images_are_not_relocated),
		cmocka_unit_test(what_is_no_image_is_refused),
		cmocka_unit_test(damaged_images_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
