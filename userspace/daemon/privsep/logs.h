/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit logs in use. Each directory is opened once, and shared by the executions that log
 * there. Each log has a process that writes it.
 */
#ifndef CORDON_DAEMON_LOGS_H
#define CORDON_DAEMON_LOGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "audit/write/log.h"
#include "base/cleanup.h"
#include "base/failure.h"
#include "daemon/privsep/writer.h"
#include "policy/core/compiled.h"

struct event_base;
struct logs;
struct log_use;

struct logs_options {
	struct audit_log_options log; /* of each */
	const char *user;	      /* of their writers; NULL: default of writer_user_find() */
	bool user_known;	      /* `uid` and `gid` are set; false: looked up */
	uid_t uid;
	gid_t gid;
	const char *ship_state; /* state file of the shipper, or NULL */
	bool go_on_when_full;	/* executions start even if a log cannot be written */
};

/*
 * `options` NULL: defaults. `base` NULL: each call waits for the writer. Returns 0, -ENOMEM, or an
 * error of writer_user_find().
 */
int logs_new(const struct logs_options *options, struct event_base *base, struct logs **ret_logs,
	     struct failure *failure);
void logs_free(struct logs *logs);

/* Opens the log, or takes another reference to it. Returns 0, or -errno as writer_open(). */
int logs_get(struct logs *logs, const char *directory, struct log_use **ret_log,
	     struct failure *failure);

/*
 * As logs_get(), but does not wait for the file system. Asynchronous processes find the directory
 * and start the writer. Until then the records wait in memory, also after logs_put(). For logs of
 * executions that an earlier daemon started. Returns 0, or -ENOMEM.
 */
int logs_get_later(struct logs *logs, const char *directory, struct log_use **ret_log,
		   struct failure *failure);

/*
 * As logs_get_later(), but runs the loop until the log can be written, cannot be opened, or `msec`
 * have passed. *ret_begun: false if the log was not opened in that time. Returns 0, or -errno as
 * writer_open().
 */
int logs_get_within(struct logs *logs, const char *directory, unsigned int msec,
		    struct log_use **ret_log, bool *ret_begun, struct failure *failure);

/*
 * As logs_get() in two steps; only the first may block, and runs in a worker (errand.h). There,
 * logs_look() finds or makes the directory that a request names, see log_place.h. It writes the
 * input of logs_open() to `to`; logs_open() also needs *ret_fd. The caller owns *ret_fd. Returns 0,
 * or -errno as writer_place_find().
 */
int logs_look(const struct logs *logs, const char *asked, FILE *to, int *ret_fd,
	      struct failure *failure);
/*
 * Takes ownership of `fd`, also on failure. Does not check whether the log can be written:
 * logs_when_writable() does.
 */
int logs_open(struct logs *logs, const char *seen, size_t size, int fd, struct log_use **ret_log,
	      struct failure *failure);

/*
 * Drops a reference, or does nothing for NULL. The last one flushes, syncs and closes the log. A
 * log that cannot be written stays open with its records, until logs_flush_all() has written them.
 */
void logs_put(struct log_use *log);
DEFINE_CLEANUP(struct log_use *, logs_put, logs_putp)

/* Takes another reference. */
struct log_use *logs_share(struct log_use *log);

/*
 * If it is not known at the moment whether the log can be written, for example while its writer
 * restarts: finds out asynchronously, as writer_when_ready(). Call it before logs_writable(), which
 * does not wait. logs_cancel() ends the wait.
 */
int logs_when_writable(struct log_use *log, writer_done *done, void *context,
		       struct writer_wait **ret_wait);
/*
 * logs_has_begun(): has any writer opened the log? logs_when_begun() calls `done` from the loop
 * when the current attempt to open the log has ended, with any result. It does so as
 * writer_when_ready(), also with `go_on_when_full`.
 */
bool logs_has_begun(const struct log_use *log);
int logs_when_begun(struct log_use *log, writer_done *done, void *context,
		    struct writer_wait **ret_wait);
