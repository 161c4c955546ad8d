/* SPDX-License-Identifier: Apache-2.0 */
/* Formats presence messages: the state of the shipper and of the daemon. */
#include "fleet/ship/presence.h"

#include <inttypes.h>
#include <stdio.h>

#include "audit/storage/segment.h"

enum presence_daemon presence_look(const char *directory)
{
	if (segment_has_writer(directory))
		return PRESENCE_RUNNING;
	return segment_was_stopped(directory) ? PRESENCE_STOPPED : PRESENCE_KILLED;
}

void presence_subject(const struct presence *presence, char subject[PRESENCE_SUBJECT_SIZE])
{
	snprintf(subject, PRESENCE_SUBJECT_SIZE, "cordon.presence.%s", presence->host);
}

void presence_here(const struct presence *presence, char subject[PRESENCE_SUBJECT_SIZE])
{
	snprintf(subject, PRESENCE_SUBJECT_SIZE, "cordon.here.%s", presence->host);
}

void presence_text(const struct presence *presence, char text[PRESENCE_TEXT_SIZE])
{
	static const char *const states[] = {
		[PRESENCE_SHIPPING] = "shipping",
		[PRESENCE_LEAVING] = "leaving",
		[PRESENCE_REWRITTEN] = "rewritten",
	};
	static const char *const daemons[] = {
		[PRESENCE_RUNNING] = "running",
		[PRESENCE_STOPPED] = "stopped",
		[PRESENCE_KILLED] = "killed",
	};

	snprintf(text, PRESENCE_TEXT_SIZE,
		 "{\"state\":\"%s\",\"daemon\":\"%s\",\"log\":\"%s\",\"read\":%" PRIu64
		 ",\"acknowledged\":%" PRIu64 ",\"interval\":%u}",
		 states[presence->state], daemons[presence->daemon], presence->log, presence->read,
		 presence->acknowledged, presence->every);
}
