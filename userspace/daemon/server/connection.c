/* SPDX-License-Identifier: Apache-2.0 */
/* One client: who it is, the execution it owns, what it still has to be told. */
#include "daemon/server/connection.h"

#include "base/clock.h"
#include "control/protocol.h"

void connection_answer(struct connection *c, json_t *message, const int *fds, size_t fd_count)
{
	int r = message ? protocol_send(c->fd, message, fds, fd_count) : -ENOMEM;

	json_decref(message);
	if (r < 0)
		/* The reader sees the end and drops it: nobody else may hold it then. */
		(void)shutdown(c->fd, SHUT_RDWR);
}

void connection_refuse(struct connection *c, int error, const char *text)
{
	uint64_t now = clock_nsec(CLOCK_MONOTONIC);

	if (c->account)
		account_charge(c->account, ACCOUNT_REFUSAL_NSEC, now);
	connection_answer(c, protocol_error(error, text), NULL, 0);
}

void connection_answer_outcome(struct connection *c)
{
	const struct audit_end *end = &c->outcome;

	c->awaits_outcome = false;
	c->have_outcome = false;
	if (c->report_fd < 0) {
		connection_refuse(c, ENOMEM, "no memory for the report; the execution has ended");
		return;
	}
	connection_answer(c,
			  json_pack("{s:b,s:s,s:I,s:I,s:I,s:o*}", "ok", 1, "cause",
				    protocol_cause_name(end->cause), "denials",
				    (json_int_t)end->denials, "would_denials",
				    (json_int_t)end->would_denials, "killed",
				    (json_int_t)c->outlived, "attempts",
				    end->attempts ? json_integer((json_int_t)end->attempts) : NULL),
			  &c->report_fd, 1);
	closep(&c->report_fd);
	c->report_fd = -1;
}

void connection_finished(struct connection *c, struct execution *e)
{
	c->execution = NULL;
	c->have_outcome = true;
	c->outcome = e->end;
	c->outlived = e->end.killed_tasks - e->ending.leader_killed;
	c->report_fd = TAKE_FD(e->ending.report_fd);
	if (c->awaits_outcome)
		connection_answer_outcome(c);
}
