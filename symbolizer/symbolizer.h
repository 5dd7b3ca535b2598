/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symbolizer library: (image, address, time) -> function, file, line and
 * inline chain, for ELF files, JIT code, perf maps and the kernel.
 *
 * It opens nothing and reads no other process: bytes and descriptors come
 * from the `el_source` its user gives. It keeps no global state, prints
 * nothing, and is used from one thread at a time per symbolizer.
 *
 * A question that has no answer is a miss (enum el_miss), which is data; an
 * error is a negative errno, and then the out-parameters are untouched.
 * Everything an answer points to lives in the el_answer that the caller
 * passed in and frees. Strings are as found: whoever prints them escapes.
 */
#ifndef EL_SYMBOLIZER_H
#define EL_SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/strings.h"
#include "base/vec.h"

#define EL_BUILD_ID_MAX 20

/* X(name, short label, sentence): why an address has no function or no line. */
#define EL_MISSES(X)                                                                               \
	X(NONE, "", "resolved")                                                                    \
	X(NO_LINE, "no line", "the function is known, its line is not: no line information")       \
	X(NO_SYMBOL, "no symbols",                                                                 \
	  "the file has no symbols; the function's bounds come from unwind information")           \
	X(NO_FUNCTION, "no function", "no symbol and no unwind information covers the address")    \
	X(NO_MAPPING, "unmapped", "no mapping of the process covers the address")                  \
	X(NO_FILE, "file gone", "the mapped file could not be opened")                             \
	X(STALE_FILE, "file replaced", "the file on disk is not the one that was mapped")          \
	X(BAD_FILE, "bad file", "the file is damaged or of an unknown form")                       \
	X(JIT_UNKNOWN, "JIT code, no names", "code made at run time that nothing describes")       \
	X(JIT_GONE, "JIT code gone", "code made at run time that was gone before it was read")     \
	X(UNREADABLE, "unreadable", "memory of the process could not be read")                     \
	X(KERNEL_HIDDEN, "kernel addresses hidden",                                                \
	  "the kernel does not show its symbol addresses")                                         \
	X(QUARANTINED, "quarantined", "the input made the parser fail and is not tried again")     \
	X(NO_STACK, "no stack", "the sample came without any frame")

enum el_miss {
#define X(name, label, sentence) EL_MISS_##name,
	EL_MISSES(X)
#undef X
		EL_N_MISSES
};

/* X(name, label): what kind of code a function is. Reports split by it. */
#define EL_CODES(X)                                                                                \
	X(UNKNOWN, "unknown")                                                                      \
	X(NATIVE, "native")                                                                        \
	X(KERNEL, "kernel")                                                                        \
	X(NUMBA, "Numba")                                                                          \
	X(JIT, "JIT")                                                                              \
	X(PYTHON, "Python")

enum el_code {
#define X(name, label) EL_CODE_##name,
	EL_CODES(X)
#undef X
		EL_N_CODES
};

/* What an address stands for; see pc.h for what each does to it. */
enum el_pc {
	EL_PC_EXACT,  /* the instruction itself */
	EL_PC_RETURN, /* the call is before it */
	EL_PC_LATE,   /* a clock's leaf: one instruction late, unless a jump leads here */
};

/* A process image as its user names it. Ids are the user's, never reused. */
struct el_image {
	uint32_t id;
	uint32_t pid;      /* initial PID namespace */
	uint64_t start_ns; /* start of the process, ns since boot */
};

enum el_mapping_flags {
	EL_MAPPING_FILE = 1 << 0,
	EL_MAPPING_ANONYMOUS = 1 << 1, /* executable memory without a file */
	EL_MAPPING_VDSO = 1 << 2,
	EL_MAPPING_KERNEL = 1 << 3, /* the kernel and its modules: one mapping, image id 0 */
	EL_MAPPING_WHOLE =
		1 << 4, /* with FILE: addresses are the object's own, nothing is mapped */
};

/* An executable mapping of one image. Ids are the user's, never reused; 0 is none. */
struct el_mapping {
	uint32_t id;
	uint32_t flags; /* enum el_mapping_flags */
	uint64_t start;
	uint64_t end;
	uint64_t offset;               /* of `start` in the file */
	uint32_t dev_major, dev_minor; /* 0:0 when unknown */
	uint64_t inode;                /* 0 when unknown */
	uint8_t build_id[EL_BUILD_ID_MAX];
	uint8_t build_id_size; /* 0 when unknown */
	const char *path;      /* as the kernel gives it, relative to the process's root; copied */
};

/* A separate debug file: by build ID, or by .gnu_debuglink beside `path`. */
struct el_debug_request {
	const uint8_t *build_id;
	size_t build_id_size;  /* 0: none */
	const char *debuglink; /* file name without folder, or NULL */
	const char *path;      /* of the object that asks */
};

/*
 * Where bytes come from. Descriptors are read-only, seekable and belong to
 * the symbolizer afterwards; each call returns -errno when it has none:
 * -ENOENT not there, -ESTALE another file now, -EACCES refused, -ETIMEDOUT.
 */
