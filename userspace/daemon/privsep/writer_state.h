/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the daemon knows of a log's writer, for the files of privsep/ that make up writer.h, and for
 * nobody else.
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

/* Handed over in one piece, before anybody asks for it. */
#define BATCH_SIZE (1u << 17)
/*
 * A disk may take its time; a writer that takes more hangs. Closing may wait for a segment's
 * compression.
 */
#define PATIENCE_SECONDS       30
#define CLOSE_PATIENCE_SECONDS 120
/* If it dies over a question, the next one is asked; if that does as well, it is the question. */
#define DEATHS_MAX 2

struct writer_wait {
	TAILQ_ENTRY(writer_wait) link;
	bool sync;
	uint64_t end;	  /* as `confirmed`: how far it has to come */
	bool covered;	  /* by what the writer is being asked */
	bool for_ready;	  /* for the log to be writable, not for records to be written */
	uint64_t answers; /* as the writer's were when it began */
	uint64_t until;	  /* monotonic clock */
	bool completed;
	int result;
	writer_done *done; /* NULL: whoever waits looks at `completed` */
	void *context;
};
TAILQ_HEAD(wait_list, writer_wait);

struct writer {
	char *directory;
	struct writer_settings settings;
	int fd; /* -1: there is none now */
	pid_t pid, unreaped;
	bool begun;   /* one of them has */
	dev_t device; /* of the directory that it has */
	ino_t inode;
	struct writer_place place; /* for the writer that begins */
	struct errand *looking;	   /* for that; NULL: none */
	uint64_t looked_at;	   /* monotonic clock */
	struct buffer queue;	   /* records that are not confirmed, as WRITER_APPEND has them */
	uint64_t confirmed;	   /* bytes that stood before it */
	size_t sent;		   /* bytes of it that this writer has */
	struct buffer out;	   /* requests on their way into the socket */
	size_t out_at;
	struct writer_reply reply; /* on its way out of it */
	size_t reply_size;
	bool asking; /* one question at a time, so that one flush is for all who came meanwhile */
	uint32_t asked;
	uint64_t asked_at; /* monotonic clock */
	size_t covers;	   /* bytes of the queue that the flush is about */
	bool partial;	   /* which is not all that was wanted */
	bool wanted[WRITER_REQUEST_COUNT];
	struct wait_list waits, ready, completed;
	struct event *readable, *writable, *late, *deliver, *look; /* NULL without a loop */
	uint64_t unsaid; /* lost here; the log does not say so yet */
	uint64_t said;	 /* of the lost, as many as this writer was told of */
	bool failing;	 /* the last try to write did */
	bool unsynced;	 /* wrote what is not on disk */
	bool later;	 /* something will be due although nothing is appended */
	bool closed;	 /* has left in order */
	int error;
	int unwritable;	  /* as it said last: 0, or why */
	uint64_t answers; /* so often was it said whether the log can be written */
	int answer;	  /* the last of them */
	struct failure why_not_begun;
	uint64_t repaired;
	struct audit_log_position position;
	const struct shipped_text *shipped; /* for it to read; NULL: nothing */
	uint64_t lost;			    /* by this writer, as it said last */
	uint64_t lost_before;		    /* by those before it, and here */
	struct audit_log_figures figures;   /* as it said last */
	uint64_t written_before;	    /* bytes, by those before it */
	unsigned int restarts;		    /* since the last that did something */
	unsigned int deaths;		    /* likewise */
	uint64_t not_before;		    /* monotonic clock: when to try again */
};

#endif
