/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses requests from JSON with strict checks. All functions return 0, -ENOMEM, or -EINVAL with
 * *failure set for an unknown or missing key, a wrong type, or a text that is too long.
 */
#ifndef CORDON_DAEMON_REQUEST_H
#define CORDON_DAEMON_REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "audit/record/record.h"
#include "base/failure.h"
#include "base/uuid.h"
#include "policy/core/compiled.h"

/* Session, agent, executor, language and names of bindings. */
#define REQUEST_NAME_MAX 255
/* An operator's reason for permitting something. */
#define REQUEST_REASON_MAX 1000

enum request_op {
	REQUEST_HELLO,
	REQUEST_PREPARE,
	REQUEST_LABEL,
	REQUEST_ENDED,
	REQUEST_ABORT,
	REQUEST_STATUS,
	REQUEST_PS,
	REQUEST_KILL,
	REQUEST_STOP,
	REQUEST_APPLY,
	REQUEST_RELOAD,
	REQUEST_DECIDE,
	REQUEST_APPROVALS,
	REQUEST_ADOPT,
	REQUEST_WHO,
	REQUEST_PROPOSE,
	REQUEST_OP_COUNT,
};

int request_op(json_t *message, enum request_op *ret_op, struct failure *failure);
const char *request_op_name(enum request_op op);

struct prepare_request {
	char *policy; /* name or absolute path */
	bool home;    /* with a descriptor of the home directory */
	char **binds; /* NULL-terminated */
	size_t bind_count;
	size_t found_count; /* the last ones, ignored by policies without such a variable */
	struct policy_limits limits; /* requested */
	char *log;		     /* absolute, or NULL */
	char **indirections; /* three strings each, NULL-terminated, or NULL; not validated */
	/* The members from the request; id, policy and effective limits are set later. */
	struct audit_execution execution;
};

int prepare_request_parse(json_t *message, struct prepare_request *ret_request,
			  struct failure *failure);
void prepare_request_release(struct prepare_request *request);

/* Frees the members of an execution's description, not the struct. */
void audit_execution_release(struct audit_execution *execution);

struct label_request {
	char **kept, **removed; /* names of environment variables, NULL-terminated */
};

int label_request_parse(json_t *message, struct label_request *ret_request,
			struct failure *failure);
void label_request_release(struct label_request *request);

struct ended_request {
	char id[UUID_TEXT_SIZE]; /* of an execution of a previous daemon; "": the connection's */
	int status;
	bool have_code;
	unsigned char code_digest[32];
	uint64_t code_length;
	uint64_t user_nsec, system_nsec;
};

int ended_request_parse(json_t *message, struct ended_request *ret_request,
			struct failure *failure);

struct abort_request {
	int error; /* positive; 0: name unknown on this host */
	char message[512];
};

int abort_request_parse(json_t *message, struct abort_request *ret_request,
			struct failure *failure);

/* *ret_from: the first slot. */
int ps_request_parse(json_t *message, uint32_t *ret_from, struct failure *failure);
int kill_request_parse(json_t *message, unsigned char ret_id[16], struct failure *failure);
int stop_request_parse(json_t *message, bool *ret_force, struct failure *failure);

/* Exactly one of execution, all_of and session is set. */
struct apply_request {
	char *policy;			/* name or absolute path */
	char execution[UUID_TEXT_SIZE]; /* or "" */
	char *all_of;			/* name of a policy, or NULL */
	char *session;			/* why the policy may permit more; NULL: it may not */
	char *reason;			/* or NULL */
	const char *use;		/* the approved use, never from the client; NULL: all */
};

int apply_request_parse(json_t *message, struct apply_request *ret_request,
			struct failure *failure);
void apply_request_release(struct apply_request *request);

struct adopt_request {
	pid_t pid;
	char *executor; /* name of an entry; NULL: the entry of the process's program */
};

int adopt_request_parse(json_t *message, struct adopt_request *ret_request,
			struct failure *failure);
void adopt_request_release(struct adopt_request *request);

/* Exactly one is set; the other is 0. */
struct who_request {
	pid_t pid;
	uint64_t cgroup; /* the kernel's cgroup id */
};

int who_request_parse(json_t *message, struct who_request *ret_request, struct failure *failure);

/* Requests without members; hello has its version. */
int plain_request_parse(json_t *message, struct failure *failure);
int hello_request_parse(json_t *message, struct failure *failure);

#endif
