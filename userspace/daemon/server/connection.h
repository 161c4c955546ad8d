/* SPDX-License-Identifier: Apache-2.0 */
/* One client: who it is, the execution it owns, what it still has to be told. */
#ifndef CORDON_DAEMON_CONNECTION_H
#define CORDON_DAEMON_CONNECTION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "audit/record/record.h"
#include "base/uuid.h"
#include "control/protocol.h"
#include "control/request.h"
#include "daemon/peer/account.h"
#include "daemon/execution/execution.h"
#include "daemon/peer/peer.h"

struct applying;
struct gathering;
struct places;
struct listener;
struct approve_pending;
struct propose_pending;
struct reader_question;

struct connection {
	LIST_ENTRY(connection) link;
	struct server *server;
	struct daemon *daemon;
	int fd;
	struct event *readable;
	struct event *resume; /* reads on, where a user takes too much time; NULL for root */
	struct peer peer;
	struct listener *listener; /* by which it came */
	enum request_op only; /* all that it may ask for, root too; REQUEST_OP_COUNT: it depends */
	struct account *account;     /* NULL for root */
	struct execution *execution; /* its own, until that is finished */
	/* How it finished, kept until the client asks. */
	bool have_outcome;
	struct audit_end outcome;
	uint64_t outlived; /* processes that were killed besides the command itself */
	int report_fd;
	struct reader_question *reading; /* while its packet is read; NULL: there is none */
	struct protocol_fds fds;	 /* that came along with it */
	struct places *places;		 /* checks of its descriptors; NULL: none was made */
	struct log_use *log; /* that its request is to be on record in; NULL: the daemon's */
	struct gathering *gathering; /* of cordon.yaml, while that is loaded; not owned */
	struct ahead *ahead; /* while its request is not dispatched yet; NULL: there is none */
	/* Requests that are answered later. */
	bool awaits_outcome;
	bool awaits_stop;
	char awaits_kill[UUID_TEXT_SIZE]; /* id, or "" */
	struct applying *applying;
	struct approve_pending *approve_pending;
	struct propose_pending *propose_pending;
};

/*
 * Takes over the message; NULL: no memory. A client that does not read its answers is dropped
 * later.
 */
void connection_answer(struct connection *c, json_t *message, const int *fds, size_t fd_count);

/* `error` may be negative. */
void connection_refuse(struct connection *c, int error, const char *text);

/* Its execution is finished: tells how if it has asked, else keeps that until it does. */
void connection_finished(struct connection *c, struct execution *e);

/* Tells how its execution finished, once. */
void connection_answer_outcome(struct connection *c);

#endif
