/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one ELF object knows about an address: DWARF first, then symbols, then
 * the bounds of unwind information, and never the nearest symbol of something
 * else. See object.h.
 */
#include "symbolizer/object.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "symbolizer/demangle.h"
#include "symbolizer/object_part.h"

/* Reads the frame on first use. 0 or -errno, the same each time. */
static int read_elf(struct el_object *object)
{
	if (!object->read) {
		object->read = true;
		object->read_err = el_elf_read(&object->elf);
		if (!object->read_err && object->build_id_size && object->elf.build_id_size &&
		    (object->build_id_size != object->elf.build_id_size ||
		     memcmp(object->build_id, object->elf.build_id, object->build_id_size)))
			object->read_err = -ESTALE;
		if (!object->read_err && !object->build_id_size) {
			memcpy(object->build_id, object->elf.build_id, object->elf.build_id_size);
			object->build_id_size = object->elf.build_id_size;
		}
	}
	return object->read_err;
}

static struct el_dwarf *dwarf_of(struct el_object *object)
{
	if (object->dwarf_tried)
		return object->dwarf;
	object->dwarf_tried = true;
	if (el_dwarf_new(&object->elf, &object->dwarf) != -ENOENT)
		return object->dwarf;
	el_object_find_debug(object);
	if (object->has_debug)
		el_dwarf_new(&object->debug, &object->dwarf);
	return object->dwarf;
}

static struct el_symbols *symbols_of(struct el_object *object)
{
	struct el_symbols *symbols = &object->symbols;
	int err;

	if (object->symbols_read)
		return symbols;
	object->symbols_read = true;
	err = el_symbols_read(symbols, &object->elf, ".symtab");
	if (err == -ENOENT) {
		el_object_find_debug(object);
		if (object->has_debug)
			err = el_symbols_read(symbols, &object->debug, ".symtab");
	}
	if (err == -ENOENT)
		el_symbols_read(symbols, &object->elf, ".dynsym");
	el_symbols_read_plt(symbols, &object->elf);
	el_symbols_sort(symbols);
	return symbols;
}

void el_object_forget_indexes(struct el_object *object)
{
	if (object->dwarf)
		object->objects->units_before += el_dwarf_units_indexed(object->dwarf);
	el_dwarf_free(object->dwarf);
	object->dwarf = NULL;
	object->dwarf_tried = false;
	el_symbols_deinit(&object->symbols);
	object->symbols_read = false;
	el_fdes_deinit(&object->fdes);
	el_pc_cache_free(object->pcs);
	object->pcs = NULL;
}

size_t el_object_bytes(const struct el_object *object)
{
	size_t bytes =
		sizeof(*object) + el_symbols_bytes(&object->symbols) + el_fdes_bytes(&object->fdes);

	bytes += object->elf.n_sections * sizeof(*object->elf.sections);
	if (object->elf.bytes.memory)
		bytes += object->elf.bytes.size;
	if (object->dwarf)
		bytes += el_dwarf_bytes(object->dwarf);
	return bytes;
}

bool el_object_addr_of_offset(struct el_object *object, uint64_t offset, uint64_t *ret)
{
	return !read_elf(object) && el_elf_addr_of_offset(&object->elf, offset, ret);
}

int el_object_each_code(struct el_object *object, el_object_range *each, void *context)
{
	const struct el_elf *elf = &object->elf;
	int err = read_elf(object);
	size_t i;

	if (err)
		return err;
	for (i = 0; elf->type == ET_REL && i < elf->n_sections; i++)
		if ((elf->sections[i].flags & SHF_EXECINSTR) && elf->sections[i].size &&
		    elf->sections[i].addr <= UINT64_MAX - elf->sections[i].size)
			each(context, elf->sections[i].addr,
			     elf->sections[i].addr + elf->sections[i].size);
	for (i = 0; elf->type != ET_REL && i < elf->n_segments; i++)
		if (elf->segments[i].type == PT_LOAD && (elf->segments[i].flags & PF_X) &&
		    elf->segments[i].memory_size &&
		    elf->segments[i].addr <= UINT64_MAX - elf->segments[i].memory_size)
			each(context, elf->segments[i].addr,
			     elf->segments[i].addr + elf->segments[i].memory_size);
	return 0;
}

static bool fde_before(struct el_object *object, uint64_t addr, struct el_fde *ret)
{
	return !el_fdes_read(&object->fdes, &object->elf) &&
	       el_fdes_before(&object->fdes, &object->elf, addr, ret);
}

struct symbol {
	uint64_t start, end;
	const char *name; /* as in the file; valid until the object is evicted */
};

/* The function symbol that covers `addr`. 0, -ENOENT or -errno. */
static int symbol_at(struct el_object *object, uint64_t addr, struct symbol *ret)
{
	const struct el_symbols_symbol *symbol;
	struct el_symbols *symbols;
	uint64_t end;
	struct el_fde fde;
	const char *name;
	int err = read_elf(object);

	if (err)
		return err;
	symbols = symbols_of(object);
	symbol = el_symbols_find(symbols, addr);
	if (!symbol)
		return -ENOENT;
	end = symbol->end;
	/* Without a size it reaches no further than unwind information lets it. */
	if (!symbol->sized && fde_before(object, addr, &fde)) {
		if (fde.start > symbol->start)
			return -ENOENT;
		if (fde.start == symbol->start && addr >= fde.end)
			return -ENOENT;
		if (addr < fde.end && fde.end < end)
			end = fde.end;
	}
	name = el_symbols_name(symbols, symbol);
	if (!name)
		return -ENOENT;
	*ret = (struct symbol){.start = symbol->start, .end = end, .name = name};
	return 0;
}

