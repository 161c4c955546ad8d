/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/host/turn.h"

#include "base/clock.h"

static const uint64_t below[] = {
	1 * NSEC_PER_MSEC,   5 * NSEC_PER_MSEC, 10 * NSEC_PER_MSEC, 50 * NSEC_PER_MSEC,
	100 * NSEC_PER_MSEC, NSEC_PER_SEC,	UINT64_MAX,
};

static struct {
	struct turn longest; /* `start`: how long */
	uint64_t counts[ARRAY_SIZE(below)];
	uint64_t total; /* ns, of all */
} turns;

struct turn turn_begin(const char *what)
{
	return (struct turn){what, clock_nsec(CLOCK_MONOTONIC)};
}

void turn_end(const struct turn *turn)
{
	uint64_t took = clock_nsec(CLOCK_MONOTONIC) - turn->start;
	size_t i = 0;

	while (took >= below[i] && i < ARRAY_SIZE(below) - 1)
		i++;
	turns.counts[i]++;
	turns.total += took;
	if (took > turns.longest.start)
		turns.longest = (struct turn){turn->what, took};
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
	return json_pack("{s:o,s:I,s:o}", "longest",
			 turns.longest.what ? json_pack("{s:s,s:I}", "what", turns.longest.what,
							"nsec", (json_int_t)turns.longest.start)
					    : json_null(),
			 "total_nsec", (json_int_t)turns.total, "histogram", histogram);
}
