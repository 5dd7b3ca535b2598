/* SPDX-License-Identifier: Apache-2.0 */
/* The parser over the option tables, and --help out of them; see options.h. */
#include "user/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPTIONS 64
#define LONG_BASE 256 /* getopt values of options without a letter start here */

#define AT(member) offsetof(struct el_arguments, member)

const struct el_option el_target_options[] = {
	{'p', "pid", "PID[,PID]", "attach to these processes, their threads and future children",
	 EL_OPTION_STRING, AT(pids)},
	{'a', "all-cpus", NULL, "profile the whole machine", EL_OPTION_FLAG, AT(all_cpus)},
	{'d', "duration", "SECONDS",
	 "stop after this long (default: when the command ends, or Ctrl-C)", EL_OPTION_SECONDS,
	 AT(duration), 0, 0.01, 1e9},
	{'F', "frequency", "HZ", "samples a second on each busy CPU, 1 to 10000 (default 99)",
	 EL_OPTION_COUNT, AT(frequency), 0, 1, 10000},
	{'e', "event", "EVENT",
	 "cpu (default), page-faults, minor-faults, major-faults, context-switches, "
	 "cpu-migrations, cycles, instructions, cache-misses",
	 EL_OPTION_STRING, AT(event)},
	{'c', "count", "COUNT", "a sample every COUNT events, for events other than cpu",
	 EL_OPTION_COUNT, AT(count), 0, 1, 1e15},
	{0, "user-only", NULL, "leave out kernel code and kernel stacks", EL_OPTION_FLAG,
	 AT(user_only)},
	{0, "numba-lines", "on|off|inject",
	 "line information of Numba code in a Python we start: on (default) sets NUMBA_DEBUGINFO, "
	 "off leaves the environment alone, inject also undoes its slow-down",
	 EL_OPTION_STRING, AT(numba_lines)},
	{0, "raw-ip", NULL, "do not move leaf samples back by the one instruction they are late",
	 EL_OPTION_FLAG, AT(raw_ip)},
	{0},
};

const struct el_option el_show_options[] = {
	{0, "all", NULL, "every line, also those the default leaves out", EL_OPTION_FLAG,
	 AT(all_rows)},
	{0, "kind", "KIND",
	 "only samples that ended in code of this kind: native, kernel, Numba, JIT, ...",
	 EL_OPTION_STRING, AT(kind)},
	{0, "min", "PERCENT", "leave out what is under this share", EL_OPTION_PERCENT,
	 AT(min_percent), AT(min_given), 0, 100},
	{0, "file", "GLOB", "only source files that match; can be repeated", EL_OPTION_STRINGS,
	 AT(files)},
	{0, "function", "GLOB", "only functions that match; can be repeated", EL_OPTION_STRINGS,
	 AT(functions)},
	{0, "mine", "GLOB", "source files to treat as your own; can be repeated", EL_OPTION_STRINGS,
	 AT(mine)},
	{0, "library", "GLOB", "source files to treat as a library's; can be repeated",
	 EL_OPTION_STRINGS, AT(libraries)},
	{0, "json", NULL, "print JSON", EL_OPTION_FLAG, AT(json)},
	{0, "color", "always|never", "colour (default: when the output is a terminal)",
	 EL_OPTION_STRING, AT(color)},
	{'v', "verbose", NULL, "all counters of the recording, with what each means",
	 EL_OPTION_FLAG, AT(verbose)},
	{0},
};

/* Calls `visit` for every option of the command; stops at a non-zero answer. */
static int each_option(const struct el_command *command,
		       int (*visit)(void *context, const struct el_option *option), void *context)
{
	int result = 0;

	for (int t = 0; t < EL_MAX_OPTION_TABLES && command->tables[t]; t++)
		for (const struct el_option *option = command->tables[t]; option->name && !result;
		     option++)
			result = visit(context, option);
	return result;
}

struct getopt_tables {
	const struct el_option *options[MAX_OPTIONS];
	struct option longs[MAX_OPTIONS + 2];
	char shorts[3 * MAX_OPTIONS + 4];
	int n;
};

static int add_option(void *context, const struct el_option *option)
{
	struct getopt_tables *tables = context;
	size_t used = strlen(tables->shorts);

	if (tables->n == MAX_OPTIONS)
		return -E2BIG;
	tables->options[tables->n] = option;
	tables->longs[tables->n] = (struct option){
		.name = option->name,
		.has_arg = option->argument ? required_argument : no_argument,
		.val = LONG_BASE + tables->n,
	};
	tables->n++;
	if (option->letter)
		snprintf(tables->shorts + used, sizeof(tables->shorts) - used, "%c%s",
			 option->letter, option->argument ? ":" : "");
	return 0;
}

static const struct el_option *option_of(const struct getopt_tables *tables, int value)
{
	if (value >= LONG_BASE && value < LONG_BASE + tables->n)
		return tables->options[value - LONG_BASE];
	for (int i = 0; i < tables->n; i++)
		if (tables->options[i]->letter == value)
			return tables->options[i];
	return NULL;
}

