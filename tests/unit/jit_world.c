/* SPDX-License-Identifier: Apache-2.0 */
/* See jit_world.h. */
#include "tests/unit/jit_world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/elf_writer.h"

#define FUNCTION ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)

void jit_world_init(struct jit_world *world)
{
	uint32_t version = 1;

	memset(world, 0, sizeof(*world));
	world->now_ns = 1000000000000ull;
	world->used = 64;
	world->descriptor = jit_world_place(world, &(uint64_t[3]){0}, 24);
	memcpy(world->memory + (world->descriptor - WORLD_BASE), &version, sizeof(version));
}

void jit_world_deinit(struct jit_world *world)
{
	if (!world->symbolizer)
		return;
	el_symbolizer_free(world->symbolizer);
	el_answer_deinit(&world->answer);
}

static ssize_t read_bytes(void *context, uint64_t addr, void *bytes, size_t size)
{
	struct jit_world *world = context;
	size_t off = addr - WORLD_BASE;

	world->n_reads++;
	world->now_ns += world->read_costs_ns;
	if (addr < WORLD_BASE || off >= WORLD_SIZE)
		return -EFAULT;
	if (size > WORLD_SIZE - off)
		size = WORLD_SIZE - off;
	memcpy(bytes, world->memory + off, size);
	if (world->after_read)
		world->after_read(world);
	return size;
}

static uint64_t now(void *context)
{
	return ((struct jit_world *)context)->now_ns;
}

struct el_gdbjit_memory jit_world_memory(struct jit_world *world)
{
	return (struct el_gdbjit_memory){.context = world, .read = read_bytes, .now = now};
}

uint64_t jit_world_place(struct jit_world *world, const void *bytes, size_t size)
{
	uint64_t addr = WORLD_BASE + world->used;

	if (size > WORLD_SIZE - world->used)
		abort();
	memcpy(world->memory + world->used, bytes, size);
	world->used += (size + 15) & ~15ul;
	return addr;
}

void jit_world_poke(struct jit_world *world, uint64_t addr, uint64_t value)
{
	memcpy(world->memory + (addr - WORLD_BASE), &value, sizeof(value));
}

uint64_t jit_world_peek(const struct jit_world *world, uint64_t addr)
{
	uint64_t value;

	memcpy(&value, world->memory + (addr - WORLD_BASE), sizeof(value));
	return value;
}

uint64_t jit_world_link(struct jit_world *world, uint64_t symfile, uint64_t symfile_size)
{
	uint64_t first = jit_world_peek(world, world->descriptor + 16);
	uint64_t words[4] = {first, 0, symfile, symfile_size};
	uint64_t entry = jit_world_place(world, words, sizeof(words));

	if (first)
		jit_world_poke(world, first + 8, entry);
	jit_world_poke(world, world->descriptor + 8, entry);
	jit_world_poke(world, world->descriptor + 16, entry);
	return entry;
}

void jit_world_unlink(struct jit_world *world, uint64_t entry)
{
	uint64_t next = jit_world_peek(world, entry), previous = jit_world_peek(world, entry + 8);

	if (next)
		jit_world_poke(world, next + 8, previous);
	jit_world_poke(world, previous ? previous : world->descriptor + 16, next);
	jit_world_poke(world, world->descriptor + 8, entry);
}

uint64_t jit_world_register(struct jit_world *world, const char *name, uint64_t addr, size_t size)
{
	uint8_t *code = calloc(1, size);
	struct elf_writer writer;
	uint64_t symfile;
	size_t text, elf_size;
	void *elf;

	elf_writer_init(&writer, ET_REL);
	text = elf_writer_section(&writer, ".ltext", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, addr);
	el_buffer_add(elf_writer_bytes(&writer, text), code, size);
	elf_writer_symbol(&writer, name, text, 0, size, FUNCTION);
	elf = elf_writer_finish(&writer, &elf_size);
	symfile = jit_world_place(world, elf, elf_size);
	elf_writer_deinit(&writer);
	free(elf);
	free(code);
	return jit_world_link(world, symfile, elf_size);
}

