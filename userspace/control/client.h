/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client's side of the control protocol, for commands. Blocking; retries after EINTR. The
 * connection is a plain descriptor: poll it for POLLHUP to notice that the daemon died. Closing it
 * before client_ended() kills everything that the execution started.
 *
 * Every function returns 0, or -ERRNO with *failure set: -ECONNRESET if the daemon closed the
 * connection, -ETIMEDOUT after the connection's SO_RCVTIMEO, -EBADMSG after a malformed reply, or
 * the daemon's errno.
 */
#ifndef CORDON_DAEMON_CLIENT_H
#define CORDON_DAEMON_CLIENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "audit/record/record.h"
#include "base/cleanup.h"
#include "base/failure.h"
#include "policy/core/compiled.h"

/*
 * Connects to a running daemon. Returns 0, -ENOENT or -ECONNREFUSED if none runs, or -EACCES
 * without permission.
 */
int client_connect(int *ret_socket, struct failure *failure);

/*
 * Connects to the daemon's status socket, PROTOCOL_STATUS_SOCKET or another path, which only
 * supports client_status(). `seconds`: timeout for connecting and for each reply. Errors as for
 * client_connect(), and -ENAMETOOLONG.
 */
int client_connect_looking(const char *path, unsigned int seconds, int *ret_socket,
			   struct failure *failure);

/*
 * Connects to a socket that supports client_who(): for all executions if the caller is root or in
 * the group cordon-who, for the caller's own if in the group `cordon`. Errors as for
 * client_connect().
 */
int client_connect_who(int *ret_socket, struct failure *failure);

/*
 * Checks that the daemon runs and will not exit: an idle daemon does not exit while it has
 * connections.
 */
int client_hello(int socket, struct failure *failure);

struct client_prepare {
	const char *policy;  /* name or absolute path */
	const char *workdir; /* absolute, as in records */
	int workdir_fd;
	int home_fd; /* -1: none, ${home} stays unbound */
	/* further bound directories of the policy, parallel to bind_fds */
	const char *const *bind_names;
	const int *bind_fds;
	size_t bind_count;
	size_t found_count; /* the last ones, ignored by policies without such a variable */
	const char *session, *agent, *executor, *language; /* NULL: unknown */
	/* As in the caller's environment, see trace_context.h; or NULL. */
	const char *traceparent, *conversation;
	struct policy_limits limits; /* requested by options; 0: the policy's */
	bool observe;		     /* only log, whatever the policy's mode */
	const char *log;	     /* absolute directory; NULL: the daemon's */
	const char *program;	     /* argv[0] */
	size_t argument_count;
	unsigned char arguments_digest[32];
	uint64_t arguments_length;
	char *const *arguments; /* argument_count entries, NULL for arguments with code; or NULL */
	const struct audit_code *code;
	int code_fd; /* of the hashed file, if any */
	uid_t uid;   /* the command's uid and gid */
	gid_t gid;
	/* As in launch/indirections.h, NULL-terminated; or NULL. */
	char *const *indirections, *const *unresolved;
};

struct client_prepared {
	char id[37];
	int cgroup_fd; /* the execution's cgroup, for CLONE_INTO_CGROUP */
	int filter_fd; /* seccomp filter, see launch/seccomp.h; -1: none */
	struct policy_environment environment;
	struct policy_limits limits; /* effective */
	char **limits_missing;	     /* "cpu: no controller"; NULL-terminated, never NULL */
	uint64_t capabilities;	     /* ceiling: bit n is capability n */
	bool keep_descriptors;	     /* the command inherits the caller's descriptors */
	char *tmp;		     /* the execution's directory for ${tmp} */
	bool observe;
	bool asks;  /* accesses may wait for a decision, with the process stopped */
	bool moves; /* the daemon moves the child to its cgroup, because the client may not */
	enum policy_arguments arguments;
};

/* Closes the descriptors and frees the members, not the struct. */
void client_prepared_release(struct client_prepared *prepared);

/*
 * Requests an execution. If the daemon rejects it, *ret_message (if not NULL) is the complete text
 * for display, because diagnostics of a policy may exceed the size of a failure. The caller frees
 * it.
 */
int client_prepare(int socket, const struct client_prepare *prepare,
		   struct client_prepared *ret_prepared, char **ret_message,
		   struct failure *failure);

