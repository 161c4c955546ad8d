/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the turns of the daemon's loop take, and what in them: while one turns, nobody else is
 * served. There is one loop.
 */
#ifndef CORDON_DAEMON_TURN_H
#define CORDON_DAEMON_TURN_H

#include <event2/event.h>
#include <jansson.h>
#include <stdint.h>

#include "base/cleanup.h"

struct turn {
	const char *what;
	uint64_t start;	    /* monotonic clock, ns */
	uint64_t processor; /* the thread's own clock, ns */
};

struct turn turn_begin(const char *what);
void turn_end(const struct turn *turn);

/* At the beginning of what the loop calls; `what` is a string that stays. */
#define TURN(what)                                                                                 \
	_cleanup_(turn_end) const struct turn turn_ __attribute__((unused)) = turn_begin(what)

/*
 * Has a timer's callback run once those have had a turn who have waited as long: what is left to do
 * has one of its own. Where the loop has no memory for that, at once.
 */
void turn_of_its_own(struct event *timer);

/*
 * {"longest":{"what","nsec"}|null,"busiest":{"what","nsec"}|null,"total_nsec":N,
 * "histogram":[{"below_nsec":N|null,"turns":N}]}: new reference or NULL. Only `busiest` is of
 * processor time: what is longer by the clock waited, or the host was crowded.
 */
json_t *turn_json(void);

#endif
