/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See session.h. The order of the start matters: the parser is forked while
 * this process is small and holds nothing; the program is forked and held
 * before the events exist, so that its first instruction is sampled.
 */
#include "user/session.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/time.h"
#include "user/advice.h"
#include "user/books.h"
#include "user/launch.h"
#include "user/numba.h"
#include "user/progress.h"
#include "user/targets.h"

#define DRAIN_MS 100
#define PARSER_CACHE (96u << 20) /* bytes of indexes that outlive a dump */
#define SHORT_RUN_S 10
#define LAST_WAIT_MS 2000 /* for the program to end after Ctrl-C */

struct session {
	const struct el_arguments *arguments;
	struct el_targets targets;
	struct el_parser *parser;
	struct el_sampler *sampler;
	struct el_join *join;
	struct el_child child;
	struct el_numba numba;
	struct el_books books;
	struct el_progress progress;
	struct el_sampler_sink drain_sink;
	el_session_sink *sink;
	void *sink_context;
	int signal_fd;
	uint64_t start_ns, window_ns; /* when the recording, the window began */
	int64_t start_wall_ns;
	bool interrupted;
};

bool el_session_wanted(const struct el_arguments *arguments)
{
	return arguments->command || arguments->pids || arguments->all_cpus;
}

static int catch_signals(struct session *session, struct el_error *error)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	session->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (session->signal_fd < 0)
		return el_error_set(error, -errno, "cannot catch signals: %s", strerror(errno));
	return 0;
}

static int start_parser(struct session *session, struct el_error *error)
{
	struct el_parser_options options = {
		.symbolizer = {.cache_limit = PARSER_CACHE, .no_skid = session->arguments->raw_ip},
	};

	return el_parser_new(&options, &session->parser, error);
}

static int start_child(struct session *session, struct el_error *error)
{
	char **command = session->targets.command;
	int err;

	if (!command)
		return 0;
	err = el_numba_plan(&session->numba, command, session->arguments->numba_lines, error);
	if (err)
		return err;
	return el_child_start(command, el_numba_environment(&session->numba), &session->child,
			      error);
}

static int start_sampler(struct session *session, struct el_error *error)
{
	const struct el_targets *targets = &session->targets;
	double duration = session->arguments->duration;
	struct el_sampler_options options = {
		.event = targets->event,
		.period = targets->period,
		.pids = targets->command ? &session->child.pid : targets->pids.at,
		.n_pids = targets->command ? 1 : targets->pids.n,
		.all = targets->all,
		.await_exec = targets->command,
		.user_only = session->arguments->user_only,
		.short_run = targets->command || (duration > 0 && duration < SHORT_RUN_S),
	};

	return el_sampler_new(&options, &session->sampler, error);
}

static int start_join(struct session *session, struct el_error *error)
{
	struct el_join_options options = {
		.event = session->targets.event,
		.period = session->targets.period,
	};
	int err = el_join_new(session->parser, &options, &session->join);

	if (err)
		return el_error_set(error, err, "cannot start: %s", strerror(-err));
	el_join_sink(session->join, &session->drain_sink);
	for (size_t i = 0; i < session->targets.pids.n; i++) {
		pid_t pid = session->targets.pids.at[i];

		err = el_join_attach(session->join, pid);
		if (err == -ESRCH)
			return el_error_set(error, err,
					    "process %d ended before it could be profiled", pid);
		if (err)
			return el_error_set(error, err, "cannot read /proc/%d: %s. Are you root?",
					    pid, strerror(-err));
	}
	return 0;
}

/* Everything up to the first sample. */
static int start(struct session *session, struct el_error *error)
{
	int err = start_parser(session, error);

	if (!err)
		err = catch_signals(session, error);
	if (!err)
		err = start_child(session, error);
	if (!err)
		err = start_sampler(session, error);
	if (!err)
		err = start_join(session, error);
	if (err)
		return err;
	session->books.clock = session->targets.event->clock;
	session->start_wall_ns = (int64_t)el_clock_ns(CLOCK_REALTIME);
	session->start_ns = session->window_ns = el_now_ns();
	err = el_sampler_start(session->sampler, error);
	if (!err && session->targets.command)
		err = el_child_release(&session->child, session->targets.command, error);
	return err;
}

static int drain(struct session *session, bool last, struct el_error *error)
{
	int err = el_sampler_drain(session->sampler, last, &session->drain_sink);

	if (!err)
		err = el_join_acquire(session->join);
	if (err)
		return el_error_set(error, err, "cannot take in samples: %s", strerror(-err));
	return 0;
}

static void show_symbolizing(void *context, size_t done, size_t all)
{
	el_progress_symbolizing(context, done, all);
}

static int describe(struct session *session, struct el_profile *profile)
{
	char command[1024] = "";
	int err;

	for (char **word = session->targets.command; word && *word; word++) {
		size_t used = strlen(command);

		snprintf(command + used, sizeof(command) - used, "%s%s", used ? " " : "", *word);
	}
	profile->start_wall_ns =
		session->start_wall_ns + (int64_t)(session->window_ns - session->start_ns);
	profile->n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	err = el_strings_add(&profile->strings, command, &profile->command);
	if (!err)
		err = el_strings_add(&profile->strings, session->targets.event->name,
				     &profile->event);
	return err ? err : el_advice_add(&session->numba, profile);
}

