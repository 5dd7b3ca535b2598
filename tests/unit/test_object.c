/* SPDX-License-Identifier: Apache-2.0 */
/* One ELF object: symbols, bounds, DWARF by hand, and files that are cut or damaged. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <dwarf.h>

#include "symbolizer/object.h"
#include "tests/unit/elf_writer.h"

#define TEXT 0x1000u
#define TEXT_SIZE 0x400u
#define FUNC ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)

struct fixture {
	struct el_resolver_context context;
	struct elf_writer writer;
	size_t text;
	struct el_object *object;
	struct el_found found;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	uint8_t nops[TEXT_SIZE];

	memset(nops, 0x90, sizeof(nops));
	assert_int_equal(el_objects_new(&fixture->context, &fixture->context.objects), 0);
	elf_writer_init(&fixture->writer, ET_DYN);
	fixture->text = elf_writer_section(&fixture->writer, ".text", SHT_PROGBITS,
					   SHF_ALLOC | SHF_EXECINSTR, TEXT);
	el_buffer_add(elf_writer_bytes(&fixture->writer, fixture->text), nops, sizeof(nops));
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	el_object_put(fixture->object);
	el_objects_free(fixture->context.objects);
	elf_writer_deinit(&fixture->writer);
	el_vec_deinit(&fixture->found.frames);
	free(fixture);
	return 0;
}

static void make(struct fixture *fixture)
{
	size_t size;
	void *bytes = elf_writer_finish(&fixture->writer, &size);

	assert_int_equal(el_object_from_memory(fixture->context.objects, bytes, size, "test",
					       &fixture->object),
			 0);
}

static const struct el_found *look_up(struct fixture *fixture, uint64_t addr)
{
	el_found_reset(&fixture->found);
	assert_int_equal(el_object_lookup(fixture->object, addr, EL_PC_EXACT, &fixture->found), 0);
	return &fixture->found;
}

static const char *name_of(const struct el_found_frame *frame)
{
	return frame->name ? frame->name : frame->system_name;
}

/* .eh_frame with one CIE and FDEs of absolute pointers. */
static void add_eh_frame(struct fixture *fixture, const uint64_t (*fdes)[2], size_t n)
{
	static const uint8_t cie[] = {12, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0, 0, 0};
	size_t section =
		elf_writer_section(&fixture->writer, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, 0x8000);
	struct el_buffer *bytes = elf_writer_bytes(&fixture->writer, section);
	size_t i;

	el_buffer_add(bytes, cie, sizeof(cie));
	for (i = 0; i < n; i++) {
		el_buffer_add_u32(bytes, 20);
		el_buffer_add_u32(bytes, bytes->bytes.n);
		el_buffer_add_u64(bytes, fdes[i][0]);
		el_buffer_add_u64(bytes, fdes[i][1] - fdes[i][0]);
	}
	el_buffer_add_u32(bytes, 0);
}

static void sized_symbol_covers_its_size_only(void **state)
{
	struct fixture *fixture = *state;

	elf_writer_symbol(&fixture->writer, "f", fixture->text, TEXT, 0x10, FUNC);
	make(fixture);
	assert_string_equal(name_of(&look_up(fixture, TEXT + 0xf)->frames.at[0]), "f");
	assert_int_equal(fixture->found.miss, EL_MISS_NO_LINE);
	assert_int_equal(look_up(fixture, TEXT + 0x10)->frames.n, 0);
	assert_int_equal(fixture->found.miss, EL_MISS_NO_FUNCTION);
}

static void unsized_symbol_ends_at_the_next_symbol(void **state)
{
	struct fixture *fixture = *state;

	elf_writer_symbol(&fixture->writer, "label", fixture->text, TEXT, 0, FUNC);
	elf_writer_symbol(&fixture->writer, "next", fixture->text, TEXT + 0x20, 8, FUNC);
	make(fixture);
	assert_string_equal(name_of(&look_up(fixture, TEXT + 0x1f)->frames.at[0]), "label");
	assert_string_equal(name_of(&look_up(fixture, TEXT + 0x20)->frames.at[0]), "next");
	assert_int_equal(look_up(fixture, TEXT + 0x28)->frames.n, 0);
}

static void unsized_symbol_never_crosses_a_later_fde(void **state)
{
	static const uint64_t fdes[][2] = {{TEXT + 0x40, TEXT + 0x80}};
	struct fixture *fixture = *state;

	elf_writer_symbol(&fixture->writer, "label", fixture->text, TEXT, 0, FUNC);
	add_eh_frame(fixture, fdes, 1);
	make(fixture);
	assert_string_equal(name_of(&look_up(fixture, TEXT + 0x3f)->frames.at[0]), "label");
	assert_string_equal(name_of(&look_up(fixture, TEXT + 0x41)->frames.at[0]), "fn+0x1040");
	assert_int_equal(look_up(fixture, TEXT + 0x90)->frames.n, 0);
}

