/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's side of a log's writer, which is a process of an unprivileged user
 * (writer_process.h). The daemon keeps a record until the writer confirms that it is in the log's
 * file. If the writer dies or hangs, another one replaces it, repairs the log, and gets the
 * unconfirmed records again. So no record is lost with a writer.
 *
 * With a loop, no call waits for the writer: a callback reports that a record is written. One flush
 * serves all callers that came while the previous one was in progress.
 */
#ifndef CORDON_DAEMON_WRITER_H
#define CORDON_DAEMON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "audit/write/log.h"
#include "base/failure.h"
#include "daemon/privsep/writer_place.h"
#include "daemon/privsep/writer_settings.h"

struct writer;
struct writer_share;
struct writer_wait;
struct shipped_text;

/*
 * Opens the log as audit_log_open() and writer_directory_open(). Waits until the first writer is
 * ready.
 */
int writer_open(const char *directory, const struct writer_settings *settings,
		struct writer **ret_writer, uint64_t *ret_repaired, struct failure *failure);

/*
 * The same in a place that is known already, with a loop. Does not wait: writer_when_ready()
 * reports whether the log can be written. Takes ownership of `place` on success.
 */
int writer_open_at(const char *directory, struct writer_place *place,
		   const struct writer_settings *settings, struct writer **ret_writer,
		   struct failure *failure);
/*
 * The same with a loop, for a log whose file system may not respond: finds the place once there is
 * something to write. Returns 0, or -ENOMEM.
 */
int writer_open_later(const char *directory, const struct writer_settings *settings,
		      struct writer **ret_writer, struct failure *failure);
/* Has any writer opened the log? If not, the other function returns the reason, or "". */
bool writer_has_begun(const struct writer *writer);
const char *writer_why_not_begun(const struct writer *writer);
/* Frees a writer that never opened the log, if nothing waits for it. */
void writer_abandon(struct writer *writer);

/*
 * Queues a record in the text format of event_text_write(). Returns 0, -ENOMEM, -EMSGSIZE, or
 * -ENOBUFS if 16 MiB wait for a slow writer. While the log cannot be written, it returns the cause
 * once 1 MiB waits. On failure the record is lost, and counted.
 * With a share (writer_share.h), a source whose waiting records fill a sixteenth of that limit
 * already loses records when half of the limit is reached. So a source that floods the log does not
 * cost other sources their records. NULL: for a kind of record that each source has few of.
 */
int writer_append(struct writer *writer, struct writer_share *share, const char *record,
		  size_t size);

/* Requests that the appended records are written. */
void writer_flush_soon(struct writer *writer, bool sync);

/*
 * The same, and calls `done` once, from the loop, unless it is cancelled before. Returns 0, or
 * -ENOMEM.
 */
int writer_when_flushed(struct writer *writer, bool sync, writer_done *done, void *context,
			struct writer_wait **ret_wait);
void writer_wait_cancel(struct writer *writer, struct writer_wait *wait); /* or NULL */

/*
 * The same, but waits. Returns 0, -ETIMEDOUT if the records are not written in that time, or
 * another -errno.
 */
int writer_flush(struct writer *writer, bool sync);
int writer_flush_within(struct writer *writer, bool sync, uint64_t msec);

/*
 * As audit_log_writable(), or the last known result if the writer is busy. Returns -EPIPE if no
 * writer can be started now.
 */
int writer_writable(struct writer *writer);

/*
 * If there is no writer at the moment, or the log could not be written at the last check: checks
 * again, also after the writer dies. It calls `done` as writer_when_flushed() does, only with a
 * writer's result for a new check, or with the reason why there is none within 8 s, such as -EPIPE
 * or -ETIMEDOUT. Returns 1 if `done` will be called; 0 if there is nothing to wait for, or without
 * a loop; or -ENOMEM.
 */
int writer_when_ready(struct writer *writer, writer_done *done, void *context,
		      struct writer_wait **ret_wait);

/* As audit_log_tick(). With a loop, returns the result of the previous tick. */
bool writer_tick(struct writer *writer);
/* Sets the text that the writer parses before each tick from now on, see shipped.h. Borrowed. */
void writer_note_shipped(struct writer *writer, const struct shipped_text *text);

/*
 * Dirty: has unconfirmed records, or losses that are not logged yet. Unsynced: wrote data that is
 * not on disk. Failing: the last attempt to write failed.
 */
bool writer_is_dirty(const struct writer *writer);
bool writer_is_unsynced(const struct writer *writer);
bool writer_is_failing(const struct writer *writer);
/*
 * Slow: the writer has not replied for a while. Behind: so many records wait for it that no more
 * should come.
 */
bool writer_is_slow(const struct writer *writer);
bool writer_is_behind(const struct writer *writer);
/*
 * Returns true if one source has so many records waiting that others' records would wait long
 * behind more of them. Returns false if the writer fails or does not reply, because the losses are
 * then counted.
 */
bool writer_has_enough(const struct writer *writer, struct writer_share *share);

/* Returns the records that are lost since writer_open(). */
uint64_t writer_lost(const struct writer *writer);
/* As audit_log_figures(), as of the writer's last reply; `written` counts since writer_open(). */
void writer_figures(const struct writer *writer, struct audit_log_figures *ret_figures);
const char *writer_directory(const struct writer *writer);
/* Does it write in this directory? One log may be named by several paths. */
bool writer_is_in(const struct writer *writer, dev_t device, ino_t inode);
/*
 * Returns the directory that it writes in, which is another one after the log's directory was
 * replaced.
 */
void writer_where(const struct writer *writer, dev_t *ret_device, ino_t *ret_inode);

/* Makes the writer seal the log and exit, once all records are written. */
void writer_leave(struct writer *writer);

/* Makes the writer write, seal and exit, and waits for that. Calls no callbacks any more. */
void writer_close(struct writer *writer);
DEFINE_CLEANUP(struct writer *, writer_close, writer_closep)

#endif