/*
 * Sets `failure` to the reason why the log cannot be written, and returns `r`. `r`: the negative
 * errno that one of these callbacks received.
 */
int logs_unwritable(const struct log_use *log, int r, struct failure *failure);

/*
 * Checks whether an execution that logs here may start. Returns -errno, with the reason in
 * `failure`, if no record can be written now and `go_on_when_full` is false.
 */
int logs_writable(struct log_use *log, struct failure *failure);

const char *logs_directory(const struct log_use *log);
/* Returns device and inode of the directory without an access to its file system. */
void logs_where(const struct log_use *log, dev_t *ret_device, ino_t *ret_inode);

/*
 * logs_has_policy(): is the policy known to be stored next to the log? If it is not known,
 * logs_keep_policy() stores it, as policy_store_put(), and blocks on the file system. To avoid
 * that, a worker calls logs_put_policy() before, and the loop then calls logs_note_policy().
 */
bool logs_has_policy(const struct log_use *log, const struct compiled_policy *policy);
int logs_keep_policy(struct log_use *log, const struct compiled_policy *policy,
		     struct failure *failure);
void logs_note_policy(struct log_use *log, const struct compiled_policy *policy);

/*
 * For that worker. Returns 0; -ESTALE if the log's path leads to another directory than the
 * writer's, which code that ran may have put there; or an error as policy_store_put().
 */
int logs_put_policy(const struct log_use *log, const struct compiled_policy *policy,
		    struct failure *failure);

/*
 * Returns the state of the log as of the writer's last reply: {"failing": the last write failed,
 * "records": sequence of the last record, "written_bytes", "free_bytes"|null, "sealing", "sealed":
 * sequence of the last seal, "seal_age_nsec"|null}. New reference, or NULL without memory.
 */
json_t *logs_figures_json(const struct log_use *log);

/* Appends a record and drops its reference. Returns -ENOMEM for NULL. */
int logs_append(struct log_use *log, json_t *record);

/*
 * Appends a record in the text format of event_text_write(), from a source with this share: as
 * writer_append().
 */
int logs_append_text(struct log_use *log, struct writer_share *share, const char *record,
		     size_t size);

/*
 * Calls `done`, once and from the loop, when all appended records are written: as
 * writer_when_flushed().
 */
int logs_when_written(struct log_use *log, writer_done *done, void *context,
		      struct writer_wait **ret_wait);
void logs_cancel(struct log_use *log, struct writer_wait *wait); /* or NULL */

/* Must the start record of an execution be written before its program runs? */
bool logs_must_write_start(const struct log_use *log);

/*
 * For decisions of root: waits until all appended records are written. With a loop, it waits at
 * most one second. Returns 0, -ETIMEDOUT, or -errno as writer_flush().
 */
int logs_flush(struct log_use *log);

/*
 * Requests that all logs write their buffered records, and sync them if `sync`. Returns true if
 * there was something to write.
 */
bool logs_flush_all(struct logs *logs, bool sync);

/* The same, but waits for it: at the end of the daemon. */
void logs_settle_all(struct logs *logs);

/*
 * Returns true if so many records of this source wait that it should send no more for now, because
 * records of other sources are queued behind them. Then it also requests that they are written.
 */
bool logs_have_enough(struct log_use *log, struct writer_share *share);

/*
 * Returns true if so much waits to be written that the daemon should read no more from the kernel.
 */
bool logs_are_behind(const struct logs *logs);

/*
 * Does the periodic work of all logs, as audit_log_tick(). Call it about once a second. Returns
 * true if more work will be due later.
 */
bool logs_tick_all(struct logs *logs);

/*
 * Advances *log (NULL: from the start) to the next log with a failed last write. Returns false if
 * there is none.
 */
bool logs_next_failing(struct logs *logs, struct log_use **log);

/* Returns the records of all logs that could not be appended since the daemon's start. */
uint64_t logs_lost(const struct logs *logs);

#endif
