/* SPDX-License-Identifier: Apache-2.0 */
/* Begins a writer, hears it, and replaces it when it dies, hangs, or has another directory. */
#include "daemon/privsep/writer_keep.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "daemon/host/turn.h"
#include "daemon/privsep/errand.h"
#include "daemon/privsep/helper.h"
#include "daemon/privsep/writer_ask.h"
#include "daemon/privsep/writer_child.h"
#include "daemon/privsep/writer_hear.h"
#include "daemon/privsep/writer_state.h"
#include "daemon/privsep/writer_wait.h"

/* For the lock of one that is about to leave. */
#define LOCK_PATIENCE_MSEC 3000
/* For what is in the log's place after it was replaced. */
#define LOOK_SECONDS 5
/* What was seen of it is taken for so long to be so. */
#define SEEN_NSEC NSEC_PER_SEC
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
		.anew = w->begun && (w->device != w->place.device || w->inode != w->place.inode),
	};

	snprintf(hello.name, sizeof(hello.name), "%s", w->directory);
	if (hello.options.identity)
		snprintf(hello.identity, sizeof(hello.identity), "%s", hello.options.identity);
	writer_ask(w, WRITER_HELLO, &hello, sizeof(hello));
	OPENSSL_cleanse(&hello.position.key, sizeof(hello.position.key));
}

int writer_keep_start(struct writer *w, struct failure *failure)
{
	int r = w->place.fd >= 0 ? 0
				 : writer_place_find(w->directory, w->settings.uid, w->settings.gid,
						     &w->place, failure);

	if (r < 0)
		return r;
	r = helper_start("--log-writer", w->place.fd, PATIENCE_SECONDS, &w->pid, &w->fd);
	if (r == 0)
		r = watch(w);
	if (r < 0)
		return failure_set(failure, r, "cannot start the log's writer: %m");
	w->restarts++;
	greet(w);
	return 0;
}

/* In a process of its own. */
static int look(const void *context, FILE *to, struct errand_fds *fds, struct failure *failure)
{
	const struct writer *w = context;
	struct writer_place place;
	int r = writer_place_find(w->directory, w->settings.uid, w->settings.gid, &place, failure);

	if (r < 0)
		return r;
	writer_place_write(&place, w->directory, to);
	fds->fd[0] = place.fd;
	return 0;
}

static void leave_place(struct writer *w)
{
	char why[64];

	writer_child_put_down(w, why, sizeof(why));
	writer_place_release(&w->place);
}

static int take_place(struct writer *w, const char *data, size_t size, struct errand_fds *fds)
{
	_cleanup_(freep) char *directory = NULL;
	struct writer_place place;
	int r = writer_place_parse(data, size, &place, &directory);

	if (r < 0 || fds->fd[0] < 0)
		return r < 0 ? r : -EPROTO;
	if (w->place.fd >= 0 && w->place.device == place.device && w->place.inode == place.inode)
		return 0;
	leave_place(w);
	w->place = place;
	w->place.fd = TAKE_FD(fds->fd[0]);
	return 0;
}

static void on_looked(void *context, int result, const char *data, size_t size,
		      struct errand_fds *fds, const struct failure *failure)
{
	struct writer *w = context;

	w->looking = NULL;
	w->looked_at = clock_nsec(CLOCK_MONOTONIC);
	if (result == 0)
		result = take_place(w, data, size, fds);
	if (result == 0)
		return writer_keep_say(w);
	if (!w->begun)
		w->why_not_begun = *failure;
	/* A file system that does not answer says nothing of the place that the writer has. */
	if (w->fd < 0 || result != -ETIMEDOUT) {
		leave_place(w);
		writer_wait_fail(w, result);
	}
	writer_wait_note_answer(w, result);
}

static int begin_to_look(struct writer *w)
{
	const struct errand_job job = {
		.what = "what opens the log's directory",
		.uid = w->settings.uid,
		.seconds = LOOK_SECONDS,
		.work = look,
		.done = on_looked,
		.context = w,
	};

	return errand_start(w->settings.base, &job, &w->looking, NULL);
}

/* 1: as writer_place_is(); what was seen a moment ago is so still. */
static int is_in_place(const struct writer *w)
{
	int r = writer_place_is(&w->place, w->directory);

	if (r != -EAGAIN)
		return r;
	if (!w->settings.base)
		return writer_place_is_now(&w->place, w->directory);
	return clock_nsec(CLOCK_MONOTONIC) < w->looked_at + SEEN_NSEC ? 1 : -EAGAIN;
}

/*
 * Leaves a place that is not the log's any more. What a file system would have to be asked, it is
 * asked by a process of its own.
 */
static int look_at_place(struct writer *w)
{
	int r = w->place.fd >= 0 ? is_in_place(w) : 0;

	if (r == 0 && w->place.fd >= 0)
		leave_place(w);
	return r == -EAGAIN || (r == 0 && w->settings.base) ? begin_to_look(w) : 0;
}

static bool is_beginning(const struct writer *w)
{
	return w->asking && w->asked == WRITER_HELLO;
}

/*
 * A writer for what the log's directory is now. -EINPROGRESS: there will be one. While it is asked
 * whether a writer is in the right place, that one goes on: those who wait in the loop for what is
 * written would wait in vain.
 */
static int ensure(struct writer *w)
{
	int r = 0;

	if (is_beginning(w))
		return 0;
	if (w->fd < 0 && clock_nsec(CLOCK_MONOTONIC) < w->not_before)
		return -EPIPE;
	if (!w->looking)
		r = look_at_place(w);
	if (w->fd < 0 && (r < 0 || w->looking))
		return r < 0 ? r : -EINPROGRESS;
	return w->fd >= 0 ? 0 : writer_keep_start(w, NULL);
}

bool writer_keep_is_away(struct writer *w)
{
	if (!w->looking && !is_beginning(w) && w->place.fd >= 0)
		(void)look_at_place(w);
	return w->looking || w->fd < 0;
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
	if (w->settings.restarted && w->begun)
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

	if (r == -EINPROGRESS)
		return;
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
