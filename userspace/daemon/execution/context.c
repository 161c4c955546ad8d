/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the daemon share: what it says, records and flushes. */
#include "daemon/execution/context.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"

#define FLUSH_MSEC 50

void daemon_say(struct daemon *daemon, const char *format, ...)
{
	char line[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	daemon->say(line);
}

static void record(struct daemon *daemon, const char *action, const char *kind, json_t *details)
{
	json_t *record = audit_record_agent(action, details, clock_nsec(CLOCK_REALTIME));

	(void)json_object_set_new(json_object_get(record, "event"), "kind", json_string(kind));
	(void)logs_append(daemon->log, record);
	json_decref(details);
	daemon_flush_soon(daemon);
}

void daemon_record(struct daemon *daemon, const char *action, json_t *details)
{
	record(daemon, action, "event", details);
}

void daemon_alert(struct daemon *daemon, const char *action, json_t *details)
{
	record(daemon, action, "alert", details);
}

void daemon_flush_soon(struct daemon *daemon)
{
	const struct timeval after = {.tv_usec = FLUSH_MSEC * 1000};

	if (!daemon->flush_pending)
		daemon->flush_pending = evtimer_add(daemon->flush_timer, &after) == 0;
	daemon->busy(daemon);
}
