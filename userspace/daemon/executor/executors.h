/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of cordon.yaml in force, and the executions that stand ready for each: bound slots
 * that the kernel hands to an executor's child at its exec, without asking anybody.
 */
#ifndef CORDON_DAEMON_EXECUTORS_H
#define CORDON_DAEMON_EXECUTORS_H

#include <sys/socket.h>

#include "config/config.h"
#include "daemon/execution/context.h"
#include "daemon/policy/compiling.h"
#include "control/request.h"
#include "kernel/adoption.h"

struct executors;
struct gathering;

/* An entry that is or was in force; while executions of it live, it stays. */
struct executor_entry {
	const struct config_executor *is;
	uint32_t index; /* in the kernel */
	uid_t uid; /* who alone is the executor; (uid_t)-1: anybody, or there is no such user */
	/*
	 * The paths of the executor's program, NULL-terminated: what its name leads to or has led
	 * to since it is active; of a pattern, only what is not like it.
	 */
	char **targets;
	char *pattern; /* NULL: its name is none. With the links of its fixed part resolved */
	size_t prefix; /* bytes of the pattern before its first `*` */
	char *names;   /* lookup_text(); NULL: nothing is compared */
	char *why; /* not NULL: it names what is not there, and all that its executor starts is refused */
	const struct policy_use *policy; /* NULL: there is none, which `why` says */
	struct policy_limits limits;	 /* in force: the policy's, lowered by the entry */
	bool cgroup;			 /* its executions need one of their own */
	bool waits;			 /* for approval: none starts */
	/* The policy's own directories, and what pins them. */
	struct cordon_anchor anchors[CORDON_MAX_ANCHORS];
	int directories[CORDON_MAX_ANCHORS];
	/* For executor_follow(). */
	struct executors *executors;
	struct errand *following; /* the worker; NULL: there is none */
	struct lookup *found;	  /* what the entry is to be made again from; NULL: it is not */
	uint64_t since;		  /* it is active: boot clock, ns */
	unsigned int quick;	  /* workers that it may still start at once */
	bool unfollowed;	  /* the last worker has failed */
};

/*
 * Only what the file says is on record at least: for a daemon that knows no entries. As
 * executors_check().
 */
int executors_audit(struct daemon *daemon, const struct gathering *g, const char *path,
		    struct failure *failure);

/*
 * Before anything is loaded for the file: checks that it, or the last good file, could be read. Its
 * policies are checked later. As executors_load() otherwise.
 */
int executors_check(struct daemon *daemon, const struct gathering *g, const char *path,
		    struct failure *failure);

/*
 * For the file at `path`, which must stay. What an earlier daemon put into force stays so until
 * executors_load().
 */
int executors_start(struct daemon *daemon, const char *path, struct executors **ret_executors,
		    struct failure *failure);

/* Closes this process's handles; the kernel goes on adopting as long as the lease lasts. */
void executors_free(struct executors *x);

/*
 * Changes over to the gathered file at once, or not at all. An entry with a missing or unresponsive
 * name rejects all programs of its executor until the name is found, which is logged. The first
 * time, the last good file replaces one that cannot be read. Without a file there are no executors.
 * *ret_count: active entries. Returns 0, or -EINVAL and other errors of reading the file: `failure`
 * has the diagnostics, as the record has.
 */
int executors_load(struct executors *x, struct gathering *g, size_t *ret_count,
		   struct failure *failure);

/* gathering_read() of its file: for executors_load(). */
int executors_gather(struct executors *x, void (*done)(void *context), void *context,
		     struct gathering **ret_gathering, struct failure *failure);

/* Looks up the names of the entries within a bound, and continues as executors_load(). */
int executors_load_first(struct executors *x, struct gathering *g, struct failure *failure);

/*
 * Records that the file is refused, because of a policy; `failure` has the message then, if there
 * is one.
 */
void executors_refuse(struct executors *x, int r, const char *message, struct failure *failure);

/* Has the policies compiled beside the loop and the file loaded then, and says what was wrong. */
void executors_reload(struct executors *x);

/* None is in force from here on; what stood ready is given back. */
void executors_clear(struct executors *x);

/*
 * The first processes that run an executor, one a line, and how many there are: what they start is
 * confined as long as cordon enforces. `x` may be NULL.
 */
size_t executors_living(struct executors *x, char *text, size_t size);

/* NULL: none with this number. */
const struct executor_entry *executors_entry(const struct executors *x, uint32_t index);

/*
 * Where policies need approval: children of entries whose policies are approved start from here on,
 * those of other entries do not.
 */
void executors_check_approvals(struct executors *x);

/* Sees to it that enough executions stand ready, and says that the daemon is there. */
void executors_look_after(struct executors *x);

/*
 * A process that runs already is an executor from here on. *ret_reply: {ok, executor, pid, threads,
 * children}, new reference. -ENOENT: no such entry, or none for its program; -ESRCH: no such
 * process; -EBUSY: it is an execution, or another entry's; -EINVAL: it cannot be one; -EOPNOTSUPP:
 * the entry confines the executor itself; -ENOMEM.
 */
int executors_adopt(struct executors *x, const struct adopt_request *request,
		    const struct ucred *peer, json_t **ret_reply, struct failure *failure);

size_t executors_count(const struct executors *x);

/* [{name, kind, policy, ..., refuses}]. New reference or NULL. */
json_t *executors_json(const struct executors *x);

/*
 * {entries, adopted, refused, cleaned_late, file, trouble, list, before, before_more}: how many
 * are in force; since cordon was loaded, how many executions they made, how many were refused, and
 * how many environments the daemon had to clean, not the kernel; what is wrong with the file, so
 * that the last good one is in force, or null; each entry with its state; processes that one of
 * them matches, and that were there before it, and how many more there are. New reference or NULL.
 */
json_t *executors_status_json(const struct executors *x);

#endif
