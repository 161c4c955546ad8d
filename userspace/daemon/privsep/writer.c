/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/privsep/writer.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "audit/text/buffer.h"
#include "base/clock.h"
#include "base/io.h"
#include "daemon/host/turn.h"
#include "daemon/privsep/helper.h"
#include "daemon/privsep/writer_directory.h"
#include "daemon/privsep/writer_protocol.h"
#include "daemon/privsep/writer_share.h"

/* As much waits here as in the log's own buffer; what comes then is lost while nothing can be written. */
#define QUEUE_MAX (1u << 20)
/* While it only is slow. */
#define QUEUE_MAX_SLOW (16u << 20)
/* Of that, what one source of records may have waiting while half of the room is taken. */
#define SHARE 16
/* Whoever has more to say had better wait. */
#define QUEUE_BACKLOG (4u << 20)
/* Handed over in one piece, before anybody asks for it. */
#define BATCH_SIZE (1u << 17)
/*
 * Handed over before the writer is asked whether the last of it is written: a writer with much to do answers in between,
 * so that it is not taken for one that hangs.
 */
#define UNANSWERED_MAX (2 * BATCH_SIZE)

/* A disk may take its time; a writer that takes more hangs. Closing may wait for a segment's compression. */
#define PATIENCE_SECONDS       30
#define CLOSE_PATIENCE_SECONDS 120
/* One that has not answered for so long is not waited for by those who need not. */
#define SLOW_NSEC (2 * NSEC_PER_SEC)
/* For an answer that the loop waits for: whether the log can be written, of a writer that has nothing else to do. */
#define WRITABLE_MSEC 50
/* For the lock of one that is about to leave. */
#define LOCK_PATIENCE_MSEC 3000
/* After so many in a row that died at once, one a second is tried. */
#define EAGER_RESTARTS 3
/* If it dies over a question, the next one is asked; if that does as well, it is the question. */
#define DEATHS_MAX 2

struct writer_wait {
	TAILQ_ENTRY(writer_wait) link;
	bool sync;
	uint64_t end; /* as `confirmed`: how far it has to come */
	bool covered; /* by what the writer is being asked */
	bool completed;
	int result;
	writer_done *done; /* NULL: whoever waits looks at `completed` */
	void *context;
};
TAILQ_HEAD(wait_list, writer_wait);

struct writer {
	char *directory;
	struct writer_settings settings;
	int fd; /* -1: there is none now */
	pid_t pid, unreaped;
	dev_t device; /* of the directory that it has */
	ino_t inode;
	dev_t next_device; /* of that which the one that begins is about to have */
	ino_t next_inode;
	struct buffer queue; /* records that are not confirmed, as WRITER_APPEND has them */
	uint64_t confirmed;  /* bytes that stood before it */
	size_t sent;	     /* bytes of it that this writer has */
	struct buffer out;   /* requests on their way into the socket */
	size_t out_at;
	struct writer_reply reply; /* on its way out of it */
	size_t reply_size;
	bool asking; /* one question at a time, so that one flush is for all who came meanwhile */
	uint32_t asked;
	uint64_t asked_at; /* monotonic clock */
	size_t covers;	   /* bytes of the queue that the flush is about */
	bool partial;	   /* which is not all that was wanted */
	bool wanted[WRITER_REQUEST_COUNT];
	bool anew; /* the next one begins in another directory */
	struct wait_list waits, completed;
	struct event *readable, *writable, *late, *deliver; /* NULL without a loop */
	uint64_t unsaid; /* lost here; the log does not say so yet */
	bool said;	 /* this writer has been told */
	bool failing;	 /* the last try to write did */
	bool unsynced;	 /* wrote what is not on disk */
	bool later;	 /* something will be due although nothing is appended */
	bool closed;	 /* has left in order */
	int error;
	int unwritable; /* as it said last: 0, or why */
	struct failure why_not_begun;
	uint64_t repaired;
	struct audit_log_position position;
	uint64_t lost;			  /* by this writer, as it said last */
	uint64_t lost_before;		  /* by those before it, and here */
	struct audit_log_figures figures; /* as it said last */
	uint64_t written_before;	  /* bytes, by those before it */
	unsigned int restarts;		  /* since the last that did something */
	unsigned int deaths;		  /* likewise */
	uint64_t not_before;		  /* monotonic clock: when to try again */
};

