/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/privsep/writer.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "audit/text/buffer.h"
#include "base/clock.h"
#include "base/io.h"
#include "daemon/privsep/helper.h"
#include "daemon/privsep/writer_directory.h"
#include "daemon/privsep/writer_protocol.h"

/* As much waits here as in the log's own buffer; what comes then is lost while nothing can be written. */
#define QUEUE_MAX (1u << 20)
/* Handed over in one piece, before anybody asks for it. */
#define BATCH_SIZE (1u << 17)

/* A disk may take its time; a writer that takes more hangs. Closing may wait for a segment's compression. */
#define PATIENCE_SECONDS       30
#define CLOSE_PATIENCE_SECONDS 120
/* For the lock of one that is about to leave. */
#define LOCK_PATIENCE_MSEC 3000
/* After so many in a row that died at once, one a second is tried. */
#define EAGER_RESTARTS 3

struct writer {
	char *directory;
	struct writer_settings settings;
	int fd; /* -1: there is none now */
	pid_t pid;
	dev_t device; /* of the directory that it has */
	ino_t inode;
	struct buffer queue; /* records that are not confirmed, as WRITER_APPEND has them */
	size_t sent;	     /* bytes of it that this writer has */
	uint64_t unsaid;     /* lost here; the log does not say so yet */
	bool said;	     /* this writer has been told */
	bool failing;	     /* the last try to write did */
	int error;
	struct audit_log_position position;
	uint64_t lost;	       /* by this writer, as it said last */
	uint64_t lost_before;  /* by those before it, and here */
	unsigned int restarts; /* since the last that did something */
	uint64_t not_before;   /* monotonic clock: when to try again */
};

/* --- the process -------------------------------------------------------------------------- */

static void describe_death(int status, char *text, size_t size)
{
	if (WIFSIGNALED(status))
		snprintf(text, size, "killed by signal %d", WTERMSIG(status));
	else
		snprintf(text, size, "ended with status %d", WEXITSTATUS(status));
}