/*
 * Has the held child labelled. After success the start record is on disk; only then may the child
 * exec. The lists of names are NULL-terminated, or NULL. *ret_deadline: boot clock, ns; 0: none.
 */
int client_label(int socket, int pidfd, char *const *environment_kept,
		 char *const *environment_removed, uint64_t *ret_deadline, struct failure *failure);

struct client_ended {
	const char *id; /* an execution of a previous daemon; NULL: this connection's */
	int status;	/* as from wait(2) */
	bool have_code; /* the code was standard input: its digest is known now */
	unsigned char code_digest[32];
	uint64_t code_length;
	uint64_t user_nsec, system_nsec; /* of the child, from wait4(2) */
};

struct client_outcome {
	enum audit_end_cause cause;
	uint64_t denials, would_denials, attempts;
	uint64_t killed; /* processes still alive when the command had ended */
	int report_fd;	 /* memfd with the report as JSON, at offset 0; the caller closes it */
};

/*
 * Reports that the child was reaped. Returns when all of its processes are dead and the end record
 * is on disk. Returns -ENOENT, with an id, if the end was already logged.
 */
int client_ended(int socket, const struct client_ended *ended, struct client_outcome *ret_outcome,
		 struct failure *failure);

/* Reports that the child could not exec (`error`) or was aborted: no code ran. */
int client_abort(int socket, int error, const char *message, struct client_outcome *ret_outcome,
		 struct failure *failure);

/* Makes the daemon reload cordon.yaml; its errors are in *failure. */
int client_reload(int socket, json_t **ret_reply, struct failure *failure);

/*
 * Makes a process an executor; `executor` may be NULL. See docs/protocol.md. The caller owns the
 * reference.
 */
int client_adopt(int socket, pid_t pid, const char *executor, json_t **ret_reply,
		 struct failure *failure);

/*
 * Returns the execution of a process, or of a cgroup (the other argument is 0), or -ENOENT if there
 * is none. The caller owns the reference.
 */
int client_who(int socket, pid_t pid, uint64_t cgroup, json_t **ret_execution,
	       struct failure *failure);

/* Returns the daemon's state; see docs/protocol.md. The caller owns the reference. */
int client_status(int socket, json_t **ret_status, struct failure *failure);

/* Returns the live executions as an array of objects. The caller owns the reference. */
int client_list(int socket, json_t **ret_executions, struct failure *failure);

/* Kills an execution, which is logged; returns when it is dead. -ENOENT: no such execution. */
int client_kill(int socket, const char *id, struct failure *failure);

struct client_apply {
	const char *policy; /* name or absolute path */
	/* exactly one of these */
	const char *execution; /* id */
	const char *all_of;    /* name of their current policy */
	const char *session;
	const char *reason; /* why it may permit more; NULL: it may not */
};

/*
 * Applies another policy to executions, to all or to none. *ret_reply as in docs/protocol.md; the
 * caller owns the reference. *ret_message as for client_prepare(). -ESRCH: none is live; -EPERM:
 * the policy permits more.
 */
int client_apply(int socket, const struct client_apply *apply, json_t **ret_reply,
		 char **ret_message, struct failure *failure);

/*
 * Unloads the enforcement and ends the daemon. -EBUSY: executions are live (*failure lists them);
 * `force` kills them.
 */
struct client_decide {
	const char *decision;	     /* "approve", "refuse" or "revoke" */
	const char *digest, *policy; /* one of them is NULL */
	const char *reason;
	uint64_t expires; /* wall clock in ns; 0: never */
};

/* *ret_message as for client_prepare(). */
int client_decide(int socket, const struct client_decide *decide, json_t **ret_reply,
		  char **ret_message, struct failure *failure);

struct client_propose {
	const char *execution; /* id, or a prefix */
	const char *scope;     /* "execution", "session" or "policy" */
	uint64_t expires;      /* wall clock in ns */
};

/*
 * Proposes to permit the denied accesses of an execution. *ret_reply as in docs/protocol.md; the
 * caller owns the reference.
 */
int client_propose(int socket, const struct client_propose *propose, json_t **ret_reply,
		   struct failure *failure);

/* Returns all entries as a new reference. */
int client_approvals(int socket, json_t **ret_approvals, struct failure *failure);

int client_stop(int socket, bool force, struct failure *failure);

#endif
