/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numba's real objects, read out of a running Python: names without any flag,
 * lines and inlines with NUMBA_DEBUGINFO=1 against llvm-symbolizer on the same
 * bytes, and functions that are dropped and made. Skipped where this machine
 * has no Numba or no llvm-symbolizer. EVERLINE_TEST_PYTHON names another Python.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/skip.h"
#include "symbolizer/elf.h"
#include "symbolizer/gdbjit_list.h"
#include "symbolizer/jit_descriptor.h"
#include "symbolizer/symbolizer.h"
#include "user/process/proc_maps.h"

#define ANSWER_MS 60000
#define ADDRESSES_MAX 1500

/* Numba keeps what it compiled; an engine of LLVM lets go of it when closed. */
static const char script[] =
	"import sys\n"
	"import numpy as np\n"
	"import llvmlite.binding as llvm\n"
	"from numba import njit\n"
	"@njit\n"
	"def clamp(x):\n"
	"    return min(max(x, 0.0), 255.0)\n"
	"def outer():\n"
	"    @njit\n"
	"    def dither(image):\n"
	"        total = 0.0\n"
	"        for y in range(image.shape[0]):\n"
	"            for x in range(image.shape[1]):\n"
	"                total += clamp(np.sqrt(image[y, x] / 2.0))\n"
	"        return total\n"
	"    return dither\n"
	"outer()(np.zeros((4, 4), np.uint8))\n"
	"@njit\n"
	"def work(values, text):\n"
	"    ordered = np.sort(values)\n"
	"    for i in range(ordered.size):\n"
	"        ordered[i] = ordered[i] ** 3 + len(text)\n"
	"    return ordered.sum()\n"
	"work(np.arange(9.0), 'abc')\n"
	"code = 'define i64 @_ZN8__main__7passingB2v1Ex(i64 %x) { %y = mul i64 %x, 3 ret i64 %y "
	"}'\n"
	"def make():\n"
	"    global engine\n"
	"    machine = llvm.Target.from_default_triple().create_target_machine()\n"
	"    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(code), machine)\n"
	"    engine.finalize_object()\n"
	"make()\n"
	"print('ready', flush=True)\n"
	"for line in sys.stdin:\n"
	"    if line.startswith('drop'):\n"
	"        engine.close()\n"
	"    else:\n"
	"        make()\n"
	"    print('done', flush=True)\n";

struct fixture {
	char folder[64];
	pid_t pid;
	int in, out;
	struct el_symbolizer *symbolizer;
	struct el_answer answer;
	struct el_mapping mappings[512];
	size_t n_mappings;
	struct el_gdbjit_list list;
};

static int open_mapping(void *context, const struct el_image *image,
			const struct el_mapping *mapping)
{
	int fd = open(mapping->path, O_RDONLY | O_CLOEXEC);

	(void)context;
	(void)image;
	return fd < 0 ? -ENOENT : fd;
}

static ssize_t read_pid(pid_t pid, uint64_t addr, void *bytes, size_t size)
{
	struct iovec here = {bytes, size}, there = {(void *)(uintptr_t)addr, size};
	ssize_t n = process_vm_readv(pid, &here, 1, &there, 1, 0);

	return n < 0 ? -errno : n;
}

static ssize_t read_memory(void *context, const struct el_image *image, uint64_t addr, void *bytes,
			   size_t size)
{
	(void)context;
	return read_pid(image->pid, addr, bytes, size);
}

static ssize_t list_read(void *context, uint64_t addr, void *bytes, size_t size)
{
	return read_pid(((struct fixture *)context)->pid, addr, bytes, size);
}