static void no_symbols_one_name_per_fde(void **state)
{
	static const uint64_t fdes[][2] = {{TEXT, TEXT + 0x40}, {TEXT + 0x40, TEXT + 0x80}};
	struct fixture *fixture = *state;

	fixture->writer.entry = TEXT + 0x40;
	add_eh_frame(fixture, fdes, 2);
	make(fixture);
	assert_string_equal(name_of(&look_up(fixture, TEXT + 1)->frames.at[0]), "fn+0x1000");
	assert_string_equal(name_of(&look_up(fixture, TEXT + 0x3f)->frames.at[0]), "fn+0x1000");
	assert_int_equal(fixture->found.miss, EL_MISS_NO_SYMBOL);
	assert_string_equal(name_of(&look_up(fixture, TEXT + 0x50)->frames.at[0]), "_start");
}

static void relocatable_symbol_is_relative_to_its_section(void **state)
{
	struct fixture *fixture = *state;

	fixture->writer.type = ET_REL;
	elf_writer_symbol(&fixture->writer, "_ZN3foo3barEv", fixture->text, 0x10, 0x10, FUNC);
	make(fixture);
	assert_string_equal(name_of(&look_up(fixture, TEXT + 0x18)->frames.at[0]), "foo::bar()");
	assert_string_equal(fixture->found.frames.at[0].system_name, "_ZN3foo3barEv");
}

/* --- DWARF 4 by hand: outer() with inner() inlined at [0x10, 0x20) ------------ */
static void add_abbrev(struct el_buffer *bytes, uint8_t code, uint8_t tag, bool has_children,
		       const uint8_t (*attrs)[2], size_t n)
{
	size_t i;

	el_buffer_add_u8(bytes, code);
	el_buffer_add_u8(bytes, tag);
	el_buffer_add_u8(bytes, has_children);
	for (i = 0; i < n; i++)
		el_buffer_add(bytes, attrs[i], 2);
	el_buffer_add(bytes, "\0", 2);
}

static void add_abbrevs(struct fixture *fixture)
{
	static const uint8_t unit[][2] = {{DW_AT_low_pc, DW_FORM_addr},
					  {DW_AT_high_pc, DW_FORM_data4},
					  {DW_AT_stmt_list, DW_FORM_sec_offset},
					  {DW_AT_comp_dir, DW_FORM_string}};
	static const uint8_t abstract[][2] = {{DW_AT_name, DW_FORM_string},
					      {DW_AT_decl_file, DW_FORM_data1},
					      {DW_AT_decl_line, DW_FORM_data1}};
	static const uint8_t concrete[][2] = {{DW_AT_name, DW_FORM_string},
					      {DW_AT_low_pc, DW_FORM_addr},
					      {DW_AT_high_pc, DW_FORM_data4},
					      {DW_AT_decl_file, DW_FORM_data1},
					      {DW_AT_decl_line, DW_FORM_data1}};
	static const uint8_t inlined[][2] = {{DW_AT_abstract_origin, DW_FORM_ref4},
					     {DW_AT_low_pc, DW_FORM_addr},
					     {DW_AT_high_pc, DW_FORM_data4},
					     {DW_AT_call_file, DW_FORM_data1},
					     {DW_AT_call_line, DW_FORM_data1}};
	static const uint8_t cyclic[][2] = {{DW_AT_abstract_origin, DW_FORM_ref4}};
	static const uint8_t scattered[][2] = {{DW_AT_ranges, DW_FORM_sec_offset}};
	size_t section = elf_writer_section(&fixture->writer, ".debug_abbrev", SHT_PROGBITS, 0, 0);
	struct el_buffer *bytes = elf_writer_bytes(&fixture->writer, section);

	add_abbrev(bytes, 1, DW_TAG_compile_unit, true, unit, 4);
	add_abbrev(bytes, 2, DW_TAG_subprogram, false, abstract, 3);
	add_abbrev(bytes, 3, DW_TAG_subprogram, true, concrete, 5);
	add_abbrev(bytes, 4, DW_TAG_inlined_subroutine, false, inlined, 5);
	add_abbrev(bytes, 5, DW_TAG_subprogram, false, cyclic, 1);
	add_abbrev(bytes, 6, DW_TAG_compile_unit, false, scattered, 1);
	el_buffer_add_u8(bytes, 0);
}

