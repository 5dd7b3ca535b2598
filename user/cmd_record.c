/* SPDX-License-Identifier: Apache-2.0 */
/* `everline record`: a recording into a pprof file, or one file a window into a folder. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "user/commands.h"
#include "user/profile/pprof.h"
#include "user/session.h"
#include "user/windows.h"

#define DEFAULT_FILE "everline.pb.gz"
#define DEFAULT_FOLDER "everline"

#define AT(member) offsetof(struct el_arguments, member)

static const struct el_option options[] = {
	{'o', "output", "PATH",
	 "the file (default " DEFAULT_FILE "); with --every the folder (default " DEFAULT_FOLDER
	 ")",
	 EL_OPTION_STRING, AT(output)},
	{0, "every", "SECONDS", "write a profile of each such window, without a gap between them",
	 EL_OPTION_SECONDS, AT(every), 0, 0.1, 1e7},
	{0, "keep", "N", "keep the newest N windows (default: all)", EL_OPTION_COUNT, AT(keep), 0,
	 1, 1e9},
	{0, "report", "LIST",
	 "text reports of each window: lines,functions,files,modules,processes,threads",
	 EL_OPTION_STRING, AT(reports)},
	{0},
};

static uint64_t samples_of(const struct el_profile *profile)
{
	uint64_t n = 0;

	for (size_t i = 0; i < profile->samples.n; i++)
		n += profile->samples.at[i].values[0];
	return n;
}

/* Before minutes of recording rather than after: can the file be made? */
static int check_writable(const char *path, struct el_error *error)
{
	char folder[4096];
	char *slash;

	snprintf(folder, sizeof(folder), "%s", path);
	slash = strrchr(folder, '/');
	if (slash)
		slash[slash == folder] = '\0';
	if (!access(slash ? folder : ".", W_OK | X_OK))
		return 0;
	return el_error_set(error, -errno, "cannot write %s: %s. Give another file with -o", path,
			    strerror(errno));
}

static int write_file(void *context, struct el_profile *profile, struct el_error *error)
{
	const char *path = context;
	int err = el_pprof_save(profile, path, error);

	if (!err)
		fprintf(stderr, "everline: %llu samples in %s. Next: everline annotate %s\n",
			(unsigned long long)samples_of(profile), path, path);
	el_profile_free(profile);
	return err;
}

/* A window that cannot be kept is said and counted; the recording is worth more than it. */
static int write_window(void *context, struct el_profile *profile, struct el_error *error)
{
	struct el_windows *windows = context;
	int err = el_windows_write(windows, profile, error);

	if (err)
		fprintf(stderr, "everline: this window is lost: %s\n", error->text);
	el_profile_free(profile);
	return err == -ENOMEM ? err : 0;
}

static int record_windows(const struct el_arguments *arguments, struct el_session_result *result,
			  struct el_error *error)
{
	struct el_windows windows = {
		.folder = arguments->output ? arguments->output : DEFAULT_FOLDER,
		.keep = arguments->keep,
		.reports = arguments->reports,
	};
	int err = el_windows_open(&windows, error);

	if (!err)
		err = el_session_run(arguments, write_window, &windows, result, error);
	if (err)
		return err;
	fprintf(stderr, "everline: %llu windows in %s\n", (unsigned long long)windows.written,
		windows.folder);
	if (windows.failed)
		return el_error_set(error, -EIO, "%llu windows could not be written",
				    (unsigned long long)windows.failed);
	return 0;
}

static int run(const struct el_arguments *arguments, struct el_error *error)
{
	const char *path = arguments->output ? arguments->output : DEFAULT_FILE;
	struct el_session_result result = {0};
	int err;

	if (arguments->operands.n)
		return el_error_set(error, -EINVAL,
				    "%s: not an option. To run a program: everline record -- %s",
				    arguments->operands.at[0], arguments->operands.at[0]);
	if (!arguments->every && (arguments->keep || arguments->reports))
		return el_error_set(error, -EINVAL, "--keep and --report go with --every SECONDS");
	if (arguments->every) {
		err = record_windows(arguments, &result, error);
	} else {
		err = check_writable(path, error);
		if (!err)
			err = el_session_run(arguments, write_file, (void *)path, &result, error);
	}
	return err ? err : result.exit_code;
}

const struct el_command el_command_record = {
	.name = "record",
	.summary = "profile a program, processes or the machine into a pprof file",
	.usage = "  everline record [OPTIONS] -- COMMAND [ARGUMENTS]\n"
		 "  everline record [OPTIONS] -p PID[,PID]\n"
		 "  everline record [OPTIONS] -a\n",
	.description = "The file holds functions, lines and inlines, so that nothing is needed to "
		       "read it\n"
		       "later: everline annotate FILE, everline report FILE, or any pprof tool.\n",
	.tables = {options, el_target_options},
	.examples = "  everline record -o web.pb.gz -p 4242 -d 30\n"
		    "  everline record -e page-faults -c 1 -- ./program\n"
		    "  everline record -a --every 60 --keep 60 --report lines,functions -o "
		    "/var/log/everline\n",
	.exit_codes =
		"  that of the command when one was run; 0 otherwise;\n"
		"  1 it failed, 2 the options make no sense, 126 the command cannot be executed,\n"
		"  127 there is no such command, 128+N the command was ended by signal N\n",
	.run = run,
};
