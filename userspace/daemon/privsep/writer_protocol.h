/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol between the daemon and a log's writer: a stream socket on HELPER_SOCKET_FD. Both
 * ends are the same program. The daemon sends requests, each a header and its payload. Each request
 * except WRITER_APPEND and WRITER_LOSE has one struct writer_reply. The log's directory is open on
 * HELPER_DIRECTORY_FD.
 */
#ifndef CORDON_DAEMON_WRITER_PROTOCOL_H
#define CORDON_DAEMON_WRITER_PROTOCOL_H

#include <limits.h>
#include <stdint.h>

#include "audit/record/identity.h"
#include "audit/write/log.h"

enum writer_request {
	WRITER_HELLO,	 /* struct writer_hello; the first, once */
	WRITER_APPEND,	 /* records: for each a uint32_t with its size, and its text */
	WRITER_LOSE,	 /* a uint64_t: number of records that were lost before an append */
	WRITER_FLUSH,	 /* writes the appended records */
	WRITER_SYNC,	 /* the same, and syncs */
	WRITER_TICK,	 /* text of shipped.h: parses it, and audit_log_tick() */
	WRITER_WRITABLE, /* audit_log_writable() */
	WRITER_CLOSE,	 /* the last: writes, seals, logs that the writer stopped in order */
	WRITER_REQUEST_COUNT,
};

struct writer_header {
	uint32_t request;
	uint32_t size; /* of the payload */
};

/* Limit of a payload: the longest record, and the records gathered before it. */
#define WRITER_PAYLOAD_MAX (16u << 20)

struct writer_hello {
	struct audit_log_options options; /* without its clock and pointers */
	uint32_t uid, gid;		  /* to become */
	uint32_t patience_msec; /* wait for the lock of another writer that is about to exit */
	uint32_t confine;	/* 0: not root, so there is nothing to drop */
	/*
	 * The end of the records that an earlier writer of this daemon is known to have written.
	 * Later records are sent again. sequence 0: there was no such writer.
	 */
	struct audit_log_position position;
	uint32_t anew;	     /* in another directory that replaces the one of that writer */
	char name[PATH_MAX]; /* of the directory, for messages */
	char identity[IDENTITY_TEXT_MAX]; /* output of identity_format(); empty: none */
};

struct writer_reply {
	int32_t result;	   /* 0, or a negative errno */
	uint32_t later;	   /* with WRITER_TICK: more work will be due without an append */
	uint64_t lost;	   /* records that could not be appended since WRITER_HELLO */
	uint64_t repaired; /* with WRITER_HELLO: bytes of a torn end that were cut off */
	struct audit_log_position position;
	struct audit_log_figures figures;
	char text[1024]; /* message of the failure */
};

#endif
