/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how long the turns of the daemon's loop take, and in what. */
#include "daemon/host/turn.h"

#include "base/clock.h"

static const uint64_t below[] = {
	1 * NSEC_PER_MSEC,   5 * NSEC_PER_MSEC, 10 * NSEC_PER_MSEC, 50 * NSEC_PER_MSEC,
	100 * NSEC_PER_MSEC, NSEC_PER_SEC,	UINT64_MAX,
};

static struct {
	struct turn longest, busiest; /* how long it took, in the members for when it began */
	uint64_t counts[ARRAY_SIZE(below)];
	uint64_t total; /* ns, of all */
} turns;

struct turn turn_begin(const char *what)
{
	return (struct turn){what, clock_nsec(CLOCK_MONOTONIC),
			     clock_nsec(CLOCK_THREAD_CPUTIME_ID)};
}

void turn_end(const struct turn *turn)
{
	uint64_t took = clock_nsec(CLOCK_MONOTONIC) - turn->start,
		 processor = clock_nsec(CLOCK_THREAD_CPUTIME_ID) - turn->processor;
	size_t i = 0;

	while (took >= below[i] && i < ARRAY_SIZE(below) - 1)
		i++;
	turns.counts[i]++;
	turns.total += took;
	if (took > turns.longest.start)
		turns.longest = (struct turn){turn->what, took, processor};
	if (processor > turns.busiest.processor)
		turns.busiest = (struct turn){turn->what, took, processor};
}

void turn_of_its_own(struct event *timer)
{
	const struct timeval now = {};

	if (evtimer_add(timer, &now) < 0)
		event_active(timer, EV_TIMEOUT, 0);
}

static json_t *one_json(const char *what, uint64_t nsec)
{
	return what ? json_pack("{s:s,s:I}", "what", what, "nsec", (json_int_t)nsec) : json_null();
}

json_t *turn_json(void)
{
	json_t *histogram = json_array();

	for (size_t i = 0; histogram && i < ARRAY_SIZE(below); i++)
		json_array_append_new(histogram,
				      json_pack("{s:o,s:I}", "below_nsec",
						below[i] == UINT64_MAX
							? json_null()
							: json_integer((json_int_t)below[i]),
						"turns", (json_int_t)turns.counts[i]));
	return json_pack("{s:o,s:o,s:I,s:o}", "longest",
			 one_json(turns.longest.what, turns.longest.start), "busiest",
			 one_json(turns.busiest.what, turns.busiest.processor), "total_nsec",
			 (json_int_t)turns.total, "histogram", histogram);
}
