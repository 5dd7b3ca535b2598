/* SPDX-License-Identifier: Apache-2.0 */
/* See targets.h. */
#include "user/targets.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc_file.h"
#include "base/time.h"

#define DEFAULT_HZ 99 /* not a divisor of anything people schedule by */

static int add_pid(struct el_targets *targets, const char *text, size_t size,
		   struct el_error *error)
{
	char number[16];
	char *end;
	long pid;
	uint32_t leader = 0, n_threads = 0;

	snprintf(number, sizeof(number), "%.*s", (int)(size < 15 ? size : 15), text);
	pid = strtol(number, &end, 10);
	if (!isdigit((unsigned char)number[0]) || *end || pid < 1 || pid > 1 << 22)
		return el_error_set(
			error, -EINVAL,
			"-p %.*s: not a process number. Give one or more, as in -p 4242,4243",
			(int)size, text);
	if (el_proc_file_leader(pid, &leader, &n_threads))
		return el_error_set(
			error, -ESRCH,
			"-p %ld: there is no such process. It may have ended: look with ps", pid);
	return el_vec_push(&targets->pids, (pid_t)leader);
}

static int parse_pids(struct el_targets *targets, const char *text, struct el_error *error)
{
	int err = 0;

	while (!err) {
		size_t size = strcspn(text, ",");

		err = add_pid(targets, text, size, error);
		if (!text[size])
			break;
		text += size + 1;
	}
	return err;
}

static int choose_event(struct el_targets *targets, const struct el_arguments *arguments,
			struct el_error *error)
{
	const char *name = arguments->event ? arguments->event : "cpu";

	targets->event = el_event_type_find(name);
	if (!targets->event) {
		char names[512] = "";

		for (const struct el_event_type *type = el_event_types; type->name; type++) {
			size_t used = strlen(names);

			snprintf(names + used, sizeof(names) - used, "%s%s", used ? ", " : "",
				 type->name);
		}
		return el_error_set(error, -EINVAL, "-e %s: no such event. There are: %s", name,
				    names);
	}
	if (targets->event->clock) {
		if (arguments->count)
			return el_error_set(
				error, -EINVAL,
				"-c goes with events that are counted, such as -e page-faults; "
				"for the cpu clock give -F HZ");
		targets->frequency = arguments->frequency ? arguments->frequency : DEFAULT_HZ;
		targets->period = EL_NS_PER_S / targets->frequency;
		return 0;
	}
	if (arguments->frequency)
		return el_error_set(error, -EINVAL,
				    "-F goes with the cpu clock; for -e %s give -c COUNT", name);
	targets->period = arguments->count ? arguments->count : targets->event->default_period;
	return 0;
}

int el_targets_of(const struct el_arguments *arguments, struct el_targets *ret,
		  struct el_error *error)
{
	struct el_targets targets = {.all = arguments->all_cpus, .command = arguments->command};
	int n_ways = !!arguments->command + !!arguments->pids + !!arguments->all_cpus;
	int err = 0;

	if (!n_ways)
		return el_error_set(
			error, -EINVAL,
			"nothing to record: give -- COMMAND, -p PID or -a (see --help)");
	if (n_ways > 1)
		return el_error_set(error, -EINVAL, "give one of -- COMMAND, -p PID and -a");
	err = choose_event(&targets, arguments, error);
	if (!err && arguments->pids)
		err = parse_pids(&targets, arguments->pids, error);
	if (err) {
		el_targets_deinit(&targets);
		return err;
	}
	*ret = targets;
	return 0;
}

void el_targets_deinit(struct el_targets *targets)
{
	el_vec_deinit(&targets->pids);
}
