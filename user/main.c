/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands; the only place that prints an error or decides an exit status. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "user/commands.h"
#include "user/report/escape.h"

static const struct el_command *const commands[] = {
	&el_command_annotate,
	&el_command_record,
	&el_command_report,
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void help(FILE *out)
{
	fprintf(out, "everline: which lines burn the CPU, shown in the source itself\n\n"
		     "Usage: everline COMMAND [OPTIONS]\n\n");
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
	fprintf(out, "\nStart with:\n"
		     "  everline annotate -- python3 program.py\n"
		     "  everline annotate -p 4242 -d 10\n\n"
		     "everline COMMAND --help tells the rest; --version the version.\n");
}

static void complain(const struct el_error *error)
{
	fputs("everline: ", stderr);
	el_escape_write(stderr, error->text, strlen(error->text));
	fputc('\n', stderr);
}

/*
 * Closed standard descriptors stay unusable, but taken: else the next socket
 * or event gets their number, and our messages.
 */
static void take_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC) < 0)
			return;
}

/* Help that nobody could read is no success. */
static int printed(void)
{
	struct el_error error;

	if (!fflush(stdout) && !ferror(stdout))
		return EL_EXIT_OK;
	el_error_set(&error, -errno, "cannot write the help: %s", strerror(errno));
	complain(&error);
	return EL_EXIT_FAILED;
}

static const struct el_command *command_of(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static int run(const struct el_command *command, int argc, char **argv)
{
	struct el_error error = {.text = "out of memory"};
	struct el_arguments arguments;
	bool wants_help;
	int result = el_arguments_parse(command, argc, argv, &arguments, &wants_help, &error);

	if (result) {
		complain(&error);
		return EL_EXIT_USAGE;
	}
	if (wants_help) {
		el_command_help(command);
		return printed();
	}
	result = command->run(&arguments, &error);
	el_arguments_deinit(&arguments);
	if (result >= 0)
		return result;
	if (result == -EPIPE) /* the reader has seen enough, as in `| head` */
		return EL_EXIT_SIGNAL + SIGPIPE;
	complain(&error);
	if (error.exit_status)
		return error.exit_status;
	return result == -EINVAL ? EL_EXIT_USAGE : EL_EXIT_FAILED;
}

int main(int argc, char **argv)
{
	const struct el_command *command;

	take_standard_descriptors();
	if (argc < 2) {
		help(stderr);
		return EL_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		help(stdout);
		return printed();
	}
	if (!strcmp(argv[1], "--version")) {
		printf("everline %s\n", EL_VERSION);
		return printed();
	}
	command = command_of(argv[1]);
	if (!command) {
		struct el_error error;

		el_error_set(&error, 0, "%s is not a command: see everline --help", argv[1]);
		complain(&error);
		return EL_EXIT_USAGE;
	}
	return run(command, argc - 1, argv + 1);
}
