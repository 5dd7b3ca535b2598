/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one place where shares, columns and intervals are computed: a profile
 * seen by line, function, file, module, process, thread or address. Renderers
 * print what is here and compute nothing.
 *
 * A frame is one line of a location, so inlined functions are frames of their
 * own. flat: the leaf frame is the row's. cum: any frame of the stack is the
 * row's, counted once however often it occurs (recursion). Hence
 * sum of flat = total, and flat <= cum <= total. In the views by process and
 * thread, flat = cum.
 *
 * A view refers to its profile, which must outlive it and stay unchanged.
 */
#ifndef EL_VIEW_H
#define EL_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "user/profile/profile.h"

/* X(NAME, name, help): what --by takes. */
#define EL_VIEW_KEYS(X)                                                                            \
	X(LINE, "line", "source lines")                                                            \
	X(FUNCTION, "function", "functions")                                                       \
	X(FILE, "file", "source files")                                                            \
	X(MODULE, "module", "programs, libraries, JIT code and the kernel")                        \
	X(PROCESS, "process", "processes")                                                         \
	X(THREAD, "thread", "threads")                                                             \
	X(ADDRESS, "address", "instruction addresses")

enum el_view_by {
#define X(name, text, help) EL_VIEW_BY_##name,
	EL_VIEW_KEYS(X)
#undef X
		EL_N_VIEWS
};

/* 0, or -EINVAL when there is no view of that name. */
int el_view_by_find(const char *name, enum el_view_by *ret);
const char *el_view_by_name(enum el_view_by by);

/* Whether a function is the user's own code; asked once per function. */
typedef bool el_view_mine(void *context, const struct el_profile *profile, uint32_t function);

struct el_view_options {
	enum el_view_by by;
	uint32_t value;     /* which value type, counted from 1; 0: the last */
	uint32_t codes;     /* set of 1 << enum el_code: samples whose leaf is of these; 0: all */
	uint32_t pid;       /* only this process; 0: all */
	uint32_t tid;       /* only this thread; 0: all */
	bool sort_cum;      /* largest cum first, not flat */
	el_view_mine *mine; /* NULL: nothing is the user's own */
	void *mine_context;
};

/* Which members name the row depends on the view; the others are 0. */
struct el_view_row {
	uint32_t function; /* line, function; address: of the innermost line. 0: nothing is known */
	uint32_t line;     /* line, address */
	uint32_t file;     /* string; line, function, file, address */
	uint32_t object; /* module, address; line and function when function is 0, file when file is
			  */
	uint32_t location; /* address */
	uint32_t process;  /* process, thread */
	uint32_t tid;      /* thread */
	uint32_t thread;   /* string; thread */
	uint16_t miss;     /* enum el_miss, when function is 0; file: when file is */
	bool mine;         /* line, function: the user's own code */
	uint64_t flat;
	uint64_t cum;
	uint64_t sum; /* flat of this row and of those before it */
	/* The row is the user's own and the innermost such frame of the stack: what its
	 * libraries do, inlined or called, is credited to it. */
	uint64_t own;
	/* Part of flat, of a row that is not the user's own: inlined into the user's own code. */
	uint64_t into_mine;
	uint64_t n_flat; /* samples (first value type) behind flat */
	uint64_t n_cum;
};

/* In the view by line: self time of other lines inlined straight or deeper into a line of the
 * user's own. */
struct el_view_inlined {
	uint32_t row;  /* the user's line, in rows */
	uint32_t from; /* the inlined leaf line, in rows */
	uint64_t flat;
};

struct el_view {
	const struct el_profile *profile;
	enum el_view_by by;
	uint32_t value; /* index of the value type */
	uint64_t total; /* of the samples that pass the filters; shares are of it */
	uint64_t n_samples;
	double n_effective; /* (sum w)^2 / sum w^2 over the samples: what intervals are made from */
	uint64_t own_total; /* sum of own: stacks with any frame of the user's own */
	/* total = sum of code[] + sum of miss[] + no_stack, by the leaf. */
	uint64_t code[EL_N_CODES];              /* where the function or its module is known */
	uint64_t miss[EL_N_MISSES];             /* unknown, by cause */
	uint64_t no_stack;                      /* samples without any frame */
	EL_VEC(struct el_view_row) rows;        /* largest first; equal ones by name */
	EL_VEC(struct el_view_inlined) inlined; /* by row, largest first */
};

/* 0, -EINVAL for a value type that is not there, or -ENOMEM. */
int el_view_new(const struct el_profile *profile, const struct el_view_options *options,
		struct el_view **ret);
void el_view_free(struct el_view *view);

/* Puts the rows in another order and sums them anew; 0 or -ENOMEM. */
int el_view_sort(struct el_view *view, bool cum);

/* The row's name as pprof prints it: "function file:line", "file", "comm (pid)". Not escaped.
 * Length as snprintf's. */
size_t el_view_row_name(const struct el_view *view, const struct el_view_row *row, char *name,
			size_t size);

/* A part in percent of the view's total; 0 when that is 0. */
double el_view_percent(const struct el_view *view, uint64_t part);

/* Wilson's 95 % interval of a share that was seen in n samples; all fractions. */
void el_share_interval(double share, double n, double *ret_low, double *ret_high);
/* The same for a part of the view's total, in percent. */
void el_view_interval(const struct el_view *view, uint64_t part, double *ret_low, double *ret_high);
/* Half the interval's width in percent for a share of one half, the widest: "a share is good to
 * +-". */
double el_view_precision(const struct el_view *view);

#endif
