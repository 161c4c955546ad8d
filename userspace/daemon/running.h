/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A daemon at work, with what only the parts of daemon_run() know of it: its start, its loop, its
 * end.
 */
#ifndef CORDON_DAEMON_RUNNING_H
#define CORDON_DAEMON_RUNNING_H

#include <event2/event.h>

#include "audit/record/identity.h"
#include "base/failure.h"
#include "daemon/execution/context.h"
#include "daemon/daemon.h"

/* Everything that daemon_run() sets up (the daemon first: its address is that of the whole). */
struct gathering;
struct start_names;

struct running {
	struct daemon daemon;
	struct daemon_options options;
	int lock_fd;
	int notes_fd;
	int pipe_fd;
	int guard_fd;
	char **directories;
	struct start_names *names;
	struct gathering *gathering;	  /* of cordon.yaml, for the start */
	char identity[IDENTITY_TEXT_MAX]; /* this host's, which logs begin with */
	struct event *signals[4];
	struct event *events;
	struct event *tick;
	struct event *catch_up; /* reads the rings again */
	struct event *idle_timer;
	struct event *watchdog;
	struct event *heartbeat; /* NULL: none */
	bool pid_written;
	bool on_record; /* its start is: so is its end */
	unsigned int ticks;
	bool unload; /* leave nothing behind */
};

/* Makes the loop and what turns in it before there is anything to listen to. -ENOMEM. */
int running_make_loop(struct running *running, struct failure *failure);

/* Signals, the rings, the service manager's watchdog if there is one, and heartbeats. -ENOMEM. */
int running_watch(struct running *running, struct failure *failure);

/* Called when a client or an execution has gone: an embedded daemon without work may exit. */
void running_idle(struct daemon *daemon);

/* Called when there is something to look after: ticks until there is no more. */
void running_busy(struct daemon *daemon);

void running_free_loop(struct running *running);

/*
 * Takes enforcement out of the kernel. Detaching takes seconds; until then the lock makes new
 * daemons wait.
 */
int running_unload(struct running *running, struct failure *failure);

/* Gives back all but the struct; what is in the kernel stays. */
void running_stop(struct running *running);

#endif
