/* SPDX-License-Identifier: Apache-2.0 */
/* Late addresses: which of them stand for the instruction before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>

#include "symbolizer/pc.h"

#define START 0x400000u

struct code {
	const uint8_t *bytes;
	size_t size;
};

static size_t read_code(void *context, uint64_t addr, void *bytes, size_t size)
{
	struct code *code = context;
	size_t off = addr - START;

	if (off >= code->size)
		return 0;
	size = size < code->size - off ? size : code->size - off;
	memcpy(bytes, code->bytes + off, size);
	return size;
}

static bool is_skid(uint16_t machine, const uint8_t *bytes, size_t size, size_t off)
{
	struct code code = {bytes, size};
	struct el_pc_cache *cache = NULL;
	bool skid =
		el_pc_is_skid(&cache, machine, START, START + size, START + off, read_code, &code);

	el_pc_cache_free(cache);
	return skid;
}

/* nop; div rcx; add rax, rdx; jne back to the add; ret; nop */
static const uint8_t loop[] = {0x90, 0x48, 0xf7, 0xf1, 0x48, 0x01, 0xd0, 0x75, 0xfb, 0xc3, 0x90};

static void start_of_the_function_stays(void **state)
{
	(void)state;
	assert_false(is_skid(EM_X86_64, loop, sizeof(loop), 0));
}

static void straight_code_goes_back_by_one(void **state)
{
	(void)state;
	assert_true(is_skid(EM_X86_64, loop, sizeof(loop), 1));
	assert_true(is_skid(EM_X86_64, loop, sizeof(loop), 7));
}

static void target_of_a_jump_stays(void **state)
{
	(void)state;
	assert_false(is_skid(EM_X86_64, loop, sizeof(loop), 4));
}

static void after_a_return_stays(void **state)
{
	(void)state;
	assert_false(is_skid(EM_X86_64, loop, sizeof(loop), 10));
}

/* mov eax, imm32 whose bytes look like "jne" to the nop behind it; a real decode tells. */
static void jump_inside_a_constant_is_none(void **state)
{
	static const uint8_t bytes[] = {0xb8, 0x75, 0x02, 0x00, 0x00, 0x90, 0xc3};

	(void)state;
	assert_true(is_skid(EM_X86_64, bytes, sizeof(bytes), 5));
}

static void unknown_machine_goes_back_within_the_function(void **state)
{
	(void)state;
	assert_true(is_skid(EM_RISCV, loop, sizeof(loop), 4));
	assert_false(is_skid(EM_RISCV, loop, sizeof(loop), 0));
	assert_false(is_skid(EM_RISCV, loop, sizeof(loop), sizeof(loop)));
}

/* sdiv x0, x0, x1; subs x2, x2, #1; b.ne back to the subs; ret; nop */
static void a64_target_and_path_end_stay(void **state)
{
	static const uint32_t words[] = {0x9ac10c00, 0xf1000442, 0x54ffffe1, 0xd65f03c0,
					 0xd503201f};
	const uint8_t *bytes = (const uint8_t *)words;

	(void)state;
	assert_false(is_skid(EM_AARCH64, bytes, sizeof(words), 4));
	assert_true(is_skid(EM_AARCH64, bytes, sizeof(words), 8));
	assert_true(is_skid(EM_AARCH64, bytes, sizeof(words), 12));
	assert_false(is_skid(EM_AARCH64, bytes, sizeof(words), 16));
}

static void unreadable_code_goes_back_by_one(void **state)
{
	struct code code = {loop, 0};
	struct el_pc_cache *cache = NULL;

	(void)state;
	assert_true(
		el_pc_is_skid(&cache, EM_X86_64, START, START + 16, START + 4, read_code, &code));
	el_pc_cache_free(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(start_of_the_function_stays),
		cmocka_unit_test(straight_code_goes_back_by_one),
		cmocka_unit_test(target_of_a_jump_stays),
		cmocka_unit_test(after_a_return_stays),
		cmocka_unit_test(jump_inside_a_constant_is_none),
		cmocka_unit_test(unknown_machine_goes_back_within_the_function),
		cmocka_unit_test(a64_target_and_path_end_stay),
		cmocka_unit_test(unreadable_code_goes_back_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
