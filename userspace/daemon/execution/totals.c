/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over executions, for `cordon status`. */
#include "daemon/execution/totals.h"

#include "audit/record/names.h"
#include "bpf/abi.h"

void totals_add_end(struct totals *totals, const struct audit_end *end)
{
	totals->ended[end->cause]++;
	totals->denials += end->denials;
	totals->would_denials += end->would_denials;
	totals->events += end->events;
	totals->coalesced += end->coalesced;
	totals->limited += end->limited;
	totals->dropped += end->dropped;
	totals->packets_denied += end->packets_denied;
}

void totals_add_live(struct totals *totals, const struct cordon_execution *view)
{
	totals->denials += view->denials;
	totals->would_denials += view->would_denials;
	totals->events += view->emitted;
	totals->coalesced += view->coalesced;
	totals->limited += view->limited;
	totals->dropped += view->dropped;
	totals->packets_denied += view->packets_denied;
}

void totals_add_gap(struct totals *totals, uint64_t after, uint64_t before)
{
	totals->gaps++;
	totals->missing += before - after - 1;
}

static json_t *ended_json(const struct totals *totals)
{
	json_t *ended = json_object();

	for (unsigned int i = 0; ended && i < TOTALS_CAUSES; i++)
		json_object_set_new(ended, name_of_end_cause(i),
				    json_integer((json_int_t)totals->ended[i]));
	return ended;
}

json_t *totals_json(const struct totals *t)
{
	return json_pack("{s:I,s:I,s:o,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "started",
			 (json_int_t)t->started, "refused", (json_int_t)t->refused, "ended",
			 ended_json(t), "denials", (json_int_t)t->denials, "would_denials",
			 (json_int_t)t->would_denials, "attempts", (json_int_t)t->attempts,
			 "packets_denied", (json_int_t)t->packets_denied, "events",
			 (json_int_t)t->events, "coalesced", (json_int_t)t->coalesced, "limited",
			 (json_int_t)t->limited, "dropped", (json_int_t)t->dropped, "gaps",
			 (json_int_t)t->gaps, "missing_events", (json_int_t)t->missing);
}
