/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of a log's writer, and the callbacks to its users. */
#ifndef CORDON_DAEMON_WRITER_SETTINGS_H
#define CORDON_DAEMON_WRITER_SETTINGS_H

#include <event2/event.h>
#include <sys/types.h>

#include "audit/write/log.h"

struct writer;

struct writer_settings {
	struct audit_log_options log;
	uid_t uid;
	gid_t gid;
	struct event_base *base; /* NULL: each call waits for the reply */
	/*
	 * The first writer has opened the log, after writer_open_at() or writer_open_later().
	 * `repaired`: bytes of a torn line that were cut off. May be NULL.
	 */
	void (*begun)(uint64_t repaired, void *context);
	/* The writer ended unexpectedly and will be replaced. `why`: how it ended. May be NULL. */
	void (*restarted)(const char *why, void *context);
	/*
	 * The writer has exited as writer_leave() requested, or takes too long to exit.
	 * writer_close() frees it. May be NULL.
	 */
	void (*left)(struct writer *writer, void *context);
	void *context;
};

/*
 * `result`: 0 if written (and on disk, if requested); -EPIPE or -ETIMEDOUT if there is no writer;
 * or as audit_log_flush().
 */
typedef void writer_done(int result, void *context);

#endif
