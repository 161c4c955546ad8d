/* SPDX-License-Identifier: Apache-2.0 */
/* Writes now and then the record that the daemon is there, and how it stands. */
#include "daemon/execution/heartbeat.h"

#include "base/clock.h"
#include "daemon/execution/execution.h"

/* Policies that one record names. */
#define POLICIES_MAX 64

void heartbeat_record(struct daemon *daemon, unsigned int every)
{
	uint64_t up = clock_nsec(CLOCK_BOOTTIME) - daemon->start_time;
	size_t omitted;
	json_t *policies = policies_in_use(daemon->policies, POLICIES_MAX, &omitted);

	daemon_record(
		daemon, "heartbeat",
		json_pack("{s:I,s:I,s:I,s:o,s:I,s:o,s:I,s:I,s:I,s:o}", "interval",
			  (json_int_t)every, "uptime_nsec", (json_int_t)up, "executions",
			  (json_int_t)daemon->executions, "policies", policies, "policies_omitted",
			  (json_int_t)omitted, "totals", execution_totals_json(daemon),
			  "records_lost", (json_int_t)logs_lost(daemon->logs), "stray_events",
			  (json_int_t)daemon->strays, "malformed_events",
			  (json_int_t)daemon->malformed, "log", logs_figures_json(daemon->log)));
}
