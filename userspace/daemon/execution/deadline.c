/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlines of executions: the wall limit, and the grace of those that were asked to end. */
#include "daemon/execution/deadline.h"

#include "base/clock.h"
#include "kernel/enforcement.h"

static void arm(struct execution *e)
{
	uint64_t by = enforcement_ends_by(e->view), now = clock_nsec(CLOCK_BOOTTIME), left;
	struct timeval after;

	evtimer_del(e->timer);
	if (by == 0)
		return;
	left = by > now ? by - now : 0;
	after.tv_sec = (time_t)(left / NSEC_PER_SEC);
	after.tv_usec = (suseconds_t)(left % NSEC_PER_SEC / 1000);
	evtimer_add(e->timer, &after);
}

void deadline_start(struct execution *e)
{
	uint64_t wall = e->record.limits.wall_nsec;

	if (wall > 0) {
		e->deadline = e->start + wall;
		enforcement_set_deadline(e->daemon->enforcement, e->slot, e->deadline);
	}
	arm(e);
}

void deadline_asked(struct execution *e)
{
	/* The timer is for other things before an execution begins, and once it ends. */
	if (e->state != EXECUTION_LIVE || !e->started)
		return;
	(void)event_base_update_cache_time(e->daemon->base);
	arm(e);
}

bool deadline_is_over(const struct execution *e)
{
	uint64_t by = enforcement_ends_by(e->view);

	return by > 0 && clock_nsec(CLOCK_BOOTTIME) >= by;
}

enum audit_end_cause deadline_cause(const struct execution *e)
{
	uint64_t end_by = __atomic_load_n(&e->view->end_by, __ATOMIC_ACQUIRE);

	return end_by > 0 && end_by == enforcement_ends_by(e->view) ? AUDIT_END_CANCELLED
								    : AUDIT_END_TIMEOUT;
}
