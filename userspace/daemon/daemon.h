/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon as a whole: owns the enforcement, the control socket and the log. */
#ifndef CORDON_DAEMON_DAEMON_H
#define CORDON_DAEMON_DAEMON_H

#include <stdbool.h>

#include "base/failure.h"
#include "daemon/privsep/logs.h"

#define DAEMON_DEFAULT_LOG	    "/var/log/cordon"
#define DAEMON_DEFAULT_STATE	    "/var/lib/cordon"
#define DAEMON_DEFAULT_SHIP_STATE   "/var/lib/cordon-ship/state.json"
#define DAEMON_DEFAULT_UNSHIPPED    (1024ull << 20)
#define DAEMON_DEFAULT_IDLE_SECONDS 3600u
#define DAEMON_DEFAULT_HEARTBEAT    60u

struct daemon_options {
	bool embedded; /* started by a client, which listens on EMBEDDED_PIPE_FD; leaves when idle */
	unsigned int idle_seconds;
	unsigned int heartbeat_seconds; /* between two records that say it is there; 0: none */
	const char *log;
	const char *config;   /* cordon.yaml: read at the start and on SIGHUP */
	const char *fleet;    /* fleet.yaml: read at the start; it may be absent */
	const char *pid_file; /* or NULL */
	bool require_approval;
	const char *state; /* directory of what outlives a boot */
	struct logs_options logs;
	const char *const *policies;   /* directories, NULL-terminated; NULL: the usual ones */
	void (*say)(const char *line); /* to its operator */
};

/*
 * Runs until told to leave (SIGTERM, SIGINT, `cordon disable`, or idle when embedded). What is
 * left then: see docs/protocol.md. -EBUSY: another daemon runs; or the errno of the step
 * that failed, with `failure`.
 */
int daemon_run(const struct daemon_options *options, struct failure *failure);

/* A log's writer, which a daemon has started: writer_process(). */
int daemon_write_log(void);

/*
 * What `cordon daemon OPTION` is with this one: see reader_process.h. daemon_read() returns an exit
 * status.
 */
bool daemon_is_reader(const char *option);
int daemon_read(void);

#endif