static void set_u32(struct el_buffer *bytes, size_t at, uint32_t value)
{
	memcpy(bytes->bytes.at + at, &value, sizeof(value));
}

static void add_info(struct fixture *fixture, bool cyclic)
{
	size_t section = elf_writer_section(&fixture->writer, ".debug_info", SHT_PROGBITS, 0, 0);
	struct el_buffer *bytes = elf_writer_bytes(&fixture->writer, section);
	uint32_t abstract;

	el_buffer_add_u32(bytes, 0);
	el_buffer_add(bytes, "\4\0\0\0\0\0\10", 7); /* version 4, table 0, 8-byte addresses */
	el_buffer_add_u8(bytes, 1);
	el_buffer_add_u64(bytes, TEXT);
	el_buffer_add_u32(bytes, 0x100);
	el_buffer_add_u32(bytes, 0);
	el_buffer_add(bytes, "/src", 5);
	abstract = bytes->bytes.n;
	if (cyclic) {
		el_buffer_add_u8(bytes, 5);
		el_buffer_add_u32(bytes, abstract);
	} else {
		el_buffer_add_u8(bytes, 2);
		el_buffer_add(bytes, "inner\0\1\5", 8);
	}
	el_buffer_add_u8(bytes, 3);
	el_buffer_add(bytes, "outer", 6);
	el_buffer_add_u64(bytes, TEXT);
	el_buffer_add_u32(bytes, 0x40);
	el_buffer_add(bytes, "\1\12", 2);
	el_buffer_add_u8(bytes, 4);
	el_buffer_add_u32(bytes, abstract);
	el_buffer_add_u64(bytes, TEXT + 0x10);
	el_buffer_add_u32(bytes, 0x10);
	el_buffer_add(bytes, "\1\14", 2);
	el_buffer_add(bytes, "\0", 2);
	set_u32(bytes, 0, bytes->bytes.n - 4);
}

static void add_row(struct el_buffer *bytes, uint16_t advance, int8_t lines)
{
	el_buffer_add_u8(bytes, DW_LNS_fixed_advance_pc);
	el_buffer_add(bytes, &advance, 2);
	el_buffer_add_u8(bytes, DW_LNS_advance_line);
	el_buffer_add_u8(bytes, lines & 0x7f);
	el_buffer_add_u8(bytes, DW_LNS_copy);
}

