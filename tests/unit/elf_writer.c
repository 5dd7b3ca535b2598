/* SPDX-License-Identifier: Apache-2.0 */
/* Small ELF files for tests; see elf_writer.h. */
#include "tests/unit/elf_writer.h"

static uint32_t add_name(struct el_buffer *names, const char *name)
{
	uint32_t at;

	if (!names->bytes.n)
		el_buffer_add_u8(names, 0);
	at = names->bytes.n;
	el_buffer_add(names, name, strlen(name) + 1);
	return at;
}

void elf_writer_init(struct elf_writer *writer, uint16_t type)
{
	memset(writer, 0, sizeof(*writer));
	writer->type = type;
	writer->n_sections = 1; /* section 0 is none */
}

void elf_writer_deinit(struct elf_writer *writer)
{
	size_t i;

	for (i = 0; i < writer->n_sections; i++)
		el_buffer_deinit(&writer->sections[i].bytes);
	el_buffer_deinit(&writer->names);
	el_buffer_deinit(&writer->symbols);
	el_buffer_deinit(&writer->symbol_names);
}

size_t elf_writer_section(struct elf_writer *writer, const char *name, uint32_t type,
			  uint64_t flags, uint64_t addr)
{
	size_t at = writer->n_sections++;

	writer->sections[at].name = add_name(&writer->names, name);
	writer->sections[at].type = type;
	writer->sections[at].flags = flags;
	writer->sections[at].addr = addr;
	return at;
}

struct el_buffer *elf_writer_bytes(struct elf_writer *writer, size_t section)
{
	return &writer->sections[section].bytes;
}

void elf_writer_symbol(struct elf_writer *writer, const char *name, size_t section, uint64_t value,
		       uint64_t size, uint8_t info)
{
	Elf64_Sym symbol = {
		.st_info = info, .st_shndx = section, .st_value = value, .st_size = size};
	Elf64_Sym none = {0};

	if (!writer->symbols.bytes.n)
		el_buffer_add(&writer->symbols, &none, sizeof(none));
	symbol.st_name = add_name(&writer->symbol_names, name);
	el_buffer_add(&writer->symbols, &symbol, sizeof(symbol));
}

static void add_tables(struct elf_writer *writer)
{
	size_t at;

	if (writer->symbols.bytes.n) {
		at = elf_writer_section(writer, ".symtab", SHT_SYMTAB, 0, 0);
		writer->sections[at].bytes = writer->symbols;
		writer->sections[at].link = at + 1;
		writer->sections[at].entry_size = sizeof(Elf64_Sym);
		memset(&writer->symbols, 0, sizeof(writer->symbols));
		at = elf_writer_section(writer, ".strtab", SHT_STRTAB, 0, 0);
		writer->sections[at].bytes = writer->symbol_names;
		memset(&writer->symbol_names, 0, sizeof(writer->symbol_names));
	}
	at = elf_writer_section(writer, ".shstrtab", SHT_STRTAB, 0, 0);
	writer->sections[at].bytes = writer->names;
	memset(&writer->names, 0, sizeof(writer->names));
}

void *elf_writer_finish(struct elf_writer *writer, size_t *size)
{
	Elf64_Ehdr header = {.e_type = writer->type,
			     .e_machine = EM_X86_64,
			     .e_version = EV_CURRENT,
			     .e_entry = writer->entry,
			     .e_ehsize = sizeof(header),
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_shentsize = sizeof(Elf64_Shdr)};
	Elf64_Shdr sections[ELF_WRITER_SECTIONS] = {0};
	Elf64_Phdr segments[ELF_WRITER_SECTIONS] = {0};
	struct el_buffer file = {0};
	size_t i, n_segments = 0;

	add_tables(writer);
	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	header.e_ident[EI_VERSION] = EV_CURRENT;
	header.e_shnum = writer->n_sections;
	header.e_shstrndx = writer->n_sections - 1;
	el_buffer_add(&file, &header, sizeof(header));
	for (i = 1; i < writer->n_sections; i++) {
		struct el_buffer *bytes = &writer->sections[i].bytes;

		sections[i] = (Elf64_Shdr){.sh_name = writer->sections[i].name,
					   .sh_type = writer->sections[i].type,
					   .sh_flags = writer->sections[i].flags,
					   .sh_addr = writer->sections[i].addr,
					   .sh_offset = file.bytes.n,
					   .sh_size = bytes->bytes.n,
					   .sh_link = writer->sections[i].link,
					   .sh_entsize = writer->sections[i].entry_size};
		if ((sections[i].sh_flags & SHF_ALLOC) && writer->type != ET_REL)
			segments[n_segments++] = (Elf64_Phdr){
				.p_type = PT_LOAD,
				.p_flags = PF_R | (sections[i].sh_flags & SHF_EXECINSTR ? PF_X : 0),
				.p_offset = file.bytes.n,
				.p_vaddr = sections[i].sh_addr,
				.p_filesz = bytes->bytes.n,
				.p_memsz = bytes->bytes.n};
		el_buffer_add(&file, bytes->bytes.at, bytes->bytes.n);
	}
	header.e_phoff = file.bytes.n;
	header.e_phnum = n_segments;
	el_buffer_add(&file, segments, n_segments * sizeof(*segments));
	header.e_shoff = file.bytes.n;
	el_buffer_add(&file, sections, writer->n_sections * sizeof(*sections));
	memcpy(file.bytes.at, &header, sizeof(header));
	*size = file.bytes.n;
	return file.bytes.at;
}