/* --- the process -------------------------------------------------------------------------- */

static void describe_death(int status, char *text, size_t size)
{
	if (WIFSIGNALED(status))
		snprintf(text, size, "killed by signal %d", WTERMSIG(status));
	else
		snprintf(text, size, "ended with status %d", WEXITSTATUS(status));
}

/* One that hangs in the kernel cannot be waited for: it is left for later. */
static bool reap(struct writer *w, int *ret_status)
{
	const struct timespec pause = {.tv_nsec = NSEC_PER_MSEC};

	if (w->unreaped > 0 && waitpid(w->unreaped, NULL, WNOHANG) != 0)
		w->unreaped = 0;
	for (int i = 0; i < 50; i++) {
		pid_t found = waitpid(w->pid, ret_status, WNOHANG);

		if (found == w->pid || (found < 0 && errno != EINTR))
			return found == w->pid;
		nanosleep(&pause, NULL);
	}
	w->unreaped = w->pid;
	return false;
}

static void event_drop(struct event **event)
{
	if (*event)
		event_free(*event);
	*event = NULL;
}

/* Whatever state it is in, it is gone then; what it has not confirmed is still here, and is asked about again. */
static void put_down(struct writer *w, char *why, size_t size)
{
	struct writer_wait *wait;
	int status;

	if (w->fd < 0)
		return;
	event_drop(&w->readable);
	event_drop(&w->writable);
	if (w->late)
		evtimer_del(w->late);
	closep(&w->fd);
	w->fd = -1;
	/* One that ended by itself is a zombie, to which this does nothing. */
	(void)kill(w->pid, SIGKILL);
	if (reap(w, &status))
		describe_death(status, why, size);
	else
		snprintf(why, size, "hangs");
	if (w->asking)
		w->wanted[w->asked] = w->asked != WRITER_HELLO && w->asked != WRITER_CLOSE;
	w->asking = false;
	OPENSSL_cleanse(w->out.data, w->out.size);
	w->out.size = w->out_at = w->reply_size = 0;
	TAILQ_FOREACH(wait, &w->waits, link)
	wait->covered = false;
	w->sent = 0;
	w->said = false;
	w->lost_before += w->lost;
	w->lost = 0;
	w->written_before += w->figures.written;
	w->figures.written = 0;
}

/* --- who waits ---------------------------------------------------------------------------- */

static void complete(struct writer *w, struct writer_wait *wait, int result)
{
	TAILQ_REMOVE(&w->waits, wait, link);
	wait->completed = true;
	wait->result = result;
	TAILQ_INSERT_TAIL(&w->completed, wait, link);
	/* From the loop: whoever has just asked is not called while it does. */
	if (w->deliver)
		event_active(w->deliver, EV_TIMEOUT, 1);
}

static void on_deliver(evutil_socket_t fd, short what, void *context)
{
	TURN("records written");
	struct writer *w = context;
	struct writer_wait *wait, *next;

	(void)fd;
	(void)what;
	for (wait = TAILQ_FIRST(&w->completed); wait; wait = next) {
		next = TAILQ_NEXT(wait, link);
		if (!wait->done)
			continue;
		TAILQ_REMOVE(&w->completed, wait, link);
		wait->done(wait->result, wait->context);
		free(wait);
		/* It may have cancelled others. */
		next = TAILQ_FIRST(&w->completed);
	}
	if (w->closed && w->settings.left)
		w->settings.left(w, w->settings.context);
}

static void complete_covered(struct writer *w, int result)
{
	struct writer_wait *wait, *next;

	for (wait = TAILQ_FIRST(&w->waits); wait; wait = next) {
		next = TAILQ_NEXT(wait, link);
		if (wait->covered)
			complete(w, wait, result);
	}
}

