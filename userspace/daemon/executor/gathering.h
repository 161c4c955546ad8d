/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers read all that loading cordon.yaml needs from file systems and user databases: the file,
 * the last good file, the directories closed to agent code, and the names in the entries. Each may
 * be unresponsive. The loop opens none of these paths.
 */
#ifndef CORDON_DAEMON_GATHERING_H
#define CORDON_DAEMON_GATHERING_H

#include "adopt/lookup.h"
#include "config/config.h"
#include "daemon/execution/context.h"
#include "daemon/policy/compiling.h"

struct executors;
struct gathering;

/* One entry of the file, or the entry for an executor itself. */
struct gathered {
	struct gathering *gathering;
	const struct config_executor *is;
	struct compiling *compiling;  /* its policy, if it is compiled for this entry alone */
	const struct policy_use *use; /* NULL: the fields below have the cause */
	int error;
	char *message; /* diagnostics, or NULL */
	struct failure failure;
	bool looked_up;
	struct lookup found;
};

/* Called in the loop when a step is complete. May free the gathering. */
typedef void gathering_done(void *context);

/*
 * Begins to read the file at `path`, a string that must stay. `kept`: also the last good file, to
 * be used if reading fails. Calls `done` later. Returns 0, -ENOMEM, or -errno of fork(2).
 */
int gathering_read(struct daemon *daemon, const char *path, bool kept, gathering_done *done,
		   void *context, struct gathering **ret_gathering, struct failure *failure);

/* For the active configuration: covers the entries that may be complete now. */
int gathering_of(struct executors *x, const struct config *config,
		 struct gathering **ret_gathering);

void gathering_free(struct gathering *g);
DEFINE_CLEANUP(struct gathering *, gathering_free, gathering_freep)

/*
 * Returns the result of reading the file: 0, -ENOENT, -ETIMEDOUT, or an error of config_load().
 * *ret_message: diagnostics, owned by the gathering, or NULL.
 */
int gathering_result(const struct gathering *g, const char **ret_message, struct failure *failure);

/* The configuration, else the last good one. NULL: neither exists. */
const struct config *gathering_config(const struct gathering *g);
/* The same; the caller owns it from here on. Its lookups stay valid. */
struct config *gathering_take_config(struct gathering *g, bool *ret_kept);

/* Adds the policies of all entries in their order. Returns 0, or -ENOMEM. */
int gathering_wish(struct gathering *g, struct compiling_wishes *wishes);

/*
 * Looks up all names of the entries, with the policies of gathering_wish() in `compiling`. NULL:
 * compiles the policy of each entry first; a failure concerns this entry alone. Returns 1 if `done`
 * will be called, 0 if there is nothing to look up, or -ENOMEM.
 */
int gathering_look_up(struct gathering *g, struct compiling *compiling, gathering_done *done,
		      void *context, struct failure *failure);

/*
 * For the daemon's start: runs the loop until the step is complete. After 1.5 s without a reply and
 * without use of the processor, the remaining workers count as timed out.
 */
int gathering_wait(struct gathering *g);

/* Returns the lookup for this entry, or NULL. */
struct gathered *gathering_find(struct gathering *g, const struct config_executor *is);

/* Real paths of the directories closed to executions; NULL-terminated. */
char *const *gathering_closed(const struct gathering *g);

#endif
