/* SPDX-License-Identifier: Apache-2.0 */
/* See windows.h. Rotation only ever removes folders of our own naming, and in them only our files.
 */
#include "user/windows.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "user/profile/file.h"
#include "user/profile/pprof.h"
#include "user/report/report.h"

#define STEM_SIZE 32 /* 20260101T000000.000Z */
#define ASIDE ".writing"

/* What a window folder may hold: the profile and a text for each kind of report. */
static const struct {
	const char *name; /* in --report */
	const char *file;
	const char *renderer;
	const char *by;
} reports[] = {
	{"lines", "lines.txt", "lines", NULL},
	{"functions", "functions.txt", "table", "function"},
	{"files", "files.txt", "table", "file"},
	{"modules", "modules.txt", "table", "module"},
	{"processes", "processes.txt", "table", "process"},
	{"threads", "threads.txt", "table", "thread"},
};

#define N_REPORTS (sizeof(reports) / sizeof(reports[0]))
#define PROFILE_FILE "profile.pb.gz"

/* Whether the comma-separated list holds `name`. */
static bool listed(const char *list, const char *name)
{
	size_t size = strlen(name);

	for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',')
		if (!strncmp(at, name, size) && (at[size] == ',' || !at[size]))
			return true;
	return false;
}

static int check_reports(const char *list, struct el_error *error)
{
	for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',') {
		size_t size = strcspn(at, ","), i;

		for (i = 0; i < N_REPORTS; i++)
			if (strlen(reports[i].name) == size && !strncmp(at, reports[i].name, size))
				break;
		if (i == N_REPORTS)
			return el_error_set(
				error, -EINVAL,
				"--report %.*s: no such report. There are: lines, functions, "
				"files, modules, processes, threads",
				(int)size, at);
	}
	return 0;
}

static void stem_of(const struct el_profile *profile, char *stem)
{
	time_t seconds = profile->start_wall_ns / 1000000000;
	unsigned int ms = profile->start_wall_ns / 1000000 % 1000;
	struct tm utc;
	size_t n;

	gmtime_r(&seconds, &utc);
	n = strftime(stem, STEM_SIZE, "%Y%m%dT%H%M%S", &utc);
	snprintf(stem + n, STEM_SIZE - n, ".%03uZ", ms);
}

/* 20260101T000000.000Z */
static bool is_stem(const char *name)
{
	static const char form[] = "ddddddddTdddddd.dddZ";

	if (strlen(name) != sizeof(form) - 1)
		return false;
	for (size_t i = 0; form[i]; i++)
		if (form[i] == 'd' ? name[i] < '0' || name[i] > '9' : name[i] != form[i])
			return false;
	return true;
}

static void remove_window(const char *folder, const char *stem)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s/%s", folder, stem, PROFILE_FILE);
	unlink(path);
	for (size_t i = 0; i < N_REPORTS; i++) {
		snprintf(path, sizeof(path), "%s/%s/%s", folder, stem, reports[i].file);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/%s", folder, stem);
	rmdir(path);
}

int el_windows_open(struct el_windows *windows, struct el_error *error)
{
	int err = check_reports(windows->reports, error);
	char path[4096];

	if (err)
		return err;
	if (mkdir(windows->folder, 0700) && errno != EEXIST)
		return el_error_set(error, -errno,
				    "cannot make the folder %s: %s. Give another with -o",
				    windows->folder, strerror(errno));
	if (access(windows->folder, W_OK | X_OK))
		return el_error_set(error, -errno, "cannot write into %s: %s. Give another with -o",
				    windows->folder, strerror(errno));
	/* Of a recording that was killed; what is not a window's file is not ours to remove. */
	remove_window(windows->folder, ASIDE);
	snprintf(path, sizeof(path), "%s/%s", windows->folder, ASIDE);
	if (!access(path, F_OK))
		return el_error_set(error, -EEXIST, "%s holds other files: remove it", path);
	return 0;
}

static int only_stems(const struct dirent *item)
{
	return is_stem(item->d_name);
}

/* Names sort by time, so the first ones are the oldest. */
static void rotate(const struct el_windows *windows)
{
	struct dirent **list;
	int n = scandir(windows->folder, &list, only_stems, alphasort);

	if (n < 0)
		return;
	for (int i = 0; i < n; i++) {
		if (windows->keep && (uint64_t)(n - i) > windows->keep)
			remove_window(windows->folder, list[i]->d_name);
		free(list[i]);
	}
	free(list);
}

static int write_report(const struct el_windows *windows, size_t report,
			const struct el_profile *profile, struct el_error *error)
{
	struct el_report_options options = {.by = reports[report].by};
	struct el_buffer text = {0};
	char path[4096];
	int err = el_report_text(el_report_find(reports[report].renderer), profile, &options, &text,
				 error);

	snprintf(path, sizeof(path), "%s/%s/%s", windows->folder, ASIDE, reports[report].file);
	if (!err)
		err = el_file_replace(path, text.bytes.at, text.bytes.n, error);
	el_buffer_deinit(&text);
	return err;
}

static int write_aside(const struct el_windows *windows, const struct el_profile *profile,
		       struct el_error *error)
{
	char path[4096];
	int err;

	remove_window(windows->folder, ASIDE);
	snprintf(path, sizeof(path), "%s/%s", windows->folder, ASIDE);
	if (mkdir(path, 0700))
		return el_error_set(error, -errno, "cannot make %s: %s", path, strerror(errno));
	snprintf(path, sizeof(path), "%s/%s/%s", windows->folder, ASIDE, PROFILE_FILE);
	err = el_pprof_save(profile, path, error);
	for (size_t i = 0; i < N_REPORTS && !err; i++)
		if (listed(windows->reports, reports[i].name))
			err = write_report(windows, i, profile, error);
	return err;
}

static int publish(const struct el_windows *windows, const char *stem, struct el_error *error)
{
	char aside[4096], path[4096];

	snprintf(aside, sizeof(aside), "%s/%s", windows->folder, ASIDE);
	snprintf(path, sizeof(path), "%s/%s", windows->folder, stem);
	if (rename(aside, path))
		return el_error_set(error, -errno, "cannot make %s: %s", path, strerror(errno));
	snprintf(aside, sizeof(aside), "%s/.latest", windows->folder);
	snprintf(path, sizeof(path), "%s/latest", windows->folder);
	unlink(aside);
	if (symlink(stem, aside) || rename(aside, path))
		return el_error_set(error, -errno, "cannot make the link %s: %s", path,
				    strerror(errno));
	return 0;
}

int el_windows_write(struct el_windows *windows, const struct el_profile *profile,
		     struct el_error *error)
{
	char stem[STEM_SIZE];
	int err = write_aside(windows, profile, error);

	stem_of(profile, stem);
	if (!err)
		err = publish(windows, stem, error);
	if (err) {
		remove_window(windows->folder, ASIDE);
		windows->failed++;
		return err;
	}
	windows->written++;
	rotate(windows);
	return 0;
}