/* One that hangs in the kernel cannot be waited for: it is left to be reaped with the daemon. */
static bool reap(pid_t pid, int *ret_status)
{
	const struct timespec pause = {.tv_nsec = 5 * NSEC_PER_MSEC};

	for (int i = 0; i < 400; i++) {
		pid_t found = waitpid(pid, ret_status, WNOHANG);

		if (found == pid || (found < 0 && errno != EINTR))
			return found == pid;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* Whatever state it is in, it is gone then; what it has not confirmed is still here. */
static void put_down(struct writer *w, char *why, size_t size)
{
	int status;

	if (w->fd < 0)
		return;
	closep(&w->fd);
	w->fd = -1;
	/* One that ended by itself is a zombie, to which this does nothing. */
	(void)kill(w->pid, SIGKILL);
	if (reap(w->pid, &status))
		describe_death(status, why, size);
	else
		snprintf(why, size, "hangs");
	w->sent = 0;
	w->said = false;
	w->lost_before += w->lost;
	w->lost = 0;
}

/* --- talking to it ------------------------------------------------------------------------ */

static int send_request(struct writer *w, uint32_t request, const void *payload, size_t size)
{
	const struct writer_header header = {.request = request, .size = (uint32_t)size};
	int r = io_write_all(w->fd, &header, sizeof(header));

	return r < 0 ? r : io_write_all(w->fd, payload, size);
}

static int receive(struct writer *w, struct writer_reply *ret_reply)
{
	int r = io_read_exactly(w->fd, ret_reply, sizeof(*ret_reply));

	if (r != 0)
		return r < 0 ? r : -EPIPE;
	ret_reply->text[sizeof(ret_reply->text) - 1] = '\0';
	w->lost = ret_reply->lost;
	return 0;
}

/*
 * Takes note of where the log's file ends, for the next writer: behind what is confirmed, not behind what this
 * one may have written of the rest. The key is in any case the one at hand.
 */
static void note_position(struct writer *w, struct writer_reply *reply, bool confirmed)
{
	w->position.key = reply->position.key;
	if (confirmed || w->queue.size == 0) {
		w->position.sequence = reply->position.sequence;
		memcpy(w->position.chain, reply->position.chain, SHA256_SIZE);
	}
	OPENSSL_cleanse(&reply->position.key, sizeof(reply->position.key));
}

/* Gives it what it does not have. No request is larger than a batch, or than one record. */
static int send_queue(struct writer *w)
{
	int r = 0;

	while (r == 0 && w->sent < w->queue.size) {
		size_t end = w->sent;

		while (end < w->queue.size && end - w->sent < BATCH_SIZE) {
			uint32_t length;

			memcpy(&length, w->queue.data + end, sizeof(length));
			end += sizeof(length) + length;
		}
		r = send_request(w, WRITER_APPEND, w->queue.data + w->sent, end - w->sent);
		w->sent = end;
	}
	if (r == 0 && w->unsaid > 0 && !w->said) {
		r = send_request(w, WRITER_LOSE, &w->unsaid, sizeof(w->unsaid));
		w->said = true;
	}
	return r;
}

static int greet(struct writer *w, bool anew, uint64_t *ret_repaired, struct failure *failure)
{
	struct writer_hello hello = {
		.options = w->settings.log,
		.uid = w->settings.uid,
		.gid = w->settings.gid,
		.patience_msec = LOCK_PATIENCE_MSEC,
		.confine = geteuid() == 0,
		.position = w->position,
		.anew = anew,
	};
	struct writer_reply reply = {};
	int r;

	snprintf(hello.name, sizeof(hello.name), "%s", w->directory);
	r = send_request(w, WRITER_HELLO, &hello, sizeof(hello));
	OPENSSL_cleanse(&hello.position.key, sizeof(hello.position.key));
	if (r == 0)
		r = receive(w, &reply);
	if (r < 0)
		return failure_set(failure, r, "the log's writer does not answer: %m");
	if (reply.result < 0) {
		*ret_repaired = 0;
		return reply.text[0] ? failure_set(failure, reply.result, "%s", reply.text)
				     : failure_set(failure, reply.result, "%m");
	}
	note_position(w, &reply, false);
	*ret_repaired = reply.repaired;
	return 0;
}

static int start(struct writer *w, bool anew, uint64_t *ret_repaired, struct failure *failure)
{
	_cleanup_(closep) int directory_fd = -1;
	struct stat status;
	char why[64];
	int r;

	directory_fd =
		writer_directory_open(w->directory, w->settings.uid, w->settings.gid, failure);
	if (directory_fd < 0)
		return directory_fd;
	if (fstat(directory_fd, &status) < 0)
		return failure_set(failure, errno, "cannot examine %s: %m", w->directory);
	r = helper_start("--log-writer", directory_fd, PATIENCE_SECONDS, &w->pid, &w->fd);
	if (r < 0)
		return failure_set(failure, r, "cannot start the log's writer: %m");
	r = greet(w, anew, ret_repaired, failure);
	if (r < 0) {
		put_down(w, why, sizeof(why));
		return r;
	}
	w->device = status.st_dev;
	w->inode = status.st_ino;
	return 0;
}

/* --- one that is there -------------------------------------------------------------------- */

static bool directory_is_its(const struct writer *w)
{
	struct stat status;

	return stat(w->directory, &status) == 0 && writer_is_in(w, status.st_dev, status.st_ino);
}

/* A writer for what the log's directory is now. */
static int ensure(struct writer *w)
{
	bool moved = !directory_is_its(w);
	uint64_t repaired;
	char why[64];
	int r;

	if (moved)
		put_down(w, why, sizeof(why));
	if (w->fd >= 0)
		return 0;
	if (clock_nsec(CLOCK_MONOTONIC) < w->not_before)
		return -EPIPE;
	r = start(w, moved, &repaired, NULL);
	if (r < 0)
		return r;
	w->restarts++;
	return 0;
}

static void lost_it(struct writer *w)
{
	char why[64] = "";

	put_down(w, why, sizeof(why));
	w->failing = true;
	w->error = -EPIPE;
	if (w->restarts >= EAGER_RESTARTS)
		w->not_before = clock_nsec(CLOCK_MONOTONIC) + NSEC_PER_SEC;
	if (w->settings.restarted)
		w->settings.restarted(why, w->settings.context);
}

static int ask(struct writer *w, uint32_t request, struct writer_reply *ret_reply)
{
	int r = send_queue(w);

	if (r == 0)
		r = send_request(w, request, NULL, 0);
	return r < 0 ? r : receive(w, ret_reply);
}

/* If it dies over the question, the next one is asked; if that does as well, it is the question. */
static int call(struct writer *w, uint32_t request, struct writer_reply *ret_reply)
{
	int r = -EPIPE;

	for (int i = 0; i < 2; i++) {
		r = ensure(w);
		if (r < 0)
			return r;
		r = ask(w, request, ret_reply);
		if (r == 0) {
			bool flushed = request == WRITER_FLUSH || request == WRITER_SYNC;

			note_position(w, ret_reply, flushed && ret_reply->result == 0);
			w->restarts = 0;
			return ret_reply->result;
		}
		lost_it(w);
	}
	return r == -EAGAIN ? -ETIMEDOUT : -EPIPE;
}

/* One that dies before it could say why was killed, which says nothing about the log: it gets a second try. */
static int start_first(struct writer *w, uint64_t *ret_repaired, struct failure *failure)
{
	struct failure died = {};
	int r = start(w, false, ret_repaired, &died);

	if (r == -EPIPE || r == -ECONNRESET)
		return start(w, false, ret_repaired, failure);
	return r < 0 ? failure_set(failure, r, "%s", died.text) : 0;
}

/* --- what others use ---------------------------------------------------------------------- */

int writer_open(const char *directory, const struct writer_settings *settings,
		struct writer **ret_writer, uint64_t *ret_repaired, struct failure *failure)
{
	struct writer *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return failure_set(failure, ENOMEM, "%m");
	w->fd = -1;
	w->settings = *settings;
	w->directory = strdup(directory);
	r = w->directory ? start_first(w, ret_repaired, failure) : -ENOMEM;
	if (r < 0) {
		free(w->directory);
		free(w);
		return failure_set(failure, r, "%m");
	}
	*ret_writer = w;
	return 0;
}

static int lose(struct writer *w, int error)
{
	w->unsaid++;
	w->lost_before++;
	return error;
}

static int enqueue(struct writer *w, const char *record, size_t size)
{
	uint32_t length = (uint32_t)size;

	w->queue.failed = false;
	if (!buffer_reserve(&w->queue, sizeof(length) + size))
		return -ENOMEM;
	buffer_add(&w->queue, &length, sizeof(length));
	buffer_add(&w->queue, record, size);
	return 0;
}

int writer_append(struct writer *w, const char *record, size_t size)
{
	int r;

	if (size > WRITER_PAYLOAD_MAX / 2)
		return lose(w, -EMSGSIZE);
	if (w->queue.size >= QUEUE_MAX && !w->failing)
		(void)writer_flush(w, false);
	if (w->queue.size >= QUEUE_MAX)
		return lose(w, w->error);
	r = enqueue(w, record, size);
	if (r < 0)
		return lose(w, r);
	/* It can begin while more is gathered. */
	if (!w->failing && w->fd >= 0 && w->queue.size - w->sent >= BATCH_SIZE && send_queue(w) < 0)
		lost_it(w);
	return 0;
}

int writer_flush(struct writer *w, bool sync)
{
	struct writer_reply reply = {};
	int r = call(w, sync ? WRITER_SYNC : WRITER_FLUSH, &reply);

	w->failing = r < 0;
	w->error = r;
	if (r < 0)
		return r;
	w->queue.size = w->sent = 0;
	if (w->said)
		w->unsaid = 0;
	w->said = false;
	return 0;
}

int writer_writable(struct writer *w)
{
	struct writer_reply reply = {};

	return call(w, WRITER_WRITABLE, &reply);
}

bool writer_tick(struct writer *w)
{
	struct writer_reply reply = {};

	/* One that cannot be had now is looked for at the next tick. */
	return call(w, WRITER_TICK, &reply) < 0 || reply.later;
}

uint64_t writer_lost(const struct writer *w)
{
	return w->lost_before + w->lost;
}

const char *writer_directory(const struct writer *w)
{
	return w->directory;
}

bool writer_is_in(const struct writer *w, dev_t device, ino_t inode)
{
	return w->device == device && w->inode == inode;
}

void writer_close(struct writer *w)
{
	struct writer_reply reply = {};
	char why[64];

	if (writer_flush(w, true) == 0) {
		(void)helper_set_patience(w->fd, CLOSE_PATIENCE_SECONDS);
		(void)ask(w, WRITER_CLOSE, &reply);
	}
	put_down(w, why, sizeof(why));
	buffer_free(&w->queue);
	OPENSSL_cleanse(&w->position.key, sizeof(w->position.key));
	free(w->directory);
	free(w);
}