/* Until somebody asks again. */
static void give_up_flush(struct writer *w, int error)
{
	struct writer_wait *wait;

	w->wanted[WRITER_FLUSH] = w->wanted[WRITER_SYNC] = false;
	while ((wait = TAILQ_FIRST(&w->waits)) != NULL)
		complete(w, wait, error);
}

/* Nothing can be written now: nobody waits for that. What is in the queue stays. */
static void fail(struct writer *w, int error)
{
	w->failing = true;
	w->error = w->unwritable = error;
	memset(w->wanted, 0, sizeof(w->wanted));
	give_up_flush(w, error);
}

/* --- talking to it ------------------------------------------------------------------------ */

static void add_request(struct writer *w, uint32_t request, const void *payload, size_t size)
{
	const struct writer_header header = {.request = request, .size = (uint32_t)size};

	buffer_add(&w->out, &header, sizeof(header));
	buffer_add(&w->out, payload, size);
}

static void ask(struct writer *w, uint32_t request, const void *payload, size_t size)
{
	const struct timeval patience = {.tv_sec = request == WRITER_CLOSE ? CLOSE_PATIENCE_SECONDS
									   : PATIENCE_SECONDS};

	add_request(w, request, payload, size);
	w->wanted[request] = false;
	w->asking = true;
	w->asked = request;
	w->asked_at = clock_nsec(CLOCK_MONOTONIC);
	if (w->late)
		evtimer_add(w->late, &patience);
}

/* Gives it what it does not have. No request is larger than a batch, or than one record. */
static void add_records(struct writer *w)
{
	size_t end = w->sent;

	while (end < w->queue.size && end - w->sent < BATCH_SIZE) {
		uint32_t length;

		memcpy(&length, w->queue.data + end, sizeof(length));
		end += sizeof(length) + length;
	}
	add_request(w, WRITER_APPEND, w->queue.data + w->sent, end - w->sent);
	w->sent = end;
}

/* What it has: those who wait for no more than that are told, others go on waiting. */
static void ask_to_flush(struct writer *w)
{
	bool all = w->sent == w->queue.size;
	bool flush = !all && w->wanted[WRITER_FLUSH], sync = !all && w->wanted[WRITER_SYNC];
	uint32_t request = w->wanted[WRITER_SYNC] && all ? WRITER_SYNC : WRITER_FLUSH;
	uint64_t end = w->confirmed + w->sent;
	struct writer_wait *wait;

	if (w->unsaid > 0 && !w->said) {
		add_request(w, WRITER_LOSE, &w->unsaid, sizeof(w->unsaid));
		w->said = true;
	}
	w->covers = w->sent;
	w->partial = !all;
	TAILQ_FOREACH(wait, &w->waits, link)
	if (wait->sync && wait->end <= end)
		request = WRITER_SYNC;
	TAILQ_FOREACH(wait, &w->waits, link)
	wait->covered = wait->end <= end && (!wait->sync || request == WRITER_SYNC);
	ask(w, request, NULL, 0);
	w->wanted[WRITER_FLUSH] = flush;
	w->wanted[WRITER_SYNC] = sync;
}

/* Bytes of records that it has, and is not being asked about. */
static size_t unanswered(const struct writer *w)
{
	bool flushing = w->asking && (w->asked == WRITER_FLUSH || w->asked == WRITER_SYNC);

	return w->sent - (flushing ? w->covers : 0);
}

/* Records that keep coming do not keep it from anything else: every other question may be of something else. */
static bool is_turn_of_others(const struct writer *w)
{
	return (w->asked == WRITER_FLUSH || w->asked == WRITER_SYNC) &&
	       (w->wanted[WRITER_WRITABLE] || w->wanted[WRITER_TICK]);
}