static int set_number(const struct el_option *option, const char *text, void *value,
		      struct el_error *error)
{
	char *end;
	double number;

	errno = 0;
	number = strtod(text, &end);
	if (errno || end == text || *end || !(number >= option->low && number <= option->high))
		return el_error_set(error, -EINVAL, "--%s %s: must be a number from %.10g to %.10g",
				    option->name, text, option->low, option->high);
	if (option->type != EL_OPTION_COUNT) {
		*(double *)value = number;
		return 0;
	}
	if (number != (double)(uint64_t)number)
		return el_error_set(error, -EINVAL, "--%s %s: must be a whole number", option->name,
				    text);
	*(uint64_t *)value = (uint64_t)number;
	return 0;
}

static int set_value(const struct el_option *option, const char *text,
		     struct el_arguments *arguments, struct el_error *error)
{
	void *value = (char *)arguments + option->value;

	if (option->given)
		*(bool *)((char *)arguments + option->given) = true;
	switch (option->type) {
	case EL_OPTION_FLAG:
		*(bool *)value = true;
		return 0;
	case EL_OPTION_STRING:
		*(const char **)value = text;
		return 0;
	case EL_OPTION_STRINGS:
		return el_vec_push((el_string_list *)value, text);
	case EL_OPTION_COUNT:
	case EL_OPTION_SECONDS:
	case EL_OPTION_PERCENT:
		return set_number(option, text, value, error);
	}
	return -EINVAL;
}

/* Cuts argv at "--": what follows is the program to run, whatever it looks like. */
static int split_command(int argc, char **argv, struct el_arguments *ret, struct el_error *error)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--"))
			continue;
		if (!argv[i + 1])
			return el_error_set(
				error, -EINVAL,
				"no command after \"--\": everline %s -- COMMAND [ARGUMENTS]",
				argv[0]);
		ret->command = argv + i + 1;
		argv[i] = NULL;
		return i;
	}
	return argc;
}

int el_arguments_parse(const struct el_command *command, int argc, char **argv,
		       struct el_arguments *ret, bool *ret_help, struct el_error *error)
{
	struct getopt_tables tables = {.shorts = ":h"};
	const struct el_option *option;
	int value, err;

	*ret = (struct el_arguments){0};
	*ret_help = false;
	err = each_option(command, add_option, &tables);
	if (err)
		return err;
	tables.longs[tables.n] = (struct option){.name = "help", .val = 'h'};
	argc = split_command(argc, argv, ret, error);
	if (argc < 0)
		return argc;
	optind = 0;
	while ((value = getopt_long(argc, argv, tables.shorts, tables.longs, NULL)) != -1) {
		if (value == 'h') {
			*ret_help = true;
			return 0;
		}
		option = option_of(&tables, value);
		if (value == ':')
			return el_error_set(error, -EINVAL,
					    "%s needs a value: see everline %s --help",
					    argv[optind - 1], command->name);
		if (!option)
			return el_error_set(error, -EINVAL,
					    "unknown option %s: see everline %s --help",
					    argv[optind - 1], command->name);
		err = set_value(option, optarg, ret, error);
		if (err)
			return err;
	}
	for (; optind < argc && !err; optind++)
		err = el_vec_push(&ret->operands, argv[optind]);
	return err;
}

void el_arguments_deinit(struct el_arguments *arguments)
{
	el_vec_deinit(&arguments->files);
	el_vec_deinit(&arguments->functions);
	el_vec_deinit(&arguments->mine);
	el_vec_deinit(&arguments->libraries);
	el_vec_deinit(&arguments->operands);
}

/* One option in --help, its text folded at 80 columns behind a margin. */
static int print_option(void *context, const struct el_option *option)
{
	const char *text = option->help;
	const int margin = 28, width = 80 - margin;
	char head[64], letter[8] = "    ";

	(void)context;
	if (option->letter)
		snprintf(letter, sizeof(letter), "-%c, ", option->letter);
	snprintf(head, sizeof(head), "  %s--%s%s%s", letter, option->name,
		 option->argument ? " " : "", option->argument ? option->argument : "");
	printf("%-*s", margin, head);
	if (strlen(head) >= (size_t)margin)
		printf("\n%*s", margin, "");
	while (strlen(text) > (size_t)width) {
		int cut = width;

		while (cut > 0 && text[cut] != ' ')
			cut--;
		if (!cut)
			break;
		printf("%.*s\n%*s", cut, text, margin, "");
		text += cut + 1;
	}
	printf("%s\n", text);
	return 0;
}

void el_command_help(const struct el_command *command)
{
	printf("everline %s: %s\n\nUsage:\n%s\n%s\nOptions:\n", command->name, command->summary,
	       command->usage, command->description);
	each_option(command, print_option, NULL);
	printf("  -h, --help                this text\n\nExamples:\n%s\nExit status:\n%s",
	       command->examples, command->exit_codes);
}
