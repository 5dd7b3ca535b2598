/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles to render: made by the builder, with the source files they name
 * written into a folder of the test's own, which becomes the current one.
 */
#ifndef EL_TEST_REPORT_PROFILES_H
#define EL_TEST_REPORT_PROFILES_H

#include "user/profile/profile.h"

/* Where no source can be: library paths that no machine has. */
#define NUMBA_FILE "/opt/no-such/site-packages/numba/np/arraymath.py"

/* Makes the folder and enters it; leaves and removes it again. */
void sources_enter(void);
void sources_leave(void);
/* A file in it, last changed at `changed` (seconds of the wall clock). */
void source_write(const char *name, const char *text, long changed);

/* A Numba loop with an inlined library line, CPython around it, the kernel, lost JIT code. */
struct el_profile *dither_profile(void);
/* A C program: a long function, an inlined helper of its own, a library without lines it calls. */
struct el_profile *program_profile(void);
/* Page faults, each counted. */
struct el_profile *faults_profile(void);
/* A service that mostly waits, JIT names without lines, few samples. */
struct el_profile *service_profile(void);
/* Every name is `bytes`, as is the source file's text; 100 samples. */
struct el_profile *hostile_profile(const char *bytes);
/* n samples, each with a stack of its own. */
struct el_profile *large_profile(unsigned int n);

#endif
