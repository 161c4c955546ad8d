/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the daemon share. One thread; every callback runs in its event loop. */
#ifndef CORDON_DAEMON_CONTEXT_H
#define CORDON_DAEMON_CONTEXT_H

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/record/event_text.h"
#include "bpf/abi.h"
#include "control/protocol.h"
#include "daemon/execution/backlog.h"
#include "daemon/execution/totals.h"
#include "daemon/host/cgroup.h"
#include "daemon/peer/account.h"
#include "daemon/peer/names.h"
#include "daemon/privsep/logs.h"
#include "daemon/policy/policies.h"
#include "kernel/enforcement.h"

struct adopted_calls;
struct approvals;
struct dns_stub;
struct execution;
struct executors;
struct leftovers;
struct recovery;
struct refused_list;
struct applying;
struct server;

#define DAEMON_TMP_PARENT "/tmp"
#define DAEMON_PASSWD	  "/etc/passwd"
/* Files of indirect_policy.h. */
#define DAEMON_INDIRECTIONS PROTOCOL_DIRECTORY "/indirections"

struct daemon {
	struct event_base *base;
	struct enforcement *enforcement;
	struct policies *policies;
	struct approvals *approvals;  /* NULL: none are required; see approvals_required() */
	bool approvals_by_option;     /* whatever cordon.yaml says */
	uint64_t idle_nsec;	      /* of an embedded one, as cordon.yaml says; 0: it does not */
	bool own_approvals;	      /* a user may approve what the same user proposed */
	bool approvals_idle;	      /* they were required, and are not any more */
	const char *state;	      /* directory of what outlives a boot; NULL: there is none */
	struct refused_list *refused; /* NULL: nothing was, yet */
	struct logs *logs;
	struct log_use *log; /* the daemon's own, and the default of executions */
	struct cgroup_tree cgroups;
	int state_fd; /* directory of state files */
	char **gaps;  /* what this kernel leaves uncovered, NULL-terminated */
	struct server *server;
	LIST_HEAD(, applying) applying; /* changes of policies that are being made */
	struct accounts accounts;
	struct names names;
	struct dns_stub *dns;
	struct leftovers *leftovers; /* NULL: none */
	struct recovery *recovery;   /* NULL: nothing of an earlier daemon is to be read */
	struct executors *executors; /* NULL: embedded, or not yet */

	struct execution *by_slot[CORDON_MAX_EXECUTIONS];
	size_t executions; /* that are not finished */
	size_t unfinished; /* those, and the finished whose remains are being removed */

	bool embedded;
	bool knows_executors;	      /* cordon.yaml is loaded, or there is none */
	struct event_text event_text; /* of the event at hand */
	struct backlogs backlogs;     /* events that wait for their turn */
	struct event *backlog_timer;  /* reads events and looks at these again */
	size_t with_previous;	      /* executions whose earlier policy's events may come in */
	bool in_turns;		      /* executions have them now, of so many records left: */
	unsigned int records_left;
	uint64_t turn;	      /* counts them */
	bool more_events;     /* the rings had more than the last turn took */
	bool leaving;	      /* no connection is accepted any more */
	uint64_t boot_offset; /* wall clock minus boot clock */
	uint64_t start_time;  /* boot clock */
	enum enforcement_origin origin;
	size_t denials_kept; /* for reports, of all executions */
	uint64_t strays;     /* events of executions that are no more */
	uint64_t malformed;  /* events that are none */
	struct totals totals;
	struct event *flush_timer;
	bool flush_pending;

	/* One line about the daemon itself, for its operator. */
	void (*say)(const char *line);
	/* Called when the last execution or connection has gone; decides about leaving. */
	void (*idle)(struct daemon *daemon);
	/* Called when there is something to write or to look after. */
	void (*busy)(struct daemon *daemon);
	/*
	 * NULL while nobody can be connected: an execution's start is written, or why it cannot be;
	 * it has finished, or resists being killed.
	 */
	void (*execution_begun)(struct execution *e, int result, const char *why);
	void (*execution_finished)(struct execution *e);
	void (*execution_stuck)(struct execution *e);
	/* ending_timer(), for each execution that is made. */
	void (*execution_timer)(evutil_socket_t fd, short what, void *execution);
	/* What is done for executions of executors. */
	const struct adopted_calls *adopted;
};

/* Formats a line for daemon->say. */
void daemon_say(struct daemon *daemon, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Has what was appended to logs written within milliseconds. */
void daemon_flush_soon(struct daemon *daemon);

/* A record about cordon itself, in its own log; takes over `details`. */
void daemon_record(struct daemon *daemon, const char *action, json_t *details);

/* The same of what somebody should know: an alert. */
void daemon_alert(struct daemon *daemon, const char *action, json_t *details);

#endif
