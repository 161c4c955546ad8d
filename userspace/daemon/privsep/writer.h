/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log's writer, as the daemon sees it: a process of an unprivileged user (writer_process.h). What it is given stays here,
 * too, until it says that it is in the log's file. If it dies or hangs, another one takes its place, repairs the log, and is
 * given what the first one had not confirmed: nothing is lost with a writer.
 */
#ifndef CORDON_DAEMON_WRITER_H
#define CORDON_DAEMON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "audit/write/log.h"
#include "base/failure.h"

struct writer;

struct writer_settings {
	struct audit_log_options log;
	uid_t uid;
	gid_t gid;
	/* Another writer had to be started; `why`: what became of the one before. May be NULL. */
	void (*restarted)(const char *why, void *context);
	void *context;
};

/* As audit_log_open(), and writer_directory_open(). */
int writer_open(const char *directory, const struct writer_settings *settings,
		struct writer **ret_writer, uint64_t *ret_repaired, struct failure *failure);

/*
 * Hands over a record, as event_text_write() makes it. -ENOMEM; or, once 1 MiB waits, the error that keeps the log
 * from being written: the record is then lost, and counted.
 */
int writer_append(struct writer *writer, const char *record, size_t size);

/* As audit_log_flush(), audit_log_writable(), audit_log_tick(). -EPIPE: no writer can be had now. */
int writer_flush(struct writer *writer, bool sync);
int writer_writable(struct writer *writer);
bool writer_tick(struct writer *writer);

/* Records that are lost, since writer_open(). */
uint64_t writer_lost(const struct writer *writer);
const char *writer_directory(const struct writer *writer);
/* Is this the directory that it writes in? One log may be named in several ways. */
bool writer_is_in(const struct writer *writer, dev_t device, ino_t inode);

/* Has it write, seal and leave in order, and waits for that. */
void writer_close(struct writer *writer);
DEFINE_CLEANUP(struct writer *, writer_close, writer_closep)

#endif