/* What is said next, in `out`; false: nothing now. */
static bool next_request(struct writer *w)
{
	static const uint32_t others[] = {WRITER_WRITABLE, WRITER_TICK, WRITER_CLOSE};
	bool flush = w->wanted[WRITER_FLUSH] || w->wanted[WRITER_SYNC];

	if (w->asking && w->asked == WRITER_HELLO)
		return false;
	if (w->sent < w->queue.size && unanswered(w) < UNANSWERED_MAX &&
	    (flush || w->queue.size - w->sent >= BATCH_SIZE)) {
		add_records(w);
		return true;
	}
	if (w->asking)
		return false;
	if (!is_turn_of_others(w) && (flush || (unanswered(w) >= UNANSWERED_MAX && !w->failing))) {
		ask_to_flush(w);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (!w->wanted[others[i]])
			continue;
		ask(w, others[i], NULL, 0);
		return true;
	}
	return false;
}

/* Says what there is to say, as far as there is room. */
static int pump(struct writer *w)
{
	for (;;) {
		ssize_t n;

		if (w->out.failed)
			return -ENOMEM;
		if (w->out_at == w->out.size) {
			w->out.size = w->out_at = 0;
			if (!next_request(w))
				return 0;
			continue;
		}
		n = send(w->fd, w->out.data + w->out_at, w->out.size - w->out_at,
			 MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN)
			return w->writable && event_add(w->writable, NULL) < 0 ? -ENOMEM : 0;
		if (n < 0 && errno != EINTR)
			return -errno;
		w->out_at += n > 0 ? (size_t)n : 0;
	}
}

/*
 * Takes note of where the log's file ends, for the next writer: behind what is confirmed, not behind what this
 * one may have written of the rest. The key is in any case the one at hand.
 */
static void note_position(struct writer *w, bool confirmed)
{
	w->position.key = w->reply.position.key;
	memcpy(w->position.id, w->reply.position.id, sizeof(w->position.id));
	if (confirmed || w->queue.size == 0) {
		w->position.sequence = w->reply.position.sequence;
		memcpy(w->position.chain, w->reply.position.chain, SHA256_SIZE);
	}
	OPENSSL_cleanse(&w->reply.position.key, sizeof(w->reply.position.key));
}

static void note_closed(struct writer *w)
{
	w->closed = true;
	if (w->deliver)
		event_active(w->deliver, EV_TIMEOUT, 1);
}

static void note_flushed(struct writer *w, int result)
{
	w->failing = result < 0;
	w->error = w->unwritable = result;
	if (result == 0) {
		if (w->queue.size > w->covers)
			memmove(w->queue.data, w->queue.data + w->covers,
				w->queue.size - w->covers);
		w->queue.size -= w->covers;
		w->sent -= w->covers;
		w->confirmed += w->covers;
		w->unsynced = w->asked != WRITER_SYNC && (w->unsynced || w->covers > 0);
		if (w->said)
			w->unsaid = 0;
		w->said = false;
	}
	note_position(w, result == 0);
	if (result < 0 && w->partial)
		give_up_flush(w, result);
	else
		complete_covered(w, result);
}

static void take_reply(struct writer *w)
{
	struct writer_reply *reply = &w->reply;
	char why[64];

	reply->text[sizeof(reply->text) - 1] = '\0';
	w->reply_size = 0;
	w->asking = false;
	w->lost = reply->lost;
	/* One that has closed the log, or could not open it, has none. */
	if (w->asked != WRITER_CLOSE && (w->asked != WRITER_HELLO || reply->result == 0))
		w->figures = reply->figures;
	if (w->late)
		evtimer_del(w->late);
	if (w->asked == WRITER_HELLO && reply->result < 0) {
		if (reply->text[0])
			failure_set(&w->why_not_begun, reply->result, "%s", reply->text);
		put_down(w, why, sizeof(why));
		fail(w, reply->result);
		return;
	}
	if (w->asked == WRITER_HELLO) {
		w->repaired = reply->repaired;
		w->device = w->next_device;
		w->inode = w->next_inode;
	} else {
		w->restarts = w->deaths = 0;
	}
	if (w->asked == WRITER_FLUSH || w->asked == WRITER_SYNC) {
		note_flushed(w, reply->result);
		return;
	}
	note_position(w, false);
	if (w->asked == WRITER_WRITABLE)
		w->unwritable = reply->result;
	else if (w->asked == WRITER_TICK)
		w->later = reply->later;
	else if (w->asked == WRITER_CLOSE)
		note_closed(w);
}