/* A file whose only symbol is the descriptor, at the place where the world has it. */
static int open_mapping(void *context, const struct el_image *image,
			const struct el_mapping *mapping)
{
	struct jit_world *world = context;
	int fd = memfd_create("library", MFD_CLOEXEC);
	struct elf_writer writer;
	size_t text, size;
	uint8_t code[64] = {0};
	void *elf;

	(void)image;
	(void)mapping;
	world->n_files_opened++;
	elf_writer_init(&writer, ET_DYN);
	text = elf_writer_section(&writer, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR,
				  0x1000);
	el_buffer_add(elf_writer_bytes(&writer, text), code, sizeof(code));
	elf_writer_symbol(&writer, "a_function", text, 0x1000, 16, FUNCTION);
	/* The segment begins at file offset 64; the mapping at offset 0 is 64 bytes before it. */
	elf_writer_symbol(&writer, "__jit_debug_descriptor", text,
			  world->descriptor - WORLD_FILE + 0x1000 - 64, 24,
			  ELF64_ST_INFO(world->local_symbol ? STB_LOCAL : STB_GLOBAL, STT_OBJECT));
	elf = elf_writer_finish(&writer, &size);
	elf_writer_deinit(&writer);
	if (write(fd, elf, size) != (ssize_t)size)
		abort();
	free(elf);
	return fd;
}

static ssize_t read_memory(void *context, const struct el_image *image, uint64_t addr, void *bytes,
			   size_t size)
{
	(void)image;
	return read_bytes(context, addr, bytes, size);
}

void jit_world_start_symbolizer(struct jit_world *world)
{
	struct el_source source = {.context = world,
				   .open_mapping = open_mapping,
				   .read_memory = read_memory,
				   .now = now};
	struct el_image image = {.id = 1, .pid = 4242};
	struct el_mapping file = {.id = 1,
				  .flags = EL_MAPPING_FILE,
				  .start = WORLD_FILE,
				  .end = WORLD_FILE + 0x1000,
				  .inode = 77,
				  .path = "/lib/library.so"};
	struct el_mapping code = {.id = WORLD_CODE_MAPPING,
				  .flags = EL_MAPPING_ANONYMOUS,
				  .start = WORLD_CODE,
				  .end = WORLD_CODE + (16 << 20),
				  .path = ""};

	if (el_symbolizer_new(&source, NULL, &world->symbolizer) ||
	    el_answer_init(&world->answer) || el_symbolizer_add_image(world->symbolizer, &image) ||
	    el_symbolizer_add_mapping(world->symbolizer, 1, &file) ||
	    el_symbolizer_add_mapping(world->symbolizer, 1, &code))
		abort();
}

void jit_world_refresh(struct jit_world *world)
{
	if (el_symbolizer_refresh(world->symbolizer, 1))
		abort();
}

const struct el_answer_location *jit_world_location(const struct jit_world *world)
{
	return &world->answer.locations.at[world->answer.by_query.at[world->answer.by_query.n - 1]];
}

const char *jit_world_name(struct jit_world *world, uint64_t addr, uint64_t time_ns)
{
	struct el_query query = {
		.addr = addr, .time_ns = time_ns, .mapping = WORLD_CODE_MAPPING, .pc = EL_PC_EXACT};
	struct el_answer *answer = &world->answer;
	const struct el_answer_location *location;
	uint32_t function;

	if (el_symbolizer_resolve(world->symbolizer, 1, &query, 1, answer))
		abort();
	location = jit_world_location(world);
	if (!location->n_lines)
		return "";
	function = answer->lines.at[location->first_line + location->n_lines - 1].function;
	return el_strings_get(&answer->strings, answer->functions.at[function].name);
}