struct el_source {
	void *context;
	int (*open_mapping)(void *context, const struct el_image *image,
			    const struct el_mapping *mapping);
	int (*open_debug)(void *context, const struct el_image *image,
			  const struct el_debug_request *request);
	int (*open_perf_map)(void *context, const struct el_image *image);
	int (*open_kallsyms)(void *context);
	/* Bytes read, at most `size`, fewer at an unreadable page; -errno when none. */
	ssize_t (*read_memory)(void *context, const struct el_image *image, uint64_t addr,
			       void *bytes, size_t size);
	/* Optional. Called before untrusted input is parsed, with its identity, and with 0
	 * afterwards: after a crash the user knows what to quarantine. Returns true to refuse the
	 * input. */
	bool (*parsing)(void *context, uint64_t identity);
	/* Optional. Now, CLOCK_MONOTONIC ns. */
	uint64_t (*now)(void *context);
};

struct el_symbolizer_options {
	size_t cache_limit; /* bytes of indexes and files kept; 0: 256 MiB */
	bool no_skid;       /* treat EL_PC_LATE as EL_PC_EXACT */
};

struct el_query {
	uint64_t addr;
	uint64_t time_ns; /* of the sample; which JIT code was there then */
	uint32_t mapping; /* id; 0: none covers it */
	uint32_t pc;      /* enum el_pc */
};

/* Index tables. Index 0 of functions, objects and locations is "none". */
struct el_answer_object {
	uint32_t path; /* string; JIT images "[numba]", "[jit]", the kernel "[kernel]", modules
			  "[name]" */
	uint8_t build_id[EL_BUILD_ID_MAX];
	uint8_t build_id_size;
	uint8_t code;      /* enum el_code of what lives in it */
	uint8_t has_lines; /* some line information was found */
	uint8_t reserved;
	uint64_t built_ns; /* wall clock, mtime of the file; 0 unknown */
};

struct el_answer_function {
	uint32_t name;        /* string: demangled, or fn+0xSTART, or "[unknown]" like */
	uint32_t system_name; /* string: as in the object */
	uint32_t file;        /* string: absolute where the build told, "" unknown */
	uint32_t start_line;  /* 0 unknown */
	uint8_t code;         /* enum el_code */
	uint8_t wrapper;      /* generated glue (a Numba wrapper): reports may fold it */
	uint16_t reserved;
};

struct el_answer_line {
	uint32_t function;
	uint32_t line;   /* 0 unknown */
	uint32_t column; /* 0 unknown */
};

enum el_location_flags {
	EL_LOCATION_LINE_BORROWED =
		1 << 0, /* the row says line 0; the line is the nearest before it in the function */
	EL_LOCATION_SKID = 1 << 1, /* a late address was moved back by one instruction */
};

struct el_answer_location {
	uint32_t object;
	uint32_t first_line; /* into lines, innermost inline first */
	uint32_t n_lines;    /* 0 when the miss left nothing to say */
	uint16_t miss;       /* enum el_miss */
	uint16_t flags;      /* enum el_location_flags */
	uint64_t addr;       /* in the object's own terms: ELF virtual address */
};

struct el_answer {
	struct el_strings strings;
	EL_VEC(struct el_answer_object) objects;
	EL_VEC(struct el_answer_function) functions;
	EL_VEC(struct el_answer_line) lines;
	EL_VEC(struct el_answer_location) locations;
	EL_VEC(uint32_t) by_query; /* location of query i */
};

struct el_symbolizer;

int el_symbolizer_new(const struct el_source *source, const struct el_symbolizer_options *options,
		      struct el_symbolizer **ret);
void el_symbolizer_free(struct el_symbolizer *symbolizer);

int el_answer_init(struct el_answer *answer);
void el_answer_deinit(struct el_answer *answer);

int el_symbolizer_add_image(struct el_symbolizer *symbolizer, const struct el_image *image);
/* The image is dead: it will be asked about past times only, its memory is not read again. */
int el_symbolizer_end_image(struct el_symbolizer *symbolizer, uint32_t image);
/* Nothing will be asked about it any more. */
void el_symbolizer_drop_image(struct el_symbolizer *symbolizer, uint32_t image);

/* Announces a mapping and acquires its file now, while it is there; parsing waits for a question.
 */
int el_symbolizer_add_mapping(struct el_symbolizer *symbolizer, uint32_t image,
			      const struct el_mapping *mapping);

/* Reads what lives in the process and changes: GDB JIT list, perf map. Cheap when nothing changed.
 */
int el_symbolizer_refresh(struct el_symbolizer *symbolizer, uint32_t image);

/* Answers `n` queries about one image; appends to `answer`, whose tables are shared by all its
 * queries. */
int el_symbolizer_resolve(struct el_symbolizer *symbolizer, uint32_t image,
			  const struct el_query *queries, size_t n, struct el_answer *answer);

/* Gives back what can be made again, down to `limit` bytes; 0 gives back everything. */
void el_symbolizer_evict(struct el_symbolizer *symbolizer, size_t limit);

struct el_symbolizer_stats {
	uint64_t objects, units_indexed, evictions, jit_objects, jit_refused, perf_map_entries,
		perf_map_bad_lines,
		perf_maps_refused, /* not a plain file of its process, or too large */
		jit_lists_cut;     /* reads of JIT lists that met damage, a cycle or a change */
	size_t cached_bytes;
};
void el_symbolizer_stats(const struct el_symbolizer *symbolizer, struct el_symbolizer_stats *ret);

const char *el_miss_label(enum el_miss miss);
const char *el_miss_sentence(enum el_miss miss);
const char *el_code_label(enum el_code code);

#endif
