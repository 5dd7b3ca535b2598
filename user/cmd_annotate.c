/* SPDX-License-Identifier: Apache-2.0 */
/* `everline annotate`: the source with a share on every hot line, of a file or of a program run
 * now. */
#include <errno.h>
#include <stdio.h>

#include "user/commands.h"
#include "user/profile/pprof.h"
#include "user/session.h"
#include "user/show.h"

#define AT(member) offsetof(struct el_arguments, member)

static const struct el_option options[] = {
	{0, "context", "N", "cold lines to show around hot ones (default 2)", EL_OPTION_COUNT,
	 AT(context), AT(context_given), 0, 1000},
	{'o', "output", "FILE", "keep the profile as well", EL_OPTION_STRING, AT(output)},
	{0},
};

static int keep_profile(void *context, struct el_profile *profile, struct el_error *error)
{
	(void)error;
	*(struct el_profile **)context = profile;
	return 0;
}

static int check(const struct el_arguments *arguments, struct el_error *error)
{
	bool wanted = el_session_wanted(arguments);

	if (arguments->operands.n > 1 || (arguments->operands.n && wanted))
		return el_error_set(error, -EINVAL,
				    "%s: one thing at a time: a FILE, -- COMMAND, -p PID or -a",
				    arguments->operands.at[arguments->operands.n - 1]);
	if (!arguments->operands.n && !wanted)
		return el_error_set(error, -EINVAL,
				    "nothing to annotate: give a FILE, -- COMMAND, -p PID or -a "
				    "(see everline annotate --help)");
	return 0;
}

static int run(const struct el_arguments *arguments, struct el_error *error)
{
	struct el_session_result result = {0};
	struct el_profile *profile = NULL;
	int err = check(arguments, error);

	if (!err && arguments->operands.n)
		err = el_show_load(arguments->operands.at[0], &profile, error);
	else if (!err)
		err = el_session_run(arguments, keep_profile, &profile, &result, error);
	if (!err && arguments->output)
		err = el_pprof_save(profile, arguments->output, error);
	if (!err)
		err = el_show("lines", arguments, profile, error);
	el_profile_free(profile);
	return err ? err : result.exit_code;
}

const struct el_command el_command_annotate = {
	.name = "annotate",
	.summary = "the source of a program with a share on every hot line",
	.usage = "  everline annotate [OPTIONS] -- COMMAND [ARGUMENTS]\n"
		 "  everline annotate [OPTIONS] -p PID[,PID] [-d SECONDS]\n"
		 "  everline annotate [OPTIONS] FILE\n",
	.description = "self is what was spent on the line itself, total what was spent on it or "
		       "in what it\n"
		       "called. Your own files come first, then libraries; hottest first.\n"
		       "The program's output is left alone; the report comes last.\n",
	.tables = {options, el_show_options, el_target_options},
	.examples = "  everline annotate -- python3 program.py\n"
		    "  everline annotate -F 997 -- ./program input.txt\n"
		    "  everline annotate -p 4242 -d 10\n"
		    "  everline annotate everline.pb.gz --function 'main*' --all\n",
	.exit_codes =
		"  that of the command when one was run; 0 otherwise;\n"
		"  1 it failed, 2 the options make no sense, 126 the command cannot be executed,\n"
		"  127 there is no such command, 128+N the command was ended by signal N\n",
	.run = run,
};
