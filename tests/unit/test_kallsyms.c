/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's symbol list: which names count, how far they reach, and the running kernel's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/skip.h"
#include "symbolizer/kallsyms.h"
#include "symbolizer/object.h"
#include "symbolizer/resolver.h"

static struct el_kallsyms list;

static int setup(void **state)
{
	(void)state;
	return el_kallsyms_init(&list);
}

static int teardown(void **state)
{
	(void)state;
	el_kallsyms_deinit(&list);
	return 0;
}

static void parse(const char *text)
{
	el_kallsyms_parse(&list, text, strlen(text));
	el_kallsyms_sort(&list);
}

static const char *name_at(uint64_t addr)
{
	struct el_kallsyms_answer answer;

	return el_kallsyms_find(&list, addr, &answer) ? answer.name : "";
}

static void function_reaches_to_the_next_symbol(void **state)
{
	(void)state;
	parse("ffffffff81000100 t second\nffffffff81000000 T first\n"
	      "ffffffff81000180 D data\nffffffff81000200 W third\n");
	assert_string_equal(name_at(0xffffffff80ffffff), "");
	assert_string_equal(name_at(0xffffffff81000000), "first");
	assert_string_equal(name_at(0xffffffff810000ff), "first");
	assert_string_equal(name_at(0xffffffff81000100), "second");
	assert_string_equal(name_at(0xffffffff81000180), "");
	assert_string_equal(name_at(0xffffffff81000200), "third");
}

static void last_function_does_not_reach_for_ever(void **state)
{
	(void)state;
	parse("ffffffff81000000 T last\n");
	assert_string_equal(name_at(0xffffffff81000fff), "last");
	assert_string_equal(name_at(0xffffffff81000000 + EL_KALLSYMS_FUNCTION_MAX), "");
}

static void module_and_bpf_program_are_told(void **state)
{
	struct el_kallsyms_answer answer;

	(void)state;
	parse("ffffffffc0000000 t open_it\t[some_module]\n"
	      "ffffffffc0001000 t bpf_prog_6deef7357e7b4530_on_tick\t[bpf]\n");
	assert_true(el_kallsyms_find(&list, 0xffffffffc0000010, &answer));
	assert_string_equal(answer.module, "some_module");
	assert_true(el_kallsyms_find(&list, 0xffffffffc0001010, &answer));
	assert_string_equal(answer.name, "bpf_prog_6deef7357e7b4530_on_tick");
	assert_string_equal(answer.module, "bpf");
}

static void best_of_several_names_is_taken(void **state)
{
	(void)state;
	parse("ffffffff81000000 t __se_sys_read\nffffffff81000000 T __x64_sys_read\n"
	      "ffffffff81000000 W sys_read_weak\nffffffff81000100 T __f\nffffffff81000100 T f\n");
	assert_string_equal(name_at(0xffffffff81000000), "__x64_sys_read");
	assert_string_equal(name_at(0xffffffff81000100), "f");
}

static void padding_symbols_are_left_out(void **state)
{
	(void)state;
	parse("ffffffff81000000 T f\nffffffff810000f0 T __pfx_g\nffffffff81000100 T g\n");
	assert_int_equal(list.symbols.n, 2);
	assert_string_equal(name_at(0xffffffff81000100), "g");
}

static void all_zero_means_hidden(void **state)
{
	(void)state;
	parse("0000000000000000 T first\n0000000000000000 t second\t[module]\n");
	assert_true(list.hidden);
	assert_string_equal(name_at(0), "");
}

static void malformed_lines_are_passed_over(void **state)
{
	(void)state;
	parse("\nzz T x\nffffffff81000000\nffffffff81000000 T\n11111111111111111 T wide\n"
	      "ffffffff81000000 TT two\nffffffff81000000 T good\nffffffff81000010 T cut");
	assert_int_equal(list.symbols.n, 1);
	assert_string_equal(name_at(0xffffffff81000000), "good");
}

