/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client's side of the control protocol: what the command line calls. Blocking; EINTR is
 * retried. The connection is a plain descriptor: poll it for POLLHUP to notice that the daemon
 * has died. Closing it before client_ended() has everything the execution started killed.
 *
 * Every function returns 0 or -errno with `failure` filled: -ECONNRESET when the daemon is gone,
 * -ETIMEDOUT when the connection has a SO_RCVTIMEO and that is over, -EBADMSG when it does not
 * speak this protocol, otherwise the errno that the daemon named.
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

/* Connects to a running daemon. -ENOENT, -ECONNREFUSED: none runs; -EACCES: not allowed. */
int client_connect(int *ret_socket, struct failure *failure);

/*
 * Connects to the daemon's status socket, PROTOCOL_STATUS_SOCKET or another path, where nothing but
 * client_status() is answered. `seconds`: how long connecting, and each answer, may take. Errors as
 * client_connect(); -ENAMETOOLONG.
 */
int client_connect_looking(const char *path, unsigned int seconds, int *ret_socket,
			   struct failure *failure);

/*
 * Connects to where client_who() is answered: about every execution for root and members of the
 * group cordon-who, about the caller's own for members of `cordon`. Errors as client_connect().
 */
int client_connect_who(int *ret_socket, struct failure *failure);

/* Is the daemon there, and will it stay? It does not leave for being idle while connected to. */
int client_hello(int socket, struct failure *failure);

struct client_prepare {
	const char *policy;  /* name, or a path, which must be absolute */
	const char *workdir; /* absolute, as shown in records */
	int workdir_fd;
	int home_fd; /* -1: none, ${home} stays unbound */
	/* further anchors that the policy names, parallel to bind_fds */
	const char *const *bind_names;
	const int *bind_fds;
	size_t bind_count;
	size_t found_count; /* so many of the last ones are for policies that have such an anchor */
	const char *session, *agent, *executor, *language; /* NULL: unknown */
	/* As the caller has them, see trace_context.h; or NULL. */
	const char *traceparent, *conversation;
	struct policy_limits limits; /* asked for on the command line; 0: the policy's */
	bool observe;		     /* report only, whatever the policy's mode */
	const char *log;	     /* absolute directory; NULL: the daemon's */
	const char *program;	     /* argv[0] */
	size_t argument_count;
	unsigned char arguments_digest[32];
	uint64_t arguments_length;
	char *const *arguments; /* argument_count entries, NULL where one carried code; or NULL */
	const struct audit_code *code;
	int code_fd; /* of the file that was hashed, if there is one */
	uid_t uid;   /* whom the command will run as */
	gid_t gid;
	/* As launch/indirections.h has them, NULL-terminated; or NULL. */
	char *const *indirections, *const *unresolved;
};

struct client_prepared {
	char id[37];
	int cgroup_fd; /* directory of the execution's cgroup, for CLONE_INTO_CGROUP */
	int filter_fd; /* seccomp filter, see launch/seccomp.h; -1: none */
	struct policy_environment environment;
	struct policy_limits limits; /* in force */
	char **limits_missing;	     /* "cpu: no controller"; NULL-terminated, never NULL */
	uint64_t capabilities;	     /* ceiling: bit n is capability n */
	bool keep_descriptors;	     /* the caller's stay open in the command */
	char *tmp;		     /* directory of the execution behind ${tmp} */
	bool observe;
	bool asks;  /* calls may wait for an answer, and their process is stopped meanwhile */
	bool moves; /* the daemon moves the child to its cgroup, which the client may not */
	enum policy_arguments arguments;
};

/* Closes its descriptors and frees what it holds, not the struct. */
void client_prepared_release(struct client_prepared *prepared);

/*
 * Asks for an execution. When the daemon refuses, *ret_message (may be NULL) gets its text in full,
 * to be shown as is (diagnostics of a policy may be longer than a failure holds); caller frees.
 */
int client_prepare(int socket, const struct client_prepare *prepare,
		   struct client_prepared *ret_prepared, char **ret_message,
		   struct failure *failure);

/*
 * Has the held child labelled; after success the start record is on disk, and only then may it
 * exec. The names are NULL-terminated; NULL: none. *ret_deadline: boot clock, ns; 0: none.
 */