/* Ends the window at `to_ns` and hands its profile over. */
static int end_window(struct session *session, uint64_t to_ns, bool last, struct el_error *error)
{
	struct el_profile *profile;
	int err = el_join_dump(session->join, session->window_ns, last ? UINT64_MAX : to_ns,
			       show_symbolizing, &session->progress, &profile, error);

	if (err)
		return err;
	el_progress_clear(&session->progress);
	profile->duration_ns = to_ns - session->window_ns;
	err = describe(session, profile);
	if (!err)
		err = el_books_write(&session->books, session->sampler, session->join,
				     session->parser, profile);
	if (err) {
		el_profile_free(profile);
		return el_error_set(error, err, "cannot finish the profile: %s", strerror(-err));
	}
	session->window_ns = to_ns;
	return session->sink(session->sink_context, profile, error);
}

static bool child_runs(const struct session *session)
{
	return session->child.pid > 0 && !session->child.ended;
}

/* Passes on to the program what a terminal would not have sent it as well. */
static void take_signals(struct session *session)
{
	struct signalfd_siginfo info;

	while (read(session->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		bool from_terminal = info.ssi_code == SI_KERNEL;

		session->interrupted = true;
		if (child_runs(session) && !from_terminal)
			kill(session->child.pid, info.ssi_signo);
	}
}

static void wait_for_events(struct session *session, int timeout_ms)
{
	struct pollfd polled[] = {
		{.fd = el_sampler_fd(session->sampler), .events = POLLIN},
		{.fd = session->signal_fd, .events = POLLIN},
		{.fd = child_runs(session) ? session->child.pidfd : -1, .events = POLLIN},
	};

	poll(polled, sizeof(polled) / sizeof(polled[0]), timeout_ms);
}

static bool all_targets_ended(const struct session *session)
{
	for (size_t i = 0; i < session->targets.pids.n; i++)
		if (!kill(session->targets.pids.at[i], 0) || errno == EPERM)
			return false;
	return session->targets.pids.n > 0;
}

static bool over(struct session *session, uint64_t now)
{
	double duration = session->arguments->duration;

	return session->interrupted ||
	       (duration > 0 && now - session->start_ns >= duration * EL_NS_PER_S) ||
	       (session->child.pid > 0 && el_child_ended(&session->child)) ||
	       all_targets_ended(session);
}

static int record(struct session *session, struct el_error *error)
{
	uint64_t every = (uint64_t)(session->arguments->every * EL_NS_PER_S);
	uint64_t now = session->start_ns;
	int err = 0;

	while (!err && !over(session, now)) {
		wait_for_events(session, DRAIN_MS);
		take_signals(session);
		now = el_now_ns(); /* before the drain: all samples until then are in */
		err = drain(session, false, error);
		if (!err && every && now - session->window_ns >= every)
			err = end_window(session, session->window_ns + every, false, error);
		el_progress_recording(&session->progress, now - session->start_ns,
				      el_sampler_delivered(session->sampler));
	}
	return err;
}

/* After Ctrl-C the program gets its chance to end, so that its output comes before the report. */
static void wait_for_child(struct session *session)
{
	uint64_t until = el_now_ns() + LAST_WAIT_MS * EL_NS_PER_MS;

	if (session->child.pid <= 0)
		return;
	while (session->interrupted && !el_child_ended(&session->child) && el_now_ns() < until)
		usleep(10000);
	if (!el_child_ended(&session->child))
		fprintf(stderr, "everline: %s (process %d) goes on without being profiled\n",
			session->targets.command[0], session->child.pid);
}

static int finish(struct session *session, struct el_error *error)
{
	uint64_t end_ns;
	int err = el_sampler_stop(session->sampler);

	end_ns = el_now_ns();
	if (err)
		return el_error_set(error, err, "cannot stop the events: %s", strerror(-err));
	err = drain(session, true, error);
	wait_for_child(session);
	el_numba_finish(&session->numba);
	el_progress_unshare(&session->progress);
	return err ? err : end_window(session, end_ns, true, error);
}

static void session_deinit(struct session *session)
{
	el_progress_clear(&session->progress);
	el_sampler_free(session->sampler);
	el_join_free(session->join);
	el_parser_free(session->parser);
	el_child_deinit(&session->child);
	el_numba_deinit(&session->numba);
	el_targets_deinit(&session->targets);
	if (session->signal_fd >= 0)
		close(session->signal_fd);
}

int el_session_run(const struct el_arguments *arguments, el_session_sink *sink, void *context,
		   struct el_session_result *ret, struct el_error *error)
{
	struct session session = {
		.arguments = arguments,
		.sink = sink,
		.sink_context = context,
		.signal_fd = -1,
	};
	int err = el_targets_of(arguments, &session.targets, error);

	if (err)
		return err;
	el_progress_init(&session.progress, arguments->command && isatty(STDOUT_FILENO));
	err = start(&session, error);
	if (!err)
		err = record(&session, error);
	if (!err)
		err = finish(&session, error);
	if (!err)
		ret->exit_code = el_child_exit_code(&session.child);
	session_deinit(&session);
	return err;
}
