/* SPDX-License-Identifier: Apache-2.0 */
/* How a log's writer is to be, and how those who use it are called. */
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
	struct event_base *base; /* NULL: each call waits for its answer */
	/*
	 * The first has begun, after writer_open_at() or writer_open_later(); `repaired`: bytes of
	 * a torn line.
	 */
	void (*begun)(uint64_t repaired, void *context);
	/* Another writer had to be started; `why`: what became of the one before. May be NULL. */
	void (*restarted)(const char *why, void *context);
	/*
	 * It has left, as writer_leave() told it to, or takes too long for that: writer_close()
	 * ends it.
	 */
	void (*left)(struct writer *writer, void *context);
	void *context;
};

/* 0: written (and on disk); or as audit_log_flush(); -EPIPE, -ETIMEDOUT: no writer can be had. */
typedef void writer_done(int result, void *context);

#endif
