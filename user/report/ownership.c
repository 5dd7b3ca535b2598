/* SPDX-License-Identifier: Apache-2.0 */
/* See ownership.h. Answers are made once per function, for all of them, when the rules are known.
 */
#include "user/report/ownership.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "user/report/call.h"

/* Where code comes that somebody else maintains. */
static const char *const library_paths[] = {
	/* the distribution and its package managers */
	"/usr/*",
	"/lib/*",
	"/lib32/*",
	"/lib64/*",
	"/libx32/*",
	"/bin/*",
	"/sbin/*",
	"/opt/*",
	"/nix/store/*",
	"/gnu/store/*",
	"/snap/*",
	"/var/lib/*",
	"*/linuxbrew/*",
	/* where distributions build: paths in debug information */
	"/build/*-*/*-[0-9]*/*",
	"/build/reproducible-path/*",
	"/builddir/build/*",
	"./csu/*",
	"*../sysdeps/*",
	"*/sysdeps/*",
	/* Python */
	"*/site-packages/*",
	"*/dist-packages/*",
	"*/.pyenv/versions/*",
	"*/python-build.*/Python-*/*",
	"*/lib/python[23].*/*",
	"*/miniconda3/*",
	"*/anaconda3/*",
	"*/miniforge3/*",
	"*/.venv/lib/*",
	"*/.local/share/uv/python/*",
	"<frozen *",
	"<__array_function__*",
	"<*internals>",
	/* Rust, Go, JavaScript, Java */
	"*/.cargo/registry/*",
	"*/.cargo/git/*",
	"/rustc/*",
	"/rust/deps/*",
	"*/.rustup/*",
	"*/rustlib/src/*",
	"*/go/pkg/mod/*",
	"*/go/src/runtime/*",
	"*/go/src/internal/*",
	"*/sdk/go1.*/*",
	"*/node_modules/*",
	"node:*",
	"*/.nvm/versions/*",
	"*/.sdkman/candidates/*",
	"*/.m2/repository/*",
	/* no file on disk: [kernel], [vdso], [jit] */
	"[[]*",
	"linux-vdso.so.*",
};

/* Names of JIT functions whose file is unknown. */
static const char *const library_names[] = {
	"[[]*",       "numba.*",  "numba::*",         "numpy.*",           "numpy::*",
	"cpython::*", "NRT_*",    "Builtin:*",        "BytecodeHandler:*", "Stub:*",
	"RegExp:*",   "* node:*", "*/node_modules/*",
};

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

struct el_ownership {
	size_t n_functions;
	bool *mine; /* by function */
};

bool el_any_glob_matches(const char *const *globs, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (!fnmatch(globs[i], text, 0))
			return true;
	return false;
}

/* Applies the user's rules to what the built-in ones said. */
static bool decide(bool built_in, const struct el_ownership_rule *rules, size_t n_rules,
		   const char *text)
{
	bool mine = built_in;

	for (size_t i = 0; i < n_rules; i++)
		if (!fnmatch(rules[i].glob, text, 0))
			mine = rules[i].mine;
	return mine;
}

bool el_ownership_path_is_mine(const struct el_ownership_rule *rules, size_t n_rules,
			       const char *path)
{
	return decide(!el_any_glob_matches(library_paths, N_OF(library_paths), path), rules,
		      n_rules, path);
}

struct judge {
	const struct el_profile *profile;
	const struct el_ownership_rule *rules;
	size_t n_rules;
	int8_t *known; /* by string, of paths: 1 mine, -1 not, 0 not asked yet */
};

static bool by_path(struct judge *judge, uint32_t path)
{
	const char *text = el_strings_get(&judge->profile->strings, path);

	if (!judge->known[path])
		judge->known[path] =
			el_ownership_path_is_mine(judge->rules, judge->n_rules, text) ? 1 : -1;
	return judge->known[path] > 0;
}

/* A relative path says nothing about where the code comes from: the object must be the user's too.
 */
static bool by_file(struct judge *judge, uint32_t file, uint32_t object)
{
	const char *text = el_strings_get(&judge->profile->strings, file);

	if (*text == '/' || !object)
		return by_path(judge, file);
	return decide(by_path(judge, file) && by_path(judge, object), judge->rules, judge->n_rules,
		      text);
}

static bool is_mine(struct judge *judge, const struct el_profile_function *function,
		    uint32_t object)
{
	const char *name = el_strings_get(&judge->profile->strings, function->name);
	bool made_at_run_time = function->code == EL_CODE_NUMBA || function->code == EL_CODE_JIT;

	if (function->code == EL_CODE_KERNEL || function->wrapper)
		return false;
	if (function->file)
		return by_file(judge, function->file, made_at_run_time ? 0 : object);
	if (made_at_run_time)
		return decide(!el_any_glob_matches(library_names, N_OF(library_names), name),
			      judge->rules, judge->n_rules, name);
	return object && by_path(judge, object);
}

int el_ownership_new(const struct el_profile *profile, const struct el_ownership_rule *rules,
		     size_t n_rules, struct el_ownership **ret)
{
	struct el_ownership *ownership = calloc(1, sizeof(*ownership));
	el_auto_free int8_t *known = calloc(profile->strings.start.n + 1, sizeof(*known));
	el_auto_free struct el_origin *origins = NULL;
	struct judge judge = {profile, rules, n_rules, known};

	if (ownership)
		ownership->mine = calloc(profile->functions.n + 1, sizeof(*ownership->mine));
	if (!ownership || !ownership->mine || !known || el_origins_of(profile, &origins)) {
		el_ownership_free(ownership);
		return -ENOMEM;
	}
	ownership->n_functions = profile->functions.n;
	for (size_t i = 1; i < profile->functions.n; i++)
		ownership->mine[i] = is_mine(&judge, &profile->functions.at[i],
					     profile->objects.at[origins[i].object].path);
	*ret = ownership;
	return 0;
}

void el_ownership_free(struct el_ownership *ownership)
{
	if (!ownership)
		return;
	free(ownership->mine);
	free(ownership);
}

bool el_ownership_is_mine(const struct el_ownership *ownership, uint32_t function)
{
	return function < ownership->n_functions && ownership->mine[function];
}