/* Rows: 0x1000 line 11, 0x1010 line 6, 0x1020 line 0, 0x1030 line 13, end 0x1040. */
static void add_lines(struct fixture *fixture, uint8_t min_inst, uint8_t line_range)
{
	size_t section = elf_writer_section(&fixture->writer, ".debug_line", SHT_PROGBITS, 0, 0);
	struct el_buffer *bytes = elf_writer_bytes(&fixture->writer, section);
	static const uint8_t lengths[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
	size_t header;

	el_buffer_add_u32(bytes, 0);
	el_buffer_add(bytes, "\4\0", 2);
	header = bytes->bytes.n;
	el_buffer_add_u32(bytes, 0);
	el_buffer_add_u8(bytes, min_inst);
	el_buffer_add(bytes, "\1\1\xfb", 3);
	el_buffer_add_u8(bytes, line_range);
	el_buffer_add_u8(bytes, 13);
	el_buffer_add(bytes, lengths, sizeof(lengths));
	el_buffer_add(bytes, "sub\0\0a.c\0\1\0\0\0", 13);
	set_u32(bytes, header, bytes->bytes.n - header - 4);
	el_buffer_add(bytes, "\0\11\2", 3);
	el_buffer_add_u64(bytes, TEXT);
	add_row(bytes, 0, 10);
	add_row(bytes, 0x10, -5);
	add_row(bytes, 0x10, -6);
	add_row(bytes, 0x10, 13);
	el_buffer_add(bytes, "\11\20\0\0\1\1", 6);
	set_u32(bytes, 0, bytes->bytes.n - 4);
}

static void make_dwarf(struct fixture *fixture, bool cyclic)
{
	add_abbrevs(fixture);
	add_info(fixture, cyclic);
	add_lines(fixture, 1, 14);
	make(fixture);
}

static void inlined_address_innermost_first_with_call_line(void **state)
{
	const struct el_found *found;

	make_dwarf(*state, false);
	found = look_up(*state, TEXT + 0x14);
	assert_int_equal(found->frames.n, 2);
	assert_string_equal(name_of(&found->frames.at[0]), "inner");
	assert_string_equal(found->frames.at[0].file, "/src/sub/a.c");
	assert_int_equal(found->frames.at[0].line, 6);
	assert_int_equal(found->frames.at[0].start_line, 5);
	assert_string_equal(name_of(&found->frames.at[1]), "outer");
	assert_int_equal(found->frames.at[1].line, 12);
	assert_int_equal(found->miss, EL_MISS_NONE);
}

static void line_zero_borrows_within_its_own_scope(void **state)
{
	const struct el_found *found;

	make_dwarf(*state, false);
	found = look_up(*state, TEXT + 0x24);
	assert_int_equal(found->frames.n, 1);
	assert_string_equal(name_of(&found->frames.at[0]), "outer");
	assert_int_equal(found->frames.at[0].line, 11);
	assert_true(found->flags & EL_LOCATION_LINE_BORROWED);
}

static void return_address_means_the_call_before_it(void **state)
{
	struct fixture *fixture = *state;

	make_dwarf(fixture, false);
	assert_int_equal(
		el_object_lookup(fixture->object, TEXT + 0x10, EL_PC_RETURN, &fixture->found), 0);
	assert_int_equal(fixture->found.addr, TEXT + 0xf);
	assert_int_equal(fixture->found.frames.at[0].line, 11);
}

static void cyclic_origin_ends_without_a_name(void **state)
{
	const struct el_found *found;

	make_dwarf(*state, true);
	found = look_up(*state, TEXT + 0x14);
	assert_int_equal(found->frames.n, 2);
	assert_null(name_of(&found->frames.at[0]));
	assert_string_equal(name_of(&found->frames.at[1]), "outer");
}

static void zero_line_range_and_instruction_length_are_survived(void **state)
{
	struct fixture *fixture = *state;

	add_abbrevs(fixture);
	add_info(fixture, false);
	add_lines(fixture, 0, 0);
	make(fixture);
	assert_int_equal(look_up(fixture, TEXT + 0x34)->frames.at[0].line, 13);
}

/* Puts `size` bytes of other units in front of the unit that add_info() made last. */
static void put_units_before(struct fixture *fixture, const void *units, size_t size)
{
	struct el_buffer *info = elf_writer_bytes(&fixture->writer, fixture->writer.n_sections - 1);

	assert_int_equal(el_vec_reserve(&info->bytes, size + info->bytes.n), 0);
	memmove(info->bytes.at + size, info->bytes.at, info->bytes.n);
	memcpy(info->bytes.at, units, size);
	info->bytes.n += size;
}

/* 2^20 headers are read; a section of zeros is as many as it has words. */
static void endless_empty_units_are_not_all_read(void **state)
{
	struct fixture *fixture = *state;
	size_t size = (size_t)4 << 20;
	uint8_t *zeros = calloc(1, size);

	add_abbrevs(fixture);
	add_info(fixture, false);
	put_units_before(fixture, zeros, size);
	add_lines(fixture, 1, 14);
	make(fixture);
	assert_int_equal(look_up(fixture, TEXT + 0x14)->frames.n, 0);
	free(zeros);
}

static void long_range_list_of_many_units_is_bounded(void **state)
{
	static const uint64_t range[] = {0x10, 0x20};
	struct fixture *fixture = *state;
	struct el_buffer units = {0}, *ranges;
	size_t i;

	add_abbrevs(fixture);
	add_info(fixture, false);
	for (i = 0; i < 5; i++) {
		el_buffer_add_u32(&units, 12);
		el_buffer_add(&units, "\4\0\0\0\0\0\10\6\0\0\0\0", 12);
	}
	put_units_before(fixture, units.bytes.at, units.bytes.n);
	i = elf_writer_section(&fixture->writer, ".debug_ranges", SHT_PROGBITS, 0, 0);
	ranges = elf_writer_bytes(&fixture->writer, i);
	for (i = 0; i < 1u << 20; i++)
		el_buffer_add(ranges, range, sizeof(range));
	add_lines(fixture, 1, 14);
	make(fixture);
	assert_int_equal(look_up(fixture, TEXT + 0x14)->frames.n, 0);
	el_buffer_deinit(&units);
}

/* Each table begins one declaration after the one before and ends where all end. */
static void overlapping_abbreviation_tables_are_bounded(void **state)
{
	static const uint8_t declaration[] = {1, DW_TAG_subprogram, 0, 0, 0};
	uint8_t units[100][12] = {0};
	struct fixture *fixture = *state;
	struct el_buffer *abbrevs;
	uint32_t table;
	size_t i;

	add_abbrevs(fixture);
	abbrevs = elf_writer_bytes(&fixture->writer, fixture->writer.n_sections - 1);
	table = abbrevs->bytes.n;
	for (i = 0; i < 200000; i++)
		el_buffer_add(abbrevs, declaration, sizeof(declaration));
	add_info(fixture, false);
	for (i = 0; i < 100; i++, table += sizeof(declaration)) {
		memcpy(units[i], "\10\0\0\0\4", 5);
		memcpy(units[i] + 6, &table, sizeof(table));
		memcpy(units[i] + 10, "\10\1", 2);
	}
	put_units_before(fixture, units, sizeof(units));
	add_lines(fixture, 1, 14);
	make(fixture);
	assert_int_equal(look_up(fixture, TEXT + 0x14)->frames.n, 0);
}

static void evicted_object_answers_again(void **state)
{
	struct fixture *fixture = *state;

	make_dwarf(fixture, false);
	look_up(fixture, TEXT + 0x14);
	el_objects_evict(fixture->context.objects, 0);
	assert_int_equal(fixture->context.stats.evictions, 1);
	assert_int_equal(look_up(fixture, TEXT + 0x14)->frames.at[0].line, 6);
}

static void not_an_elf_is_a_bad_file(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(el_object_from_memory(fixture->context.objects, calloc(1, 100), 100,
					       "zeros", &fixture->object),
			 0);
	assert_int_equal(look_up(fixture, 0x10)->miss, EL_MISS_BAD_FILE);
}

/* --- damage -------------------------------------------------------------------- */
/* Puts bytes into a file of its own, so that small sections have exact bounds for a sanitizer. */
static int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	return fd;
}

