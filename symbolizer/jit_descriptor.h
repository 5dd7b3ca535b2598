/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where `__jit_debug_descriptor` is in the files a process maps: an exported
 * symbol of LLVM's shared library, or a local one of a library that has LLVM
 * inside. Each file is searched once, whatever number of processes map it, and
 * only its string tables are, which is all there is to read for most.
 */
#ifndef EL_JIT_DESCRIPTOR_H
#define EL_JIT_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizer/symbolizer.h"

/* What is known of files, for all images. */
struct el_jit_descriptors;

int el_jit_descriptors_new(struct el_jit_descriptors **ret);
void el_jit_descriptors_hold(struct el_jit_descriptors *descriptors);
/* True when that was the last hold and it is gone. */
bool el_jit_descriptors_put(struct el_jit_descriptors *descriptors);
/* The descriptor's run-time address in a mapping. 0, -ENOENT: it has none, or -errno. */
int el_jit_descriptors_look(struct el_jit_descriptors *descriptors, const struct el_source *source,
			    const struct el_image *image, const struct el_mapping *mapping,
			    uint64_t *ret);

#endif
