/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests as the daemon understands them: strictly checked JSON. An unknown key, a missing one, a
 * wrong type, an overlong text: -EINVAL, and `failure` says which. -ENOMEM.
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
/* Why something is allowed, in an operator's words. */
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
	bool home;    /* a descriptor of the home directory comes along */
	char **binds; /* NULL-terminated */
	size_t bind_count;
	size_t found_count; /* so many of the last ones mean nothing where the policy has no such variable */
	struct policy_limits limits; /* asked for */
	char *log;		     /* absolute, or NULL */
	char **indirections; /* three texts each, NULL-terminated, or NULL; not checked further */
	/* Everything the request says about it; id, policy and limits in force come later. */
	struct audit_execution execution;
};

int prepare_request_parse(json_t *message, struct prepare_request *ret_request,
			  struct failure *failure);
void prepare_request_release(struct prepare_request *request);

/* Frees what an execution's description owns, not the struct. */
void audit_execution_release(struct audit_execution *execution);

struct label_request {
	char **kept, **removed; /* names of environment variables, NULL-terminated */
};

int label_request_parse(json_t *message, struct label_request *ret_request,
			struct failure *failure);
void label_request_release(struct label_request *request);

struct ended_request {
	char id[UUID_TEXT_SIZE]; /* of one that an earlier daemon began; "": the connection's own */
	int status;
	bool have_code;
	unsigned char code_digest[32];
	uint64_t code_length;
	uint64_t user_nsec, system_nsec;
};

int ended_request_parse(json_t *message, struct ended_request *ret_request,
			struct failure *failure);

struct abort_request {
	int error; /* positive; 0: a name that this host does not know */
	char message[512];
};

int abort_request_parse(json_t *message, struct abort_request *ret_request,
			struct failure *failure);

/* *ret_from: the slot to begin with. */
int ps_request_parse(json_t *message, uint32_t *ret_from, struct failure *failure);
int kill_request_parse(json_t *message, unsigned char ret_id[16], struct failure *failure);
int stop_request_parse(json_t *message, bool *ret_force, struct failure *failure);

/* Exactly one of execution, all_of and session says which ones. */
struct apply_request {
	char *policy;			/* name or absolute path */
	char execution[UUID_TEXT_SIZE]; /* or "" */
	char *all_of;			/* name of a policy, or NULL */
	char *session;			/* or NULL */
	char *reason;			/* why the policy may be wider; NULL: it may not */
	const char *use; /* what it was approved for, never from the wire; NULL: all */
};

int apply_request_parse(json_t *message, struct apply_request *ret_request,
			struct failure *failure);
void apply_request_release(struct apply_request *request);

struct adopt_request {
	pid_t pid;
	char *executor; /* name of an entry; NULL: the one for the program that the process runs */
};

int adopt_request_parse(json_t *message, struct adopt_request *ret_request,
			struct failure *failure);
void adopt_request_release(struct adopt_request *request);

/* One of the two: the other is 0. */
struct who_request {
	pid_t pid;
	uint64_t cgroup; /* the kernel's number */
};

int who_request_parse(json_t *message, struct who_request *ret_request, struct failure *failure);

/* Requests that have nothing but their name; hello carries its version. */
int plain_request_parse(json_t *message, struct failure *failure);
int hello_request_parse(json_t *message, struct failure *failure);

#endif