/* The function that holds `addr`, by symbols and FDEs. 0, -ENOENT or -errno. */
static int bounds_at(struct el_object *object, uint64_t addr, uint64_t *start, uint64_t *end)
{
	struct symbol symbol;
	struct el_fde fde;
	int err = symbol_at(object, addr, &symbol);

	if (!err) {
		*start = symbol.start;
		*end = symbol.end;
		return 0;
	}
	if (err != -ENOENT || !fde_before(object, addr, &fde) || addr >= fde.end)
		return err;
	*start = fde.start;
	*end = fde.end;
	return 0;
}

/* A symbol's or an FDE's name for the function at `addr`. */
static int name_without_dwarf(struct el_object *object, uint64_t addr, struct el_found_frame *frame,
			      struct el_found *found)
{
	struct symbol symbol;
	uint64_t start, end;

	free(object->readable);
	object->readable = NULL;
	if (!symbol_at(object, addr, &symbol)) {
		frame->system_name = symbol.name;
		object->readable = el_demangle(symbol.name);
		frame->name = object->readable;
		return 0;
	}
	if (bounds_at(object, addr, &start, &end))
		return -ENOENT;
	found->miss = EL_MISS_NO_SYMBOL;
	/* Stripped programs still tell where they begin. */
	if (start == object->elf.entry)
		snprintf(object->made_name, sizeof(object->made_name), "_start");
	else
		snprintf(object->made_name, sizeof(object->made_name), "fn+0x%" PRIx64, start);
	frame->name = object->made_name;
	return 0;
}

/*
 * Compilers leave the linkage name out for members of local types; the symbol
 * has it, and with it the class.
 */
static void complete_name(struct el_object *object, uint64_t addr, struct el_found_frame *frame)
{
	struct symbol symbol;

	if (!strncmp(frame->system_name, "_Z", 2) || symbol_at(object, addr, &symbol) ||
	    strncmp(symbol.name, "_Z", 2) || !strstr(symbol.name, frame->system_name))
		return;
	free(object->readable);
	object->readable = el_demangle(symbol.name);
	if (!object->readable)
		return;
	frame->system_name = symbol.name;
	frame->name = object->readable;
}

static void describe(struct el_object *object, struct el_found *found)
{
	found->object_path = object->path;
	found->build_id = object->build_id;
	found->build_id_size = object->build_id_size;
	found->code = EL_CODE_NATIVE;
	found->built_ns = object->built_ns;
}

static size_t read_code(void *context, uint64_t addr, void *bytes, size_t size)
{
	struct el_object *object = context;

	return read_elf(object) ? 0 : el_elf_code(&object->elf, addr, bytes, size);
}

/* The address whose line is wanted. */
static uint64_t looked_up(struct el_object *object, uint64_t addr, enum el_pc pc,
			  struct el_found *found)
{
	uint64_t start, end;

	found->addr = el_pc_in_call(pc, addr);
	if (pc != EL_PC_LATE)
		return found->addr;
	if (bounds_at(object, addr, &start, &end) ||
	    !el_pc_is_skid(&object->pcs, object->elf.machine, start, end, addr, read_code, object))
		return addr;
	found->flags |= EL_LOCATION_SKID;
	return addr - 1;
}

int el_object_lookup(struct el_object *object, uint64_t addr, enum el_pc pc, struct el_found *found)
{
	struct el_dwarf_answer answer = {0};
	struct el_found_frame unnamed = {.code = EL_CODE_NATIVE};
	size_t first = found->frames.n;
	struct el_found_frame *outer;
	int err;

	object->stamp = ++object->objects->clock;
	describe(object, found);
	found->addr = addr;
	err = read_elf(object);
	if (err) {
		found->miss = err == -ESTALE ? EL_MISS_STALE_FILE : EL_MISS_BAD_FILE;
		return err == -ENOMEM ? err : 0;
	}
	addr = looked_up(object, addr, pc, found);
	if (dwarf_of(object)) {
		err = el_dwarf_lookup(object->dwarf, addr, found, &answer);
		if (err)
			return err;
	}
	found->miss = EL_MISS_NONE;
	if (found->frames.n == first && el_vec_push(&found->frames, unnamed))
		return -ENOMEM;
	/* Assembler has lines without functions; a name of another file is a name missing. */
	outer = &found->frames.at[found->frames.n - 1];
	if (!outer->system_name && name_without_dwarf(object, addr, outer, found)) {
		found->miss = EL_MISS_NO_FUNCTION;
		if (!outer->line && found->frames.n == first + 1)
			found->frames.n = first;
		return 0;
	}
	if (answer.is_cxx && outer->system_name)
		complete_name(object, addr, outer);
	if (answer.borrowed)
		found->flags |= EL_LOCATION_LINE_BORROWED;
	found->has_lines = found->frames.at[first].line > 0;
	if (!found->has_lines && found->miss == EL_MISS_NONE)
		found->miss = EL_MISS_NO_LINE;
	return 0;
}