static void running_kernel_names_its_functions(void **state)
{
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	struct el_kallsyms_answer answer;

	(void)state;
	if (fd < 0)
		skip_because("no /proc/kallsyms");
	assert_int_equal(el_kallsyms_read(&list, fd), 0);
	close(fd);
	if (list.hidden)
		skip_because("the kernel hides its addresses");
	assert_true(list.symbols.n > 10000);
	for (size_t i = 1; i < list.symbols.n; i++)
		assert_true(list.symbols.at[i - 1].addr < list.symbols.at[i].addr);
	/* Its own address finds it again. */
	for (size_t i = 0; i < list.symbols.n; i += 997)
		if (el_kallsyms_find(&list, list.symbols.at[i].addr, &answer))
			assert_int_equal(answer.start, list.symbols.at[i].addr);
}

/* The source of the resolver's tests. */
static struct {
	const char *text;
	uint64_t now;
	int n_opened;
} kernel;

static int open_kallsyms(void *context)
{
	int fd = memfd_create("kallsyms", MFD_CLOEXEC);

	(void)context;
	kernel.n_opened++;
	assert_int_equal(write(fd, kernel.text, strlen(kernel.text)), strlen(kernel.text));
	return fd;
}

static uint64_t now(void *context)
{
	(void)context;
	return kernel.now;
}

static const struct el_mapping kernel_mapping = {
	.id = 1, .start = 1ull << 63, .end = UINT64_MAX, .flags = EL_MAPPING_KERNEL};

static void unknown_address_reads_again_ever_rarer(void **state)
{
	struct el_resolver_context context = {
		.source = {.open_kallsyms = open_kallsyms, .now = now}};
	struct el_resolver_target target = {0};
	struct el_place place = {.addr = 0xffffffffc0000010, .mapping = &kernel_mapping};
	struct el_found found = {0};
	void *resolver;

	(void)state;
	kernel.text = "ffffffff81000000 T f\n";
	kernel.now = 1000000000000ull;
	kernel.n_opened = 0;
	assert_int_equal(el_resolver_kernel.attach(&context, &target, &resolver), 0);
	for (int i = 0; i < 100; i++) {
		el_found_reset(&found);
		assert_true(el_resolver_kernel.resolve(resolver, &place, &found));
		assert_int_equal(found.miss, EL_MISS_NO_FUNCTION);
	}
	assert_int_equal(kernel.n_opened, 1);
	for (int i = 0; i < 64; i++) {
		kernel.now += 1000000000;
		el_found_reset(&found);
		el_resolver_kernel.resolve(resolver, &place, &found);
	}
	assert_in_range(kernel.n_opened, 3, 8);
	kernel.text = "ffffffff81000000 T f\nffffffffc0000000 t loaded\t[late]\n";
	kernel.now += 100000000000ull;
	el_found_reset(&found);
	assert_true(el_resolver_kernel.resolve(resolver, &place, &found));
	assert_int_equal(found.frames.n, 1);
	assert_string_equal(found.frames.at[0].name, "loaded");
	assert_string_equal(found.object_path, "[late]");
	assert_int_equal(found.miss, EL_MISS_NO_LINE);
	el_vec_deinit(&found.frames);
	el_resolver_kernel.detach(resolver);
}

static void hidden_addresses_are_said(void **state)
{
	struct el_resolver_context context = {
		.source = {.open_kallsyms = open_kallsyms, .now = now}};
	struct el_resolver_target target = {0};
	struct el_place place = {.addr = 0xffffffff81000010, .mapping = &kernel_mapping};
	struct el_found found = {0};
	void *resolver;

	(void)state;
	kernel.text = "0000000000000000 T f\n";
	assert_int_equal(el_resolver_kernel.attach(&context, &target, &resolver), 0);
	assert_true(el_resolver_kernel.resolve(resolver, &place, &found));
	assert_int_equal(found.miss, EL_MISS_KERNEL_HIDDEN);
	assert_int_equal(found.frames.n, 0);
	el_resolver_kernel.detach(resolver);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(function_reaches_to_the_next_symbol),
		TEST(last_function_does_not_reach_for_ever),
		TEST(module_and_bpf_program_are_told),
		TEST(best_of_several_names_is_taken),
		TEST(padding_symbols_are_left_out),
		TEST(all_zero_means_hidden),
		TEST(malformed_lines_are_passed_over),
		TEST(running_kernel_names_its_functions),
		cmocka_unit_test(unknown_address_reads_again_ever_rarer),
		cmocka_unit_test(hidden_addresses_are_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
