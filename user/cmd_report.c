/* SPDX-License-Identifier: Apache-2.0 */
/* `everline report`: tables of a recorded profile. */
#include <errno.h>

#include "user/commands.h"
#include "user/show.h"

#define AT(member) offsetof(struct el_arguments, member)

static const struct el_option options[] = {
	{0, "by", "line|function|file|module|process|thread",
	 "what a row stands for (default function)", EL_OPTION_STRING, AT(by)},
	{0, "cum", NULL, "largest cum first, instead of flat", EL_OPTION_FLAG, AT(by_cum)},
	{0},
};

static int run(const struct el_arguments *arguments, struct el_error *error)
{
	struct el_profile *profile;
	int err;

	if (arguments->operands.n != 1 || arguments->command)
		return el_error_set(
			error, -EINVAL,
			"give one profile: everline report FILE --by function (see --help)");
	err = el_show_load(arguments->operands.at[0], &profile, error);
	if (err)
		return err;
	err = el_show("table", arguments, profile, error);
	el_profile_free(profile);
	return err;
}

const struct el_command el_command_report = {
	.name = "report",
	.summary = "tables of a profile: flat and cumulative, by line, function, file, ...",
	.usage = "  everline report FILE [--by line|function|file|module|process|thread] "
		 "[OPTIONS]\n",
	.description =
		"flat is what was spent in the row itself, cum what was spent in it or in what it\n"
		"called; sum% adds up flat%. FILE is any pprof profile; \"-\" is standard input.\n",
	.tables = {options, el_show_options},
	.examples = "  everline report everline.pb.gz --by line\n"
		    "  everline report everline.pb.gz --by function --cum --all\n"
		    "  everline report everline.pb.gz --by module --json\n",
	.exit_codes = "  0 done, 1 it failed (a damaged file, a full disk), 2 the options make no "
		      "sense\n",
	.run = run,
};