static uint64_t now(void *context)
{
	struct timespec time;

	(void)context;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static bool await_line(struct fixture *fixture, const char *wanted)
{
	struct pollfd poll_fd = {.fd = fixture->out, .events = POLLIN};
	char line[64] = "";
	size_t n = 0;

	while (n < sizeof(line) - 1 && poll(&poll_fd, 1, ANSWER_MS) == 1 &&
	       read(fixture->out, line + n, 1) == 1 && line[n] != '\n')
		n++;
	return !strncmp(line, wanted, strlen(wanted));
}

static void tell(struct fixture *fixture, const char *word)
{
	assert_int_equal(write(fixture->in, word, strlen(word)), strlen(word));
	assert_true(await_line(fixture, "done"));
}

static void start_python(struct fixture *fixture, const char *debug)
{
	char path[96];
	const char *python = getenv("EVERLINE_TEST_PYTHON");
	int in[2], out[2], fd;

	if (!python)
		python = "/usr/bin/python3";

	strcpy(fixture->folder, "/tmp/everline-test-XXXXXX");
	assert_non_null(mkdtemp(fixture->folder));
	snprintf(path, sizeof(path), "%s/script.py", fixture->folder);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, script, sizeof(script) - 1), sizeof(script) - 1);
	close(fd);
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	fixture->pid = fork();
	if (!fixture->pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		dup2(open("/dev/null", O_WRONLY), 2);
		setenv("NUMBA_DEBUGINFO", debug, 1);
		execl(python, python, path, NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	fixture->in = in[1];
	fixture->out = out[0];
}

static int add_mapping(void *context, const struct el_mapping *mapping)
{
	struct fixture *fixture = context;
	struct el_mapping *added = &fixture->mappings[fixture->n_mappings];

	if (fixture->n_mappings == 512)
		return 0;
	*added = *mapping;
	added->id = ++fixture->n_mappings;
	added->path = strdup(mapping->path ? mapping->path : "");
	return el_symbolizer_add_mapping(fixture->symbolizer, 1, added);
}

static void read_maps(struct fixture *fixture)
{
	struct el_proc_maps maps = {.mapping = add_mapping, .context = fixture};
	char path[64], text[4096];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", fixture->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while ((n = read(fd, text, sizeof(text))) > 0)
		assert_int_equal(el_proc_maps_feed(&maps, text, n), 0);
	close(fd);
	el_proc_maps_deinit(&maps);
}

static struct fixture *begin(const char *debug)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct el_source source = {
		.open_mapping = open_mapping, .read_memory = read_memory, .now = now};
	struct el_image image = {.id = 1};

	start_python(fixture, debug);
	if (!await_line(fixture, "ready"))
		return fixture;
	image.pid = fixture->pid;
	assert_int_equal(el_symbolizer_new(&source, NULL, &fixture->symbolizer), 0);
	assert_int_equal(el_symbolizer_add_image(fixture->symbolizer, &image), 0);
	assert_int_equal(el_answer_init(&fixture->answer), 0);
	read_maps(fixture);
	return fixture;
}

static void end(struct fixture *fixture)
{
	char command[128];

	close(fixture->in);
	close(fixture->out);
	kill(fixture->pid, SIGKILL);
	waitpid(fixture->pid, NULL, 0);
	if (fixture->symbolizer) {
		el_symbolizer_free(fixture->symbolizer);
		el_answer_deinit(&fixture->answer);
	}
	for (size_t i = 0; i < fixture->n_mappings; i++)
		free((char *)fixture->mappings[i].path);
	el_gdbjit_list_deinit(&fixture->list);
	snprintf(command, sizeof(command), "rm -rf %s", fixture->folder);
	if (system(command))
		fail();
	free(fixture);
}

/* The process's list, found as the resolver finds it. */
static void read_list(struct fixture *fixture)
{
	struct el_gdbjit_memory memory = {.context = fixture, .read = list_read, .now = now};
	struct el_source source = {.open_mapping = open_mapping};
	struct el_image image = {.id = 1, .pid = fixture->pid};
	struct el_jit_descriptors *descriptors;
	uint64_t descriptor = 0;
	size_t i = 0;

	assert_int_equal(el_jit_descriptors_new(&descriptors), 0);
	while (i < fixture->n_mappings &&
	       el_jit_descriptors_look(descriptors, &source, &image, &fixture->mappings[i],
				       &descriptor))
		i++;
	el_jit_descriptors_put(descriptors);
	assert_true(i < fixture->n_mappings);
	assert_int_equal(
		el_gdbjit_list_read(&fixture->list, &memory, descriptor, now(NULL) + 5000000000ull),
		0);
	assert_true(fixture->list.complete);
}