static void ask_everywhere(struct fixture *fixture, int fd, uint64_t from, uint64_t to, size_t n)
{
	uint64_t step = (to - from) / n + 1, addr;

	assert_int_equal(el_object_from_file(fixture->context.objects, fd, "cut", &fixture->object),
			 0);
	for (addr = from; addr < to; addr += step) {
		el_found_reset(&fixture->found);
		assert_int_equal(
			el_object_lookup(fixture->object, addr, EL_PC_LATE, &fixture->found), 0);
	}
	el_object_put(fixture->object);
	fixture->object = NULL;
	el_objects_evict(fixture->context.objects, 0);
}

static void *read_self(size_t *size)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	off_t end = lseek(fd, 0, SEEK_END);
	void *bytes = malloc(end);

	assert_non_null(bytes);
	assert_int_equal(pread(fd, bytes, end, 0), end);
	close(fd);
	*size = end;
	return bytes;
}

static void truncated_program_is_answered_or_missed(void **state)
{
	size_t size, i;
	uint8_t *bytes = read_self(&size);

	for (i = 1; i < 64; i++)
		ask_everywhere(*state, file_of(bytes, size * i / 64), 0x1000, size, 40);
	free(bytes);
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void damaged_bytes_are_answered_or_missed(void **state)
{
	struct fixture *fixture = *state;
	uint8_t *bytes, *copy;
	uint32_t seed = 1;
	size_t size, i, j;

	add_abbrevs(fixture);
	add_info(fixture, false);
	add_lines(fixture, 1, 14);
	elf_writer_symbol(&fixture->writer, "f", fixture->text, TEXT, 0, FUNC);
	bytes = elf_writer_finish(&fixture->writer, &size);
	copy = malloc(size);
	for (i = 0; i < 4000; i++) {
		memcpy(copy, bytes, size);
		for (j = 0; j <= i % 4; j++)
			copy[(i & 1 ? TEXT_SIZE : 0) + next_random(&seed) % (size - TEXT_SIZE)] =
				next_random(&seed);
		ask_everywhere(fixture, file_of(copy, size), TEXT, TEXT + TEXT_SIZE, 16);
	}
	free(copy);
	free(bytes);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(sized_symbol_covers_its_size_only),
		T(unsized_symbol_ends_at_the_next_symbol),
		T(unsized_symbol_never_crosses_a_later_fde),
		T(no_symbols_one_name_per_fde),
		T(relocatable_symbol_is_relative_to_its_section),
		T(inlined_address_innermost_first_with_call_line),
		T(line_zero_borrows_within_its_own_scope),
		T(return_address_means_the_call_before_it),
		T(cyclic_origin_ends_without_a_name),
		T(zero_line_range_and_instruction_length_are_survived),
		T(endless_empty_units_are_not_all_read),
		T(long_range_list_of_many_units_is_bounded),
		T(overlapping_abbreviation_tables_are_bounded),
		T(evicted_object_answers_again),
		T(not_an_elf_is_a_bad_file),
		T(truncated_program_is_answered_or_missed),
		T(damaged_bytes_are_answered_or_missed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
