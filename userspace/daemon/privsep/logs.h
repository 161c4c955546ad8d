/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit logs in use: each directory is opened once and shared by the executions that log there.
 * Each has a process that writes it.
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
	const char *user;	      /* of their writers; NULL: as writer_user_find() has it */
	bool user_known;	      /* its ids are the two below; false: they are looked up */
	uid_t uid;
	gid_t gid;
	const char *ship_state; /* file of whoever ships a log, or NULL */
	bool go_on_when_full;	/* executions start although a log cannot take their records */
};

/*
 * `options`: NULL for the usual ones; `base`: NULL to wait for each writer. -ENOMEM; or as
 * writer_user_find().
 */
int logs_new(const struct logs_options *options, struct event_base *base, struct logs **ret_logs,
	     struct failure *failure);
void logs_free(struct logs *logs);

/* Opens the log, or takes another reference to it. -errno as writer_open(). */
int logs_get(struct logs *logs, const char *directory, struct log_use **ret_log,
	     struct failure *failure);

/*
 * The same without waiting for its file system: its directory is found, and its writer started, by
 * processes beside the loop, and records wait in memory until then, also after logs_put(). For logs
 * that executions of an earlier daemon have. -ENOMEM.
 */
int logs_get_later(struct logs *logs, const char *directory, struct log_use **ret_log,
		   struct failure *failure);

/*
 * The same, and has the loop turn until the log can be written, or cannot be, or `msec` are over.
 * *ret_begun: false: it did not answer in that time. -errno as writer_open().
 */
int logs_get_within(struct logs *logs, const char *directory, unsigned int msec,
		    struct log_use **ret_log, bool *ret_begun, struct failure *failure);

/*
 * The same in two steps, of which the second waits for nothing. First, in a process that may wait
 * (errand.h): finds, or makes, the directory that a request names, see log_place.h, and writes what
 * goes to the second, beside a descriptor. -errno as writer_place_find().
 */
int logs_look(const struct logs *logs, const char *asked, FILE *to, int *ret_fd,
	      struct failure *failure);
/*
 * Takes the descriptor over, also where it fails. Whether the log can be written,
 * logs_when_writable() finds out.
 */
int logs_open(struct logs *logs, const char *seen, size_t size, int fd, struct log_use **ret_log,
	      struct failure *failure);

/*
 * Drops a reference; the last one flushes, syncs and closes. A log that cannot be written stays
 * open with its records, and logs_flush_all() closes it once they are written.
 */
void logs_put(struct log_use *log);
DEFINE_CLEANUP(struct log_use *, logs_put, logs_putp)

/* Another reference to it. */
struct log_use *logs_share(struct log_use *log);

/*
 * Where nobody can say at the moment whether the log can be written, as while its writer is started
 * again: finds out beside the loop, as writer_when_ready(). To be asked before logs_writable(),
 * which waits for nobody. logs_cancel().
 */
int logs_when_writable(struct log_use *log, writer_done *done, void *context,
		       struct writer_wait **ret_wait);
/*
 * Is there, or was there, a writer that could open the log? And, where it is being opened, tells
 * from the loop when that is done, however it ends: as writer_when_ready(), whatever logs_options
 * say of logs that cannot be written.
 */
bool logs_has_begun(const struct log_use *log);
int logs_when_begun(struct log_use *log, writer_done *done, void *context,
		    struct writer_wait **ret_wait);
/* Fills `failure` with what that found out, a negative errno. */
int logs_unwritable(const struct log_use *log, int r, struct failure *failure);

/*
 * May an execution start that logs there? Not where no record can be written now; `failure` says
 * why.
 */
int logs_writable(struct log_use *log, struct failure *failure);

const char *logs_directory(const struct log_use *log);
/* The directory itself, of which no file system is asked. */
void logs_where(const struct log_use *log, dev_t *ret_device, ino_t *ret_inode);

/*
 * Has the policy its place beside the log, as far as is known? logs_keep_policy() sees to it, as
 * policy_store_put(), and waits for the file system where it is not known; a process beside the
 * loop may do that before, and the loop note what it did.
 */
bool logs_has_policy(const struct log_use *log, const struct compiled_policy *policy);
int logs_keep_policy(struct log_use *log, const struct compiled_policy *policy,
		     struct failure *failure);
void logs_note_policy(struct log_use *log, const struct compiled_policy *policy);

/*
 * What such a process does. -ESTALE: the log's name leads to another directory than the one that
 * its writer has, which may have been put there by code that ran; or as policy_store_put().
 */
int logs_put_policy(const struct log_use *log, const struct compiled_policy *policy,
		    struct failure *failure);

/*
 * {"failing": the last try to write did, "records": sequence of the last, "written_bytes",
 * "free_bytes"|null, "sealing", "sealed": sequence of the last seal, "seal_age_nsec"|null}, as of
 * the writer's last answer. New reference, or NULL without memory.
 */
json_t *logs_figures_json(const struct log_use *log);

/* Appends a record and drops its reference. NULL is -ENOMEM. */
int logs_append(struct log_use *log, json_t *record);

/*
 * Appends a record that is text, as event_text_write() makes it, of a source with this share: as
 * writer_append().
 */
int logs_append_text(struct log_use *log, struct writer_share *share, const char *record,
		     size_t size);

/* Says, once and from the loop, when all that was appended is written: as writer_when_flushed(). */
int logs_when_written(struct log_use *log, writer_done *done, void *context,
		      struct writer_wait **ret_wait);
void logs_cancel(struct log_use *log, struct writer_wait *wait); /* or NULL */

/* May nothing run whose start record cannot be written? */
bool logs_must_write_start(const struct log_use *log);

/*
 * Waits, for a second at most, until all that was appended is written: for what root decides.
 * -ETIMEDOUT.
 */
int logs_flush(struct log_use *log);

/*
 * Has what is buffered in all logs written, and synced if `sync`. True if something was there to
 * write.
 */
bool logs_flush_all(struct logs *logs, bool sync);

/* The same, and waits for it: at the end. */
void logs_settle_all(struct logs *logs);

/*
 * So much of this source waits to be written that its next record had better wait: others' stand in
 * line behind it. Has what waits written at once.
 */
bool logs_have_enough(struct log_use *log, struct writer_share *share);

/* So much waits to be written that no more should be read from the kernel. */
bool logs_are_behind(const struct logs *logs);

/*
 * What is due in any log, as audit_log_tick(): about once a second. True: something will be due
 * later.
 */
bool logs_tick_all(struct logs *logs);

/*
 * Goes on from *log (NULL: from the start) to the next log whose last write failed; false: no more.
 */
bool logs_next_failing(struct logs *logs, struct log_use **log);

/* Records that could not be appended, of all logs since the start. */
uint64_t logs_lost(const struct logs *logs);

#endif
