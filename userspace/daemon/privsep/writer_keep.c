/* SPDX-License-Identifier: Apache-2.0 */
/* Begins a writer, hears it, and replaces it when it dies, hangs, or has another directory. */
#include "daemon/privsep/writer_keep.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "daemon/host/turn.h"
#include "daemon/privsep/helper.h"
#include "daemon/privsep/writer_ask.h"
#include "daemon/privsep/writer_child.h"
#include "daemon/privsep/writer_directory.h"
#include "daemon/privsep/writer_hear.h"
#include "daemon/privsep/writer_state.h"
#include "daemon/privsep/writer_wait.h"

/* For the lock of one that is about to leave. */
#define LOCK_PATIENCE_MSEC 3000
/* After so many in a row that died at once, one a second is tried. */
#define EAGER_RESTARTS 3

static void on_readable(evutil_socket_t fd, short what, void *context);
static void on_writable(evutil_socket_t fd, short what, void *context);

static int watch(struct writer *w)
{
	struct event_base *base = w->settings.base;

	if (!base)
		return 0;
	w->readable = event_new(base, w->fd, EV_READ | EV_PERSIST, on_readable, w);
	w->writable = event_new(base, w->fd, EV_WRITE, on_writable, w);
	return w->readable && w->writable && event_add(w->readable, NULL) == 0 ? 0 : -ENOMEM;
}

static void greet(struct writer *w)
{
	struct writer_hello hello = {
		.options = w->settings.log,
		.uid = w->settings.uid,
		.gid = w->settings.gid,
		.patience_msec = LOCK_PATIENCE_MSEC,
		.confine = geteuid() == 0,
		.position = w->position,
		.anew = w->anew,
	};

	snprintf(hello.name, sizeof(hello.name), "%s", w->directory);
	if (hello.options.identity)
		snprintf(hello.identity, sizeof(hello.identity), "%s", hello.options.identity);
	writer_ask(w, WRITER_HELLO, &hello, sizeof(hello));
	OPENSSL_cleanse(&hello.position.key, sizeof(hello.position.key));
}

int writer_keep_start(struct writer *w, struct failure *failure)
{
	_cleanup_(closep) int directory_fd = -1;
	struct stat status;
	int r;

	directory_fd =
		writer_directory_open(w->directory, w->settings.uid, w->settings.gid, failure);
	if (directory_fd < 0)
		return directory_fd;
	if (fstat(directory_fd, &status) < 0)
		return failure_set(failure, errno, "cannot examine %s: %m", w->directory);
	r = helper_start("--log-writer", directory_fd, PATIENCE_SECONDS, &w->pid, &w->fd);
	if (r == 0)
		r = watch(w);
	if (r < 0)
		return failure_set(failure, r, "cannot start the log's writer: %m");
	w->next_device = status.st_dev;
	w->next_inode = status.st_ino;
	w->restarts++;
	greet(w);
	return 0;
}

static bool directory_is_its(const struct writer *w)
{
	struct stat status;

	return stat(w->directory, &status) == 0 && w->device == status.st_dev &&
	       w->inode == status.st_ino;
}

/* A writer for what the log's directory is now. */
static int ensure(struct writer *w)
{
	char why[64];

	if (w->asking && w->asked == WRITER_HELLO)
		return 0;
	w->anew = !directory_is_its(w);
	if (w->anew)
		writer_child_put_down(w, why, sizeof(why));
	if (w->fd >= 0)
		return 0;
	if (clock_nsec(CLOCK_MONOTONIC) < w->not_before)
		return -EPIPE;
	return writer_keep_start(w, NULL);
}

static bool wants_something(const struct writer *w)
{
	for (size_t i = 0; i < ARRAY_SIZE(w->wanted); i++)
		if (w->wanted[i])
			return true;
	return false;
}

void writer_keep_lost(struct writer *w, int error)
{
	bool leaving = w->asking && w->asked == WRITER_CLOSE;
	char why[64] = "";

	writer_child_put_down(w, why, sizeof(why));
	if (leaving || w->closed) {
		writer_wait_note_closed(w);
		return;
	}
	if (w->restarts >= EAGER_RESTARTS)
		w->not_before = clock_nsec(CLOCK_MONOTONIC) + NSEC_PER_SEC;
	if (w->settings.restarted)
		w->settings.restarted(why, w->settings.context);
	/* Another is started once there is something to say. */
	if (!wants_something(w))
		return;
	if (++w->deaths >= DEATHS_MAX) {
		w->deaths = 0;
		writer_wait_fail(w, error);
	} else {
		writer_keep_say(w);
	}
}

void writer_keep_say(struct writer *w)
{
	int r = ensure(w);

	if (r < 0) {
		writer_wait_fail(w, r);
		/* But for one that is only to be tried again later. */
		if (r != -EPIPE)
			writer_wait_note_answer(w, r);
		return;
	}
	r = writer_ask_on(w);
	if (r < 0)
		writer_keep_lost(w, -EPIPE);
}

static void go_on(struct writer *w)
{
	int r = writer_hear(w);

	if (r == 0 && w->fd >= 0)
		r = writer_ask_on(w);
	if (r < 0)
		writer_keep_lost(w, -EPIPE);
}

static void on_readable(evutil_socket_t fd, short what, void *context)
{
	TURN("log writer");
	(void)fd;
	(void)what;
	go_on(context);
}

static void on_writable(evutil_socket_t fd, short what, void *context)
{
	struct writer *w = context;

	(void)fd;
	(void)what;
	if (writer_ask_on(w) < 0)
		writer_keep_lost(w, -EPIPE);
}

void writer_keep_on_late(evutil_socket_t fd, short what, void *context)
{
	TURN("log writer");
	(void)fd;
	(void)what;
	writer_keep_lost(context, -ETIMEDOUT);
}

void writer_keep_hear(struct writer *w, uint64_t nsec)
{
	struct pollfd fd = {.fd = w->fd, .events = POLLIN};

	if (w->out_at < w->out.size)
		fd.events |= POLLOUT;
	if (poll(&fd, 1, (int)((nsec + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC)) > 0)
		go_on(w);
	if (writer_ask_silent_nsec(w) >
	    (w->asked == WRITER_CLOSE ? CLOSE_PATIENCE_SECONDS : PATIENCE_SECONDS) * NSEC_PER_SEC)
		writer_keep_lost(w, -ETIMEDOUT);
}

void writer_keep_await(struct writer *w, uint32_t request, uint64_t msec)
{
	uint64_t now, end = clock_nsec(CLOCK_MONOTONIC) + msec * NSEC_PER_MSEC;

	while (w->fd >= 0 && writer_ask_is_open(w, request) && !w->closed &&
	       (now = clock_nsec(CLOCK_MONOTONIC)) < end)
		writer_keep_hear(w, end - now);
}
