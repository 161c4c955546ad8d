/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of a log's writer in the daemon. Private to the files of privsep/ that implement writer.h.
 */
#ifndef CORDON_DAEMON_WRITER_STATE_H
#define CORDON_DAEMON_WRITER_STATE_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "audit/text/buffer.h"
#include "audit/write/log.h"
#include "base/failure.h"
#include "daemon/privsep/shipped.h"
#include "daemon/privsep/writer_place.h"
#include "daemon/privsep/writer_protocol.h"
#include "daemon/privsep/writer_settings.h"

/* Bytes that are sent in one piece, also without a request to flush. */
#define BATCH_SIZE (1u << 17)
/*
 * A disk may be slow; a writer that takes longer than this hangs. Closing may wait for the
 * compression of a segment.
 */
#define PATIENCE_SECONDS       30
#define CLOSE_PATIENCE_SECONDS 120
/*
 * If a writer dies over a request, the next writer gets the request. After this many deaths the
 * request fails, because it may be the cause.
 */
#define DEATHS_MAX 2

struct writer_wait {
	TAILQ_ENTRY(writer_wait) link;
	bool sync;
	uint64_t end;	  /* position: `confirmed` must reach it */
	bool covered;	  /* by the flush in progress */
	bool for_ready;	  /* for the log to be writable, not for records to be written */
	uint64_t answers; /* the writer's `answers` at the start */
	uint64_t until;	  /* monotonic clock */
	bool completed;
	int result;
	writer_done *done; /* NULL: the waiting function checks `completed` */
	void *context;
};
TAILQ_HEAD(wait_list, writer_wait);

struct writer {
	char *directory;
	struct writer_settings settings;
	int fd; /* -1: no writer runs */
	pid_t pid, unreaped;
	bool begun;   /* a writer has opened the log */
	dev_t device; /* of the last directory in which a writer opened the log */
	ino_t inode;
	struct writer_place place; /* the directory for the current or next writer */
	struct errand *looking;	   /* worker that finds `place`, or NULL */
	uint64_t looked_at;	   /* monotonic clock */
	struct buffer queue;	   /* unconfirmed records, in the format of WRITER_APPEND */
	uint64_t confirmed;	   /* bytes that were queued before `queue` */
	size_t sent;		   /* bytes of `queue` that this writer has */
	struct buffer out;	   /* requests to be sent */
	size_t out_at;
	struct writer_reply reply; /* being received */
	size_t reply_size;
	bool asking; /* a request is in progress; only one, so that a flush serves all callers */
	uint32_t asked;
	uint64_t asked_at; /* monotonic clock */
	size_t covers;	   /* bytes of `queue` that the flush covers */
	bool partial;	   /* the flush covers less than was requested */
	bool wanted[WRITER_REQUEST_COUNT];
	struct wait_list waits, ready, completed;
	struct event *readable, *writable, *late, *deliver, *look; /* NULL without a loop */
	uint64_t unsaid; /* records lost here that the log does not mention yet */
	uint64_t said;	 /* of `unsaid`, the number that this writer received */
	bool failing;	 /* the last attempt to write failed */
	bool unsynced;	 /* wrote data that is not on disk */
	bool later;	 /* more work will be due without an append */
	bool closed;	 /* the writer exited in order */
	int error;
	int unwritable;	  /* last known: 0, or -errno */
	uint64_t answers; /* number of results on whether the log can be written */
	int answer;	  /* the last of them */
	struct failure why_not_begun;
	uint64_t repaired;
	struct audit_log_position position;
	const struct shipped_text *shipped; /* for the writer to parse, or NULL */
	uint64_t lost;			    /* by this writer, as of its last reply */
	uint64_t lost_before;		    /* by earlier writers, and here */
	struct audit_log_figures figures;   /* as of its last reply */
	uint64_t written_before;	    /* bytes, by earlier writers */
	unsigned int restarts; /* since the last writer that replied after WRITER_HELLO */
	unsigned int deaths;   /* likewise */
	uint64_t not_before;   /* monotonic clock: no new writer before */
};

#endif