/* The function symbol whose name has `part`; its first address, 0: none. */
static uint64_t function_addr(struct fixture *fixture, const char *part)
{
	for (size_t e = 0; e < fixture->list.entries.n; e++) {
		size_t size = fixture->list.entries.at[e].symfile_size;
		struct el_elf elf = {.bytes.fd = -1};
		uint8_t *bytes = malloc(size);
		uint64_t addr = 0;

		read_pid(fixture->pid, fixture->list.entries.at[e].symfile_addr, bytes, size);
		el_bytes_init_memory(&elf.bytes, bytes, size);
		assert_int_equal(el_elf_read(&elf), 0);
		for (size_t s = 0; s < elf.n_sections && !addr; s++) {
			const struct el_elf_section *table = &elf.sections[s];
			const char *names;

			if (table->type != SHT_SYMTAB)
				continue;
			names = (const char *)bytes + elf.sections[table->link].off;
			for (uint64_t at = 0; at < table->size && !addr; at += sizeof(Elf64_Sym)) {
				Elf64_Sym symbol;

				memcpy(&symbol, bytes + table->off + at, sizeof(symbol));
				if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx &&
				    symbol.st_shndx < elf.n_sections &&
				    !strncmp(names + symbol.st_name, part, strlen(part)))
					addr = elf.sections[symbol.st_shndx].addr + symbol.st_value;
			}
		}
		el_elf_deinit(&elf);
		if (addr)
			return addr;
	}
	return 0;
}

static uint32_t mapping_of(const struct fixture *fixture, uint64_t addr)
{
	for (size_t i = 0; i < fixture->n_mappings; i++)
		if (addr >= fixture->mappings[i].start && addr < fixture->mappings[i].end)
			return fixture->mappings[i].id;
	return 0;
}

static const struct el_answer_location *locate(struct fixture *fixture, uint64_t addr,
					       uint64_t time_ns)
{
	struct el_query query = {.addr = addr,
				 .time_ns = time_ns,
				 .mapping = mapping_of(fixture, addr),
				 .pc = EL_PC_EXACT};
	struct el_answer *answer = &fixture->answer;

	assert_int_equal(el_symbolizer_resolve(fixture->symbolizer, 1, &query, 1, answer), 0);
	return &answer->locations.at[answer->by_query.at[answer->by_query.n - 1]];
}

static const struct el_answer_function *
function_of(const struct fixture *fixture, const struct el_answer_location *location, uint32_t line)
{
	uint32_t function = fixture->answer.lines.at[location->first_line + line].function;

	return &fixture->answer.functions.at[function];
}

static const char *text_of(const struct fixture *fixture, uint32_t string)
{
	return el_strings_get(&fixture->answer.strings, string);
}

static void running_numba_has_names_without_a_flag(void **state)
{
	struct fixture *fixture = begin("0");
	const struct el_answer_location *location;
	const struct el_answer_function *function;
	uint64_t addr;

	(void)state;
	if (!fixture->symbolizer) {
		end(fixture);
		skip_because("no Numba here");
	}
	read_list(fixture);
	addr = function_addr(fixture, "_ZN8__main__5outer12_3clocals_3e6dither");
	assert_true(addr);
	location = locate(fixture, addr + 4, now(NULL));
	assert_int_equal(location->n_lines, 1);
	assert_int_equal(location->miss, EL_MISS_NO_LINE);
	function = function_of(fixture, location, 0);
	assert_string_equal(text_of(fixture, function->name),
			    "outer.<locals>.dither(uint8[:,::1])");
	assert_int_equal(function->code, EL_CODE_NUMBA);
	assert_false(function->wrapper);
	addr = function_addr(fixture, "_ZN7cpython8__main__5outer12_3clocals_3e6dither");
	assert_true(addr);
	location = locate(fixture, addr, now(NULL));
	assert_true(function_of(fixture, location, 0)->wrapper);
	end(fixture);
}

static void dropped_functions_end_and_new_ones_begin(void **state)
{
	struct fixture *fixture = begin("0");
	uint64_t addr, before, after;

	(void)state;
	if (!fixture->symbolizer) {
		end(fixture);
		skip_because("no Numba here");
	}
	assert_int_equal(el_symbolizer_refresh(fixture->symbolizer, 1), 0);
	read_list(fixture);
	addr = function_addr(fixture, "_ZN8__main__7passing");
	before = now(NULL);
	tell(fixture, "drop\n");
	assert_int_equal(el_symbolizer_refresh(fixture->symbolizer, 1), 0);
	after = now(NULL);
	assert_int_equal(locate(fixture, addr + 4, after)->miss, EL_MISS_JIT_GONE);
	assert_int_equal(locate(fixture, addr + 4, before)->miss, EL_MISS_NO_LINE);
	tell(fixture, "make\n");
	read_maps(fixture);
	read_list(fixture);
	addr = function_addr(fixture, "_ZN8__main__7passing");
	assert_true(addr);
	assert_int_equal(locate(fixture, addr + 4, now(NULL))->miss, EL_MISS_NO_LINE);
	end(fixture);
}

struct oracle {
	struct fixture *fixture;
	uint64_t addrs[ADDRESSES_MAX];
	size_t n;
	size_t n_compared, n_inlined, n_different;
};

