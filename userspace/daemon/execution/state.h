/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State files, /run/cordon/executions/ID.json: what the next daemon must know of an execution to
 * write its last record when this one dies first.
 */
#ifndef CORDON_DAEMON_STATE_H
#define CORDON_DAEMON_STATE_H

#include <jansson.h>

#include "audit/record/record.h"
#include "base/failure.h"
#include "control/request.h"
#include "daemon/execution/sequence.h"

struct execution;

/* Writes or replaces it: a whole one is there at any moment. */
int state_save(int dir_fd, const struct execution *e, struct failure *failure);

/* Also what a crash left unfinished. */
void state_remove(int dir_fd, const char *id);

struct state {
	struct prepare_request request;	 /* execution: as far as a state file says */
	char *log;			 /* directory */
	char *policy_name, *policy_file; /* name in the policy; file as opened */
	unsigned char policy_digest[32];
	bool started;
	uint64_t start; /* boot clock, ns */
	json_t *asked;	/* the request as it was received */
	uint32_t client_uid;
	uint64_t unwritten[EXECUTION_UNWRITTEN]; /* see struct execution */
	pid_t leader;
	bool in_order;
	bool told; /* how the command ended, and what it used: its end is about to be recorded */
	int told_status;
	uint64_t told_user_nsec, told_system_nsec;
	/* The policy that was about to replace it; the kernel knows whether it did. */
	bool changing;
	char *changing_asked, *changing_name, *changing_file;
	unsigned char changing_digest[32];
};

/* -ENOENT; -EBADMSG: not a state file; -ENOMEM. */
int state_load(int dir_fd, const char *id, struct state *ret_state, struct failure *failure);
void state_release(struct state *state);

/* The same from and to JSON. */
json_t *state_json(const struct execution *e);
int state_parse(json_t *object, struct state *ret_state, struct failure *failure);

/*
 * Calls `visit` with the id of each state file; twice if one was being replaced when cordon died.
 */
int state_for_each(int dir_fd, int (*visit)(const char *id, void *context), void *context);

#endif
