/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line: every option is a row of a table, and the tables feed the
 * parser and --help alike. A command is a row too. Knows nothing of what the
 * options do.
 */
#ifndef EL_OPTIONS_H
#define EL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"

/* Exit statuses of our own; a command that was run passes its own through. */
enum el_exit {
	EL_EXIT_OK = 0,
	EL_EXIT_FAILED = 1,
	EL_EXIT_USAGE = 2,
	EL_EXIT_NOT_EXECUTABLE = 126,
	EL_EXIT_NOT_FOUND = 127,
	EL_EXIT_SIGNAL = 128, /* plus the signal's number */
};

typedef EL_VEC(const char *) el_string_list;

/* Values of all options of all commands; a command reads those in its tables. */
struct el_arguments {
	/* what to record */
	uint64_t frequency;
	const char *event;
	uint64_t count;
	const char *pids;
	bool all_cpus;
	double duration;
	bool user_only;
	const char *numba_lines;
	bool raw_ip;
	/* where to */
	const char *output;
	double every;
	uint64_t keep;
	const char *reports;
	/* what to show */
	const char *by;
	const char *kind;
	bool by_cum;
	bool all_rows;
	double min_percent;
	bool min_given;
	el_string_list files, functions, mine, libraries;
	uint64_t context;
	bool context_given;
	bool json;
	const char *color;
	bool verbose;
	/* the rest of the line */
	el_string_list operands;
	char **command; /* after "--", NULL-terminated, or NULL */
};

enum el_option_type {
	EL_OPTION_FLAG,    /* bool */
	EL_OPTION_STRING,  /* const char * */
	EL_OPTION_STRINGS, /* el_string_list, repeatable */
	EL_OPTION_COUNT,   /* uint64_t, within low..high */
	EL_OPTION_SECONDS, /* double, within low..high */
	EL_OPTION_PERCENT, /* double, within low..high */
};

struct el_option {
	char letter; /* 0: none */
	const char *name;
	const char *argument; /* its name in --help, NULL for flags */
	const char *help;
	enum el_option_type type;
	size_t value; /* offset in struct el_arguments */
	size_t given; /* offset of a bool that is set too; 0: none */
	double low, high;
};

#define EL_MAX_OPTION_TABLES 4

struct el_command {
	const char *name;
	const char *summary;
	const char *usage; /* lines after "everline NAME " */
	const char *description;
	const struct el_option
		*tables[EL_MAX_OPTION_TABLES]; /* each ended by a row without a name */
	const char *examples;
	const char *exit_codes;
	int (*run)(const struct el_arguments *arguments, struct el_error *error);
};

/* The tables that commands share. */
extern const struct el_option el_target_options[];
extern const struct el_option el_show_options[];

/* Fills `ret`, which el_arguments_deinit() releases. -EINVAL with a sentence. Sets *ret_help for
 * --help. */
int el_arguments_parse(const struct el_command *command, int argc, char **argv,
		       struct el_arguments *ret, bool *ret_help, struct el_error *error);
void el_arguments_deinit(struct el_arguments *arguments);
void el_command_help(const struct el_command *command);

#endif
