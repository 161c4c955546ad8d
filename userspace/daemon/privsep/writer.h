/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log's writer, as the daemon sees it: a process of an unprivileged user (writer_process.h). What
 * it is given stays here, too, until it says that it is in the log's file. If it dies or hangs,
 * another one takes its place, repairs the log, and is given what the first one had not confirmed:
 * nothing is lost with a writer.
 *
 * With a loop nobody waits for it: whoever needs to know that a record is written is told when it
 * is. One flush is for all who came while the one before it was on its way.
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

/* As audit_log_open(), and writer_directory_open(). Waits for the first writer to be ready. */
int writer_open(const char *directory, const struct writer_settings *settings,
		struct writer **ret_writer, uint64_t *ret_repaired, struct failure *failure);

/*
 * The same in a place that is found already, and is taken over on success, with a loop: waits for
 * nothing. writer_when_ready() says whether it can be written.
 */
int writer_open_at(const char *directory, struct writer_place *place,
		   const struct writer_settings *settings, struct writer **ret_writer,
		   struct failure *failure);
/*
 * The same with a loop, in a place that is still to be found, once there is something to write: for
 * a log whose file system may not answer. -ENOMEM.
 */
int writer_open_later(const char *directory, const struct writer_settings *settings,
		      struct writer **ret_writer, struct failure *failure);
/* Is there, or was there, a writer that could open the log? If not: why, or "". */
bool writer_has_begun(const struct writer *writer);
const char *writer_why_not_begun(const struct writer *writer);
/* For one that never began: nothing waits to be written, and nobody for it. */
void writer_abandon(struct writer *writer);

/*
 * Hands over a record, as event_text_write() makes it. -ENOMEM; -ENOBUFS once 16 MiB wait for one
 * that is slow; or, once 1 MiB waits, the error that keeps the log from being written: the record
 * is then lost, and counted. With a share (writer_share.h), a source that has a sixteenth of that
 * waiting loses its records when half is taken already: one that floods the log does not cost the
 * others theirs. NULL: a record that every source has few of.
 */
int writer_append(struct writer *writer, struct writer_share *share, const char *record,
		  size_t size);

/* Has what was appended written. */
void writer_flush_soon(struct writer *writer, bool sync);

/* The same, and says when: once, from the loop, unless it is cancelled before. -ENOMEM. */
int writer_when_flushed(struct writer *writer, bool sync, writer_done *done, void *context,
			struct writer_wait **ret_wait);
void writer_wait_cancel(struct writer *writer, struct writer_wait *wait); /* or NULL */

/* The same, waited for; -ETIMEDOUT: not in that time, but perhaps later. */
int writer_flush(struct writer *writer, bool sync);
int writer_flush_within(struct writer *writer, bool sync, uint64_t msec);

/*
 * As audit_log_writable(), or as it was last where the writer has other things to do. -EPIPE: none
 * can be had now.
 */
int writer_writable(struct writer *writer);

/*
 * Where there is no writer for a moment, or the log could not be written when it was asked last:
 * asks it, again when it dies, and says, as writer_when_flushed() does, what it has answered, and
 * nothing that follows from anything else. -EPIPE, -ETIMEDOUT: no answer in 8 s. 1: `done` is
 * called; 0: there is nothing to wait for; -ENOMEM. Without a loop, 0.
 */
int writer_when_ready(struct writer *writer, writer_done *done, void *context,
		      struct writer_wait **ret_wait);

/* As audit_log_tick(). With a loop, what it said the last time. */
bool writer_tick(struct writer *writer);
/* What the writer is to read before each tick from now on, as shipped.h has it. Borrowed. */
void writer_note_shipped(struct writer *writer, const struct shipped_text *text);

/* Has records that are not confirmed; wrote what is not on disk; the last try to write failed. */
bool writer_is_dirty(const struct writer *writer);
bool writer_is_unsynced(const struct writer *writer);
bool writer_is_failing(const struct writer *writer);
/* Has not answered for a while; so much waits for it that no more should come. */
bool writer_is_slow(const struct writer *writer);
bool writer_is_behind(const struct writer *writer);
/*
 * So much of one source waits for it that others' records would wait long behind more. Never of one
 * that fails or does not answer: it tells what is lost.
 */
bool writer_has_enough(const struct writer *writer, struct writer_share *share);

/* Records that are lost, since writer_open(). */
uint64_t writer_lost(const struct writer *writer);
/* As audit_log_figures(), as of its last answer; `written` since writer_open(). */
void writer_figures(const struct writer *writer, struct audit_log_figures *ret_figures);
const char *writer_directory(const struct writer *writer);
/* Is this the directory that it writes in? One log may be named in several ways. */
bool writer_is_in(const struct writer *writer, dev_t device, ino_t inode);
/* The directory that it writes in, which is another once the log's was replaced. */
void writer_where(const struct writer *writer, dev_t *ret_device, ino_t *ret_inode);

/* Has it seal and leave in order, once all is written. */
void writer_leave(struct writer *writer);

/*
 * Has it write, seal and leave in order, and waits for that. Nobody who waits is called any more.
 */
void writer_close(struct writer *writer);
DEFINE_CLEANUP(struct writer *, writer_close, writer_closep)

#endif
