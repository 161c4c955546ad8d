/* SPDX-License-Identifier: Apache-2.0 */
/* Shows in one line on a terminal how far a long piece of work is. */
#include "cli/term/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define SILENT_MSEC 2000u
#define EVERY_MSEC  200u

void progress_begin(struct progress *progress, const char *what, bool prints)
{
	const char *term = getenv("TERM");

	*progress = (struct progress){
		.what = what,
		.start = clock_nsec(CLOCK_MONOTONIC),
		.possible = isatty(STDERR_FILENO) && !(prints && isatty(STDOUT_FILENO)) &&
			    (!term || strcmp(term, "dumb") != 0),
	};
	progress->told = progress->start + (SILENT_MSEC - EVERY_MSEC) * NSEC_PER_MSEC;
}

void progress_begin_counting(struct progress *progress, const char *what, const char *unit)
{
	progress_begin(progress, what, false);
	progress->unit = unit;
	progress->told = progress->start;
}

void progress_step(void *data, uint64_t done, uint64_t all)
{
	struct progress *p = data;
	double share, seconds;
	uint64_t now;

	if (!p->possible || all == 0 || done == 0)
		return;
	now = clock_nsec(CLOCK_MONOTONIC);
	if (now < p->told + EVERY_MSEC * NSEC_PER_MSEC)
		return;
	p->told = now;
	p->shown = true;
	share = done < all ? (double)done / (double)all : 1;
	seconds = (double)(now - p->start) / 1e9;
	/* The first few tell nothing of the others. */
	if (p->unit && share < 0.1)
		fprintf(stderr, "\r%s: %" PRIu64 " of %" PRIu64 " %s\033[K", p->what, done, all,
			p->unit);
	else if (p->unit)
		fprintf(stderr, "\r%s: %" PRIu64 " of %" PRIu64 " %s, %.0f s left\033[K", p->what,
			done, all, p->unit, seconds / share - seconds);
	else
		fprintf(stderr, "\r%s: %3.0f %%, %.0f s left\033[K", p->what, 100 * share,
			seconds / share - seconds);
}

void progress_end(struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}
