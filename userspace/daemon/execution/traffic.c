/* SPDX-License-Identifier: Apache-2.0 */
/* Puts on record what an execution has sent and received, by where it went and came from. */
#include "daemon/execution/traffic.h"

#include <inttypes.h>
#include <string.h>

#include "audit/record/traffic.h"
#include "base/clock.h"
#include "daemon/execution/domain.h"

static void append(struct execution *e, const struct audit_traffic *traffic)
{
	(void)logs_append(e->log,
			  audit_record_traffic(&e->record, traffic, clock_nsec(CLOCK_REALTIME)));
}

void traffic_append(struct execution *e)
{
	_cleanup_(freep) struct cordon_traffic *counts =
		calloc(CORDON_MAX_DESTINATIONS, sizeof(*counts));
	struct audit_traffic rest = {.rest = true};
	int count = counts ? enforcement_traffic(e->daemon->enforcement, e->slot, counts) : -ENOMEM;

	if (count < 0) {
		daemon_say(e->daemon, "execution %s: traffic by destination: %s", e->id,
			   strerror(-count));
		count = 0;
	}
	for (int i = 0; i < count; i++) {
		struct audit_traffic traffic = {.counts = counts[i]};
		struct event_domain domain;

		if (domain_of_traffic(e->daemon->enforcement, e->record.policy, e->slot, &counts[i],
				      &domain))
			traffic.domain = domain.name;
		append(e, &traffic);
	}
	if (audit_traffic_rest(&e->end, counts, (size_t)count, &rest.counts))
		append(e, &rest);
}
