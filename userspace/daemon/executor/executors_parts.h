/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that make up executors.h share. */
#ifndef CORDON_DAEMON_EXECUTORS_PARTS_H
#define CORDON_DAEMON_EXECUTORS_PARTS_H

#include "base/clock.h"
#include "daemon/executor/executors.h"

struct errand;
struct gathering;

/*
 * The daemon says every second that it is there. Its death is noticed at once; this is for one that
 * hangs.
 */
#define EXECUTORS_LEASE_NSEC (10 * NSEC_PER_SEC)

/* How long a worker follows names. */
#define EXECUTOR_FOLLOW_NSEC (50 * NSEC_PER_SEC)
#define EXECUTOR_FOLLOWER    "the worker that follows an executor's names"

#define EXECUTOR_KEEPER "the worker that stores the last good configuration"

struct executors {
	struct daemon *daemon;
	const char *path;
	struct adoption *adoption;
	struct config *config; /* what the entries belong to; NULL: there are none */
	struct executor_entry *entries[CORDON_MAX_EXECUTORS];
	uint64_t active;
	struct event *timer;
	bool loaded;   /* once at least */
	char *trouble; /* not NULL: why the file is not what is in force */
	/* For executors_reload(); NULL: there is none. */
	struct gathering *reading;
	struct compiling *reloading;
	struct comparing *comparing;
	struct keeping *keeping;
	bool again;		    /* what is in force, not the file */
	struct gathering *gathered; /* while entries are made from it; not owned */
	bool unanswered;	    /* the file could not be read in time */
	struct errand *saving;	    /* the last good file */
	bool save_again;
	/* For those whose `why` says something. */
	struct errand *looking;
	uint64_t next_look; /* monotonic clock */
	uint64_t found;	    /* entries that seem to be in order by now */
	uint64_t follow_nsec;
	/* For processes that were there before. */
	struct errand *scanning;
	struct executor_before *before;
	size_t before_count, before_all;
};

/*
 * An entry that stands in the kernel and is not in force yet. `is` must stay. `itself`: that for
 * the executor itself, or NULL. `before`: the active entry of this name, or NULL; if it has
 * `found`, the new entry is made from that and keeps the policy. Caller frees. What is missing is
 * no failure: it is in `why`. -ENOSPC; -ENOMEM; -errno of the kernel's tables.
 */
int executor_entry_make(struct executors *x, const struct config_executor *is,
			const struct executor_entry *itself, struct executor_entry *before,
			struct executor_entry **ret_entry, struct failure *failure);
void executor_entry_free(struct executors *x, struct executor_entry *entry);
void executor_entry_forget_found(struct executor_entry *entry);

/* Whether this is a path of the entry's program. */
bool executor_entry_runs(const struct executor_entry *entry, const char *path);

/*
 * Adds a path of the entry's program, for the kernel to recognise at once; beyond a bound, the
 * oldest one is forgotten. -ENOMEM; -errno of the kernel's tables.
 */
int executor_add_target(struct executor_entry *entry, const char *path, struct failure *failure);

/* The entry for the executor itself; NULL: there is none. */
struct executor_entry *executor_itself_of(const struct executors *x,
					  const struct executor_entry *entry);

/* Starts what follows the names of active entries, where it does not run. */
void executor_follow(struct executors *x);

/*
 * Why what its executor starts, or the executor itself, is refused; NULL: it is not. Of one for an
 * executor itself, no more than that one's.
 */
const char *executor_refuses(const struct executors *x, const struct executor_entry *entry);

/* Whether the active entry, or the one for its executor itself, may be complete now. */
bool executors_is_found(const struct executors *x, const struct config_executor *is);

/* What is approved along with the policy of an entry; caller frees. NULL: no memory. */
char *executor_purpose(const struct config_executor *is);

/* Sets entry->waits; says and records when that begins. */
void executor_check_approval(struct executors *x, struct executor_entry *entry);

/* Executions that stand ready: withdraws those of an entry, and sees to it that enough do. */
void standby_give_back(struct executors *x, uint32_t index);
void standby_refill(struct executors *x, const struct executor_entry *entry);

/*
 * Changes over to what `config` says, which is taken over then, or leaves all as it was. Where it
 * is the one that is in force, entries that miss something are made again, and the others stay.
 */
int executors_put_into_force(struct executors *x, struct config *config, struct failure *failure);

/* Starts the timer, and does what it does. */
void executors_turn(struct executors *x);

/* Gives up what executors_reload() has begun. */
void executors_forget_reload(struct executors *x);

/*
 * Has what is in force looked up again, beside the loop, once some of it seems to be there that was
 * missing.
 */
void executors_renew(struct executors *x);
/* Looks, beside the loop, whether it is; not each time that it is called. */
void executor_retry(struct executors *x);
/* It was looked up just now. */
void executor_retry_later(struct executors *x);

/*
 * For a worker: the last file that was good, below the daemon's state directory. -ENOENT: there is
 * none, or it is another file's; -EPERM: others may write to it; -EINVAL; -ENOMEM; -errno.
 */
int executor_kept_load(const struct daemon *daemon, const char *path, struct config **ret_config);
/* Has a worker store the active configuration. */
void executor_kept_save(struct executors *x);

/* Has processes looked for, beside the loop, that an entry matches and that are not adopted. */
void executor_before_look(struct executors *x);
/* It is an executor now. */
void executor_before_forget(struct executors *x, pid_t pid);
/* No entry is in force that could match any. */
void executor_before_clear(struct executors *x);
/* [{executor, pid, since, remedy}], of those that are still there. New reference or NULL. */
json_t *executor_before_json(const struct executors *x);

#endif
