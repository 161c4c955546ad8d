/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the daemon and a log's writer: a stream socket on HELPER_SOCKET_FD, whose both ends are
 * the same program. The daemon sends requests, each a header and its payload; all but WRITER_APPEND
 * and WRITER_LOSE are answered by one struct writer_reply. The log's directory is open on
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
	WRITER_APPEND,	 /* records: a uint32_t of each one's size, and its text */
	WRITER_LOSE,	 /* a uint64_t: so many records were lost before they could be appended */
	WRITER_FLUSH,	 /* writes what was appended */
	WRITER_SYNC,	 /* the same, and syncs */
	WRITER_TICK,	 /* what shipped.h has: notes what that says, and audit_log_tick() */
	WRITER_WRITABLE, /* audit_log_writable() */
	WRITER_CLOSE,	 /* the last: writes, seals, notes that the writer stopped in order */
	WRITER_REQUEST_COUNT,
};

struct writer_header {
	uint32_t request;
	uint32_t size; /* of what follows */
};

/* No request is larger: the longest line, and what was gathered before it. */
#define WRITER_PAYLOAD_MAX (16u << 20)

struct writer_hello {
	struct audit_log_options options; /* but for its clock and what it points to */
	uint32_t uid, gid;		  /* to become */
	uint32_t patience_msec;		  /* for another writer, which may be about to leave */
	uint32_t confine;		  /* 0: not root, so nothing to give up */
	/*
	 * What an earlier writer of this daemon is known to have written. The records behind it are
	 * sent again. sequence 0: there was none.
	 */
	struct audit_log_position position;
	uint32_t anew;	     /* in another directory than that writer, in place of its */
	char name[PATH_MAX]; /* of the directory, for messages */
	char identity[IDENTITY_TEXT_MAX]; /* what identity_format() made; empty: nothing */
};

struct writer_reply {
	int32_t result; /* 0, or a negative errno */
	uint32_t later; /* with WRITER_TICK: something will be due although nothing is appended */
	uint64_t lost;	/* records that could not be appended, since WRITER_HELLO */
	uint64_t repaired; /* with WRITER_HELLO: bytes of a torn end that were cut off */
	struct audit_log_position position;
	struct audit_log_figures figures;
	char text[1024]; /* what failed, for people */
};

#endif
