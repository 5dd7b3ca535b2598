/* SPDX-License-Identifier: Apache-2.0 */
/* See progress.h. */
#include "user/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/time.h"

#define BETWEEN_NS 200000000ull

static bool due(struct el_progress *progress)
{
	uint64_t now = el_now_ns();

	if (!progress->on || now - progress->shown_ns < BETWEEN_NS)
		return false;
	progress->shown_ns = now;
	progress->dirty = true;
	return true;
}

void el_progress_init(struct el_progress *progress, bool shared)
{
	*progress = (struct el_progress){.on = !shared && isatty(STDERR_FILENO)};
}

void el_progress_recording(struct el_progress *progress, uint64_t elapsed_ns, uint64_t samples)
{
	if (due(progress))
		fprintf(stderr, "\r\033[Krecording: %.1f s, %llu samples (Ctrl-C ends it)",
			(double)elapsed_ns / 1e9, (unsigned long long)samples);
}

void el_progress_symbolizing(struct el_progress *progress, size_t done, size_t all)
{
	if (due(progress))
		fprintf(stderr, "\r\033[Ksymbolizing: %zu of %zu addresses", done, all);
}

void el_progress_unshare(struct el_progress *progress)
{
	progress->on = isatty(STDERR_FILENO);
}

void el_progress_clear(struct el_progress *progress)
{
	if (progress->dirty)
		fprintf(stderr, "\r\033[K");
	progress->dirty = false;
}