int client_label(int socket, int pidfd, char *const *environment_kept,
		 char *const *environment_removed, uint64_t *ret_deadline, struct failure *failure);

struct client_ended {
	const char *id; /* of an execution whose daemon died; NULL: this connection's own */
	int status;	/* as wait(2) reports it */
	bool have_code; /* standard input was the code: its digest is known now */
	unsigned char code_digest[32];
	uint64_t code_length;
	uint64_t user_nsec, system_nsec; /* of the child, by wait4(2) */
};

struct client_outcome {
	enum audit_end_cause cause;
	uint64_t denials, would_denials, attempts;
	uint64_t killed; /* processes that were still alive when the command had ended */
	int report_fd;	 /* memfd with the report's JSON, at its start; caller closes */
};

/*
 * Tells that the child was reaped; returns when everything it started is dead and the end record
 * is on disk. -ENOENT, with an id: the execution was recorded without that.
 */
int client_ended(int socket, const struct client_ended *ended, struct client_outcome *ret_outcome,
		 struct failure *failure);

/* Tells that the child could not exec (`error`) or was given up: nothing ran. */
int client_abort(int socket, int error, const char *message, struct client_outcome *ret_outcome,
		 struct failure *failure);

/* Has the daemon read cordon.yaml again; what is wrong with it is in `failure`. */
int client_reload(int socket, json_t **ret_reply, struct failure *failure);

/*
 * Makes an executor of a process; `executor` may be NULL. See docs/protocol.md. Caller owns the
 * reference.
 */
int client_adopt(int socket, pid_t pid, const char *executor, json_t **ret_reply,
		 struct failure *failure);

/*
 * Whose is this process, or what was made in this cgroup (the other is 0)? -ENOENT: no execution's.
 * Caller owns the reference.
 */
int client_who(int socket, pid_t pid, uint64_t cgroup, json_t **ret_execution,
	       struct failure *failure);

/* The daemon's state; see docs/protocol.md. Caller owns the reference. */
int client_status(int socket, json_t **ret_status, struct failure *failure);

/* Live executions, an array of objects. Caller owns the reference. */
int client_list(int socket, json_t **ret_executions, struct failure *failure);

/* Kills an execution, recorded as killed; returns when it is dead. -ENOENT: no such execution. */
int client_kill(int socket, const char *id, struct failure *failure);

struct client_apply {
	const char *policy; /* name, or a path, which must be absolute */
	/* exactly one of these */
	const char *execution; /* id */
	const char *all_of;    /* name of the policy they are under */
	const char *session;
	const char *reason; /* why it may allow more; NULL: it may not */
};

/*
 * Puts executions under another policy, all or none; *ret_reply as docs/protocol.md says, caller
 * owns the reference. *ret_message as for client_prepare(). -ESRCH: none is live; -EPERM: wider.
 */
int client_apply(int socket, const struct client_apply *apply, json_t **ret_reply,
		 char **ret_message, struct failure *failure);

/*
 * Has enforcement unloaded and the daemon leave. -EBUSY: executions are live (`failure` lists
 * them), unless `force`, which kills them.
 */
struct client_decide {
	const char *decision;	     /* "approve", "refuse", "revoke" */
	const char *digest, *policy; /* one of them NULL */
	const char *reason;
	uint64_t expires; /* wall clock in ns; 0: never */
};

/* *ret_message as for client_prepare(). */
int client_decide(int socket, const struct client_decide *decide, json_t **ret_reply,
		  char **ret_message, struct failure *failure);

struct client_propose {
	const char *execution; /* id, or the beginning of it */
	const char *scope;     /* "execution", "session", "policy" */
	uint64_t expires;      /* wall clock in ns */
};

/* Asks for what it was refused; *ret_reply as docs/protocol.md says, caller owns the reference. */
int client_propose(int socket, const struct client_propose *propose, json_t **ret_reply,
		   struct failure *failure);

/* All entries, a new reference. */
int client_approvals(int socket, json_t **ret_approvals, struct failure *failure);

int client_stop(int socket, bool force, struct failure *failure);

#endif