/* Takes what it has said, one answer at a time; -EPIPE: it has gone. */
static int hear(struct writer *w)
{
	for (;;) {
		ssize_t n = recv(w->fd, (char *)&w->reply + w->reply_size,
				 sizeof(w->reply) - w->reply_size, MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || !w->asking)
			return -EPIPE;
		w->reply_size += (size_t)n;
		if (w->reply_size < sizeof(w->reply))
			continue;
		take_reply(w);
		return 0;
	}
}

/* --- one that is there -------------------------------------------------------------------- */

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
	ask(w, WRITER_HELLO, &hello, sizeof(hello));
	OPENSSL_cleanse(&hello.position.key, sizeof(hello.position.key));
}

/* Its answer comes later. */
static int start(struct writer *w, struct failure *failure)
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

	return stat(w->directory, &status) == 0 && writer_is_in(w, status.st_dev, status.st_ino);
}

/* A writer for what the log's directory is now. */
static int ensure(struct writer *w)
{
	char why[64];

	if (w->asking && w->asked == WRITER_HELLO)
		return 0;
	w->anew = !directory_is_its(w);
	if (w->anew)
		put_down(w, why, sizeof(why));
	if (w->fd >= 0)
		return 0;
	if (clock_nsec(CLOCK_MONOTONIC) < w->not_before)
		return -EPIPE;
	return start(w, NULL);
}

static void say(struct writer *w);

static bool wants_something(const struct writer *w)
{
	for (size_t i = 0; i < ARRAY_SIZE(w->wanted); i++)
		if (w->wanted[i])
			return true;
	return false;
}

/* It died, or has been silent for too long. */
static void lost_it(struct writer *w, int error)
{
	bool leaving = w->asking && w->asked == WRITER_CLOSE;
	char why[64] = "";

	put_down(w, why, sizeof(why));
	if (leaving || w->closed) {
		note_closed(w);
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
		fail(w, error);
	} else {
		say(w);
	}
}

/* What is wanted of it. */
static void say(struct writer *w)
{
	int r = ensure(w);

	if (r < 0) {
		fail(w, r);
		return;
	}
	r = pump(w);
	if (r < 0)
		lost_it(w, -EPIPE);
}

static void go_on(struct writer *w)
{
	int r = hear(w);

	if (r == 0 && w->fd >= 0)
		r = pump(w);
	if (r < 0)
		lost_it(w, -EPIPE);
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
	if (pump(w) < 0)
		lost_it(w, -EPIPE);
}

static void on_late(evutil_socket_t fd, short what, void *context)
{
	TURN("log writer");
	(void)fd;
	(void)what;
	lost_it(context, -ETIMEDOUT);
}

/* --- waiting for it ----------------------------------------------------------------------- */

static uint64_t silent_nsec(const struct writer *w)
{
	return w->asking ? clock_nsec(CLOCK_MONOTONIC) - w->asked_at : 0;
}