/* Writes an object to a file and adds addresses of its code. */
static bool dump(struct oracle *oracle, const struct el_gdbjit_entry *entry, const char *path)
{
	uint8_t *bytes = malloc(entry->symfile_size);
	struct el_elf elf = {.bytes.fd = -1};
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	bool has_lines;

	read_pid(oracle->fixture->pid, entry->symfile_addr, bytes, entry->symfile_size);
	assert_int_equal(write(fd, bytes, entry->symfile_size), entry->symfile_size);
	close(fd);
	el_bytes_init_memory(&elf.bytes, bytes, entry->symfile_size);
	assert_int_equal(el_elf_read(&elf), 0);
	has_lines = el_elf_find(&elf, ".debug_line");
	oracle->n = 0;
	for (size_t i = 0; i < elf.n_sections; i++)
		for (uint64_t at = 0; (elf.sections[i].flags & SHF_EXECINSTR) &&
				      at < elf.sections[i].size && oracle->n < ADDRESSES_MAX;
		     at++)
			oracle->addrs[oracle->n++] = elf.sections[i].addr + at;
	el_elf_deinit(&elf);
	return has_lines && oracle->n;
}

/* The oracle's frames of one address: function, "file:line:column", ..., an empty line. */
static void compare(struct oracle *oracle, FILE *output, uint64_t addr)
{
	const struct el_answer_location *location = locate(oracle->fixture, addr, now(NULL));
	char name[4096], place[4096], ours[4200], *colon;
	uint32_t depth = 0;
	bool same = true, known = false;

	while (fgets(name, sizeof(name), output) && name[0] != '\n' &&
	       fgets(place, sizeof(place), output)) {
		const struct el_answer_line *line;

		place[strcspn(place, "\n")] = 0;
		colon = strrchr(place, ':');
		if (colon)
			*colon = 0; /* the column */
		if (depth == 0)
			known = place[0] != '?' && strcmp(strrchr(place, ':'), ":0");
		if (depth < location->n_lines) {
			line = &oracle->fixture->answer.lines.at[location->first_line + depth];
			snprintf(ours, sizeof(ours), "%s:%u",
				 text_of(oracle->fixture,
					 function_of(oracle->fixture, location, depth)->file),
				 line->line);
			same = same && !strcmp(ours, place);
		}
		depth++;
	}
	/* Line 0 is "no line" to the oracle; we borrow the one before. */
	if (!known)
		return;
	oracle->n_compared++;
	oracle->n_inlined += depth > 1;
	oracle->n_different += !same || depth != location->n_lines;
}

static void ask(struct oracle *oracle, const char *object)
{
	char path[96], command[256];
	FILE *file, *output;

	snprintf(path, sizeof(path), "%s/addresses", oracle->fixture->folder);
	file = fopen(path, "we");
	for (size_t i = 0; i < oracle->n; i++)
		fprintf(file, "0x%llx\n", (unsigned long long)oracle->addrs[i]);
	fclose(file);
	snprintf(command, sizeof(command), "llvm-symbolizer --no-demangle --obj=%s < %s", object,
		 path);
	output = popen(command, "re");
	for (size_t i = 0; i < oracle->n; i++)
		compare(oracle, output, oracle->addrs[i]);
	pclose(output);
}

static void lines_and_inlines_equal_llvm_symbolizers(void **state)
{
	struct fixture *fixture = begin("1");
	struct oracle oracle = {.fixture = fixture};
	char path[96];

	(void)state;
	if (!fixture->symbolizer || system("command -v llvm-symbolizer >/dev/null")) {
		end(fixture);
		skip_because("no Numba or no llvm-symbolizer here");
	}
	read_list(fixture);
	snprintf(path, sizeof(path), "%s/object", fixture->folder);
	for (size_t i = 0; i < fixture->list.entries.n; i++)
		if (dump(&oracle, &fixture->list.entries.at[i], path))
			ask(&oracle, path);
	print_message("%zu addresses, %zu inlined, %zu different\n", oracle.n_compared,
		      oracle.n_inlined, oracle.n_different);
	assert_true(oracle.n_compared > 300);
	assert_true(oracle.n_different * 200 <= oracle.n_compared);
	end(fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(running_numba_has_names_without_a_flag),
		cmocka_unit_test(dropped_functions_end_and_new_ones_begin),
		cmocka_unit_test(lines_and_inlines_equal_llvm_symbolizers),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
