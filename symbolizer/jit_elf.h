/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ELF images of generated code as a process registers them (LLVM's MCJIT and
 * ORC): relocatable files whose section headers hold run-time addresses while
 * their debug sections are not relocated yet. x86-64 and AArch64 psABI,
 * "Relocation"; 64-bit little-endian only. Nothing in them is trusted.
 */
#ifndef EL_JIT_ELF_H
#define EL_JIT_ELF_H

#include <stdbool.h>
#include <stddef.h>

struct el_jit_elf {
	bool is_numba; /* it holds a symbol that only Numba makes */
	size_t n_relocated;
};

/*
 * Relocates the debug sections of `bytes` in place and takes their relocations
 * out, so that no reader applies them again. 0, or -ENOEXEC when it is no such
 * image. Relocations that point out of it, or of other types, are left out.
 */
int el_jit_elf_prepare(void *bytes, size_t size, struct el_jit_elf *ret);

#endif