/* Hears it once more, or for so long. */
static void hear_for(struct writer *w, uint64_t nsec)
{
	struct pollfd fd = {.fd = w->fd, .events = POLLIN};

	if (w->out_at < w->out.size)
		fd.events |= POLLOUT;
	if (poll(&fd, 1, (int)((nsec + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC)) > 0)
		go_on(w);
	if (silent_nsec(w) >
	    (w->asked == WRITER_CLOSE ? CLOSE_PATIENCE_SECONDS : PATIENCE_SECONDS) * NSEC_PER_SEC)
		lost_it(w, -ETIMEDOUT);
}

static bool is_asked(const struct writer *w, uint32_t request)
{
	return w->wanted[request] || (w->asking && w->asked == request);
}

/* Until that is answered, or cannot be. */
static void await(struct writer *w, uint32_t request, uint64_t msec)
{
	uint64_t now, end = clock_nsec(CLOCK_MONOTONIC) + msec * NSEC_PER_MSEC;

	while (w->fd >= 0 && is_asked(w, request) && !w->closed &&
	       (now = clock_nsec(CLOCK_MONOTONIC)) < end)
		hear_for(w, end - now);
}

/* --- what others use ---------------------------------------------------------------------- */

static void writer_free(struct writer *w)
{
	char why[64];

	put_down(w, why, sizeof(why));
	event_drop(&w->late);
	event_drop(&w->deliver);
	buffer_free(&w->queue);
	buffer_free(&w->out);
	OPENSSL_cleanse(&w->position.key, sizeof(w->position.key));
	free(w->directory);
	free(w);
}

/* One that dies before it could say why was killed, which says nothing about the log: it gets a second try. */
static int start_first(struct writer *w, struct failure *failure)
{
	for (int i = 0; i < DEATHS_MAX && !w->failing; i++) {
		int r = start(w, failure);

		if (r < 0)
			return r;
		if (pump(w) < 0)
			lost_it(w, -EPIPE);
		await(w, WRITER_HELLO, PATIENCE_SECONDS * 1000);
		if (w->fd >= 0)
			return w->asking ? failure_set(failure, ETIMEDOUT,
						       "the log's writer does not answer: %m")
					 : 0;
	}
	return w->why_not_begun.text[0]
		       ? failure_set(failure, w->error, "%s", w->why_not_begun.text)
		       : failure_set(failure, w->failing ? w->error : EPIPE,
				     "the log's writer does not answer: %m");
}

int writer_open(const char *directory, const struct writer_settings *settings,
		struct writer **ret_writer, uint64_t *ret_repaired, struct failure *failure)
{
	struct writer *w = calloc(1, sizeof(*w));
	void (*restarted)(const char *why, void *context) = settings->restarted;
	int r;

	if (!w)
		return failure_set(failure, ENOMEM, "%m");
	w->fd = -1;
	w->settings = *settings;
	/* Nobody is told of one that does not begin. */
	w->settings.restarted = NULL;
	TAILQ_INIT(&w->waits);
	TAILQ_INIT(&w->completed);
	w->directory = strdup(directory);
	if (settings->base) {
		w->late = evtimer_new(settings->base, on_late, w);
		w->deliver = evtimer_new(settings->base, on_deliver, w);
	}
	r = !w->directory || (settings->base && (!w->late || !w->deliver))
		    ? failure_set(failure, ENOMEM, "%m")
		    : start_first(w, failure);
	if (r < 0) {
		writer_free(w);
		return r;
	}
	w->settings.restarted = restarted;
	*ret_repaired = w->repaired;
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

static size_t room(const struct writer *w)
{
	return w->failing || !w->settings.base ? QUEUE_MAX : QUEUE_MAX_SLOW;
}

int writer_append(struct writer *w, struct writer_share *share, const char *record, size_t size)
{
	size_t most;
	int r;

	if (size > WRITER_PAYLOAD_MAX / 2)
		return lose(w, -EMSGSIZE);
	if (w->queue.size >= room(w) && !w->failing && !w->settings.base)
		(void)writer_flush(w, false);
	/* What one source can fill alone leaves as much for all others. */
	most = share && writer_share_waiting(share, w->confirmed, w->queue.size) >= room(w) / SHARE
		       ? room(w) / 2
		       : room(w);
	if (w->queue.size >= most)
		return lose(w, w->error < 0 ? w->error : -ENOBUFS);
	r = enqueue(w, record, size);
	if (r < 0)
		return lose(w, r);
	if (share)
		writer_share_add(share, w->confirmed + w->queue.size, size);
	/* It can begin while more is gathered. */
	if (!w->failing && w->fd >= 0 && w->out_at == w->out.size &&
	    w->queue.size - w->sent >= BATCH_SIZE && pump(w) < 0)
		lost_it(w, -EPIPE);
	return 0;
}

void writer_flush_soon(struct writer *w, bool sync)
{
	w->wanted[sync ? WRITER_SYNC : WRITER_FLUSH] = true;
	say(w);
}

int writer_when_flushed(struct writer *w, bool sync, writer_done *done, void *context,
			struct writer_wait **ret_wait)
{
	struct writer_wait *wait = calloc(1, sizeof(*wait));

	if (!wait)
		return -ENOMEM;
	wait->sync = sync;
	wait->end = w->confirmed + w->queue.size;
	wait->done = done;
	wait->context = context;
	TAILQ_INSERT_TAIL(&w->waits, wait, link);
	*ret_wait = wait;
	writer_flush_soon(w, sync);
	return 0;
}

void writer_wait_cancel(struct writer *w, struct writer_wait *wait)
{
	if (!wait)
		return;
	if (wait->completed)
		TAILQ_REMOVE(&w->completed, wait, link);
	else
		TAILQ_REMOVE(&w->waits, wait, link);
	free(wait);
}

int writer_flush_within(struct writer *w, bool sync, uint64_t msec)
{
	uint64_t now, end = clock_nsec(CLOCK_MONOTONIC) + msec * NSEC_PER_MSEC;
	struct writer_wait *wait;
	int r = writer_when_flushed(w, sync, NULL, NULL, &wait);

	if (r < 0)
		return r;
	while (!wait->completed && w->fd >= 0 && (now = clock_nsec(CLOCK_MONOTONIC)) < end)
		hear_for(w, end - now);
	r = wait->completed ? wait->result : -ETIMEDOUT;
	writer_wait_cancel(w, wait);
	return r;
}

int writer_flush(struct writer *w, bool sync)
{
	return writer_flush_within(w, sync, (uint64_t)DEATHS_MAX * (PATIENCE_SECONDS + 1) * 1000);
}

int writer_writable(struct writer *w)
{
	/* It is at work, or hangs: what it said last has to do. */
	if (w->settings.base && w->asking && (w->unwritable == 0 || silent_nsec(w) > SLOW_NSEC))
		return w->unwritable;
	w->wanted[WRITER_WRITABLE] = true;
	say(w);
	await(w, WRITER_WRITABLE, w->settings.base ? WRITABLE_MSEC : PATIENCE_SECONDS * 1000);
	return w->unwritable;
}

bool writer_tick(struct writer *w)
{
	w->wanted[WRITER_TICK] = true;
	say(w);
	if (!w->settings.base)
		await(w, WRITER_TICK, PATIENCE_SECONDS * 1000);
	/* One that cannot be had now is looked for at the next tick. */
	return w->failing || w->later || is_asked(w, WRITER_TICK);
}

bool writer_is_dirty(const struct writer *w)
{
	return w->queue.size > 0 || w->unsaid > 0;
}

bool writer_is_unsynced(const struct writer *w)
{
	return w->unsynced;
}

bool writer_is_failing(const struct writer *w)
{
	return w->failing;
}

bool writer_is_slow(const struct writer *w)
{
	return silent_nsec(w) > SLOW_NSEC;
}

bool writer_is_behind(const struct writer *w)
{
	return w->queue.size >= QUEUE_BACKLOG && !w->failing && !writer_is_slow(w);
}

uint64_t writer_lost(const struct writer *w)
{
	return w->lost_before + w->lost;
}

void writer_figures(const struct writer *w, struct audit_log_figures *ret_figures)
{
	*ret_figures = w->figures;
	ret_figures->written += w->written_before;
}

const char *writer_directory(const struct writer *w)
{
	return w->directory;
}

bool writer_is_in(const struct writer *w, dev_t device, ino_t inode)
{
	return w->device == device && w->inode == inode;
}

void writer_leave(struct writer *w)
{
	w->wanted[WRITER_CLOSE] = true;
	say(w);
}

void writer_close(struct writer *w)
{
	struct writer_wait *wait;

	w->settings.left = NULL;
	if (!w->closed && (is_asked(w, WRITER_CLOSE) || writer_flush(w, true) == 0)) {
		if (!is_asked(w, WRITER_CLOSE))
			writer_leave(w);
		await(w, WRITER_CLOSE, CLOSE_PATIENCE_SECONDS * 1000);
	}
	while ((wait = TAILQ_FIRST(&w->waits)) != NULL ||
	       (wait = TAILQ_FIRST(&w->completed)) != NULL)
		writer_wait_cancel(w, wait);
	writer_free(w);
}
