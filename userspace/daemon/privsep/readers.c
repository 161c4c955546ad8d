/* SPDX-License-Identifier: Apache-2.0 */
/* Starts, feeds and replaces the reading processes, one for each user. */
#include "daemon/privsep/readers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "control/lock.h"
#include "control/message_codec.h"
#include "control/protocol.h"
#include "daemon/host/pid_event.h"
#include "daemon/host/turn.h"
#include "daemon/privsep/helper.h"

/* So many that nobody asks anything stay; another takes the place of who was asked longest ago. */
#define READERS_IDLE_MAX 16
/* Of users who all ask at the same time: there are accounts for fewer. */
#define READERS_MAX 128
/* Between looks for the end of one that has no pidfd. */
#define REAP_MSEC 100

TAILQ_HEAD(question_list, reader_question);

struct reader_question {
	TAILQ_ENTRY(reader_question) link;
	struct question_list *list; /* that it is in */
	reader_answered *done;	    /* NULL: nobody wants the answer */
	void *context;
	bool second_try;
	uint64_t since; /* monotonic clock, ns: it is being asked; 0: it stands in line */
	size_t size;	/* of struct reader_input and what follows */
	char data[];
};

struct reader {
	TAILQ_ENTRY(reader) link;
	struct readers *readers;
	uid_t uid;
	pid_t pid;
	int fd;
	bool ready;			/* it has confined itself, and takes questions */
	struct question_list questions; /* the first of them is asked */
	size_t sent;			/* of the first */
	struct reader_reply reply;
	char *data;
	size_t got; /* of both */
	struct event *readable, *writable, *late, *ended;
};

TAILQ_HEAD(reader_list, reader);

struct readers {
	struct reader_list list;    /* least recently asked first */
	struct reader_list leaving; /* killed: they are still to be reaped */
	size_t count;		    /* of list */
	struct readers_options options;
	int root_fd;
};

int readers_new(const struct readers_options *options, struct readers **ret_readers,
		struct failure *failure)
{
	struct readers *readers = calloc(1, sizeof(*readers));
	int r;

	if (!readers)
		return failure_set(failure, ENOMEM, "%m");
	TAILQ_INIT(&readers->list);
	TAILQ_INIT(&readers->leaving);
	readers->options = *options;
	readers->root_fd = -1;
	r = lock_subdirectory("empty", &readers->root_fd, failure);
	if (r < 0)
		readers_free(readers);
	else
		*ret_readers = readers;
	return r;
}

/* --- the end of one ----------------------------------------------------------------------- */

static void drop_event(struct event **event)
{
	if (*event)
		event_free(*event);
	*event = NULL;
}

static void reap(struct reader *reader)
{
	TAILQ_REMOVE(&reader->readers->leaving, reader, link);
	pid_event_free(&reader->ended);
	free(reader);
}

static void on_end(evutil_socket_t fd, short what, void *context)
{
	struct reader *reader = context;
	TURN(reader->readers->options.turn);

	(void)fd;
	(void)what;
	if (waitpid(reader->pid, NULL, WNOHANG) == 0)
		(void)event_add(reader->ended, NULL);
	else
		reap(reader);
}

/* Without a pidfd, for which there was no room. */
static void on_look(evutil_socket_t fd, short what, void *context)
{
	const struct timeval after = {.tv_usec = REAP_MSEC * 1000};
	struct reader *reader = context;
	TURN(reader->readers->options.turn);

	(void)fd;
	(void)what;
	if (waitpid(reader->pid, NULL, WNOHANG) != 0 || evtimer_add(reader->ended, &after) < 0)
		reap(reader);
}

static void look_for_end(struct reader *reader)
{
	const struct timeval after = {.tv_usec = REAP_MSEC * 1000};

	reader->ended = evtimer_new(reader->readers->options.base, on_look, reader);
	if (!reader->ended || evtimer_add(reader->ended, &after) < 0)
		reap(reader);
}

/*
 * Its socket closed, it ends by itself; one that hangs does not, and takes its time to die, in the
 * kernel perhaps.
 */
static void put_down(struct reader *reader)
{
	struct readers *readers = reader->readers;
	_cleanup_(closep) int pidfd = -1;

	TAILQ_REMOVE(&readers->list, reader, link);
	readers->count--;
	drop_event(&reader->readable);
	drop_event(&reader->writable);
	drop_event(&reader->late);
	closep(&reader->fd);
	freep(&reader->data);
	TAILQ_INSERT_TAIL(&readers->leaving, reader, link);
	pidfd = pidfd_open(reader->pid, 0);
	(void)kill(reader->pid, SIGKILL);
	if (waitpid(reader->pid, NULL, WNOHANG) != 0)
		reap(reader);
	else if (pidfd < 0 ||
		 pid_event_new(readers->options.base, &pidfd, on_end, reader, &reader->ended) < 0)
		look_for_end(reader);
}

static void free_questions(struct question_list *questions)
{
	struct reader_question *question;

	while ((question = TAILQ_FIRST(questions)) != NULL) {
		TAILQ_REMOVE(questions, question, link);
		free(question);
	}
}

void readers_free(struct readers *readers)
{
	struct reader *reader;

	if (!readers)
		return;
	while ((reader = TAILQ_FIRST(&readers->list)) != NULL) {
		free_questions(&reader->questions);
		put_down(reader);
	}
	while ((reader = TAILQ_FIRST(&readers->leaving)) != NULL)
		reap(reader);
	closep(&readers->root_fd);
	free(readers);
}

/* --- its beginning ------------------------------------------------------------------------ */

static void on_readable(evutil_socket_t fd, short what, void *context);
static void on_writable(evutil_socket_t fd, short what, void *context);
static void on_late(evutil_socket_t fd, short what, void *context);

static int be_patient(struct reader *reader)
{
	const struct timeval patience = {.tv_sec = reader->readers->options.seconds};

	return evtimer_add(reader->late, &patience) < 0 ? -ENOMEM : 0;
}

static int watch(struct reader *reader)
{
	struct event_base *base = reader->readers->options.base;
	int flags = fcntl(reader->fd, F_GETFL);

	if (flags < 0 || fcntl(reader->fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	reader->readable = event_new(base, reader->fd, EV_READ | EV_PERSIST, on_readable, reader);
	reader->writable = event_new(base, reader->fd, EV_WRITE, on_writable, reader);
	reader->late = evtimer_new(base, on_late, reader);
	if (!reader->readable || !reader->writable || !reader->late ||
	    event_add(reader->readable, NULL) < 0)
		return -ENOMEM;
	return be_patient(reader);
}

static int start(struct readers *readers, uid_t uid, struct reader **ret_reader)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	int r;

	if (!reader)
		return -ENOMEM;
	reader->readers = readers;
	reader->uid = uid;
	TAILQ_INIT(&reader->questions);
	r = helper_start(readers->options.option, readers->root_fd, readers->options.seconds,
			 &reader->pid, &reader->fd);
	if (r < 0) {
		free(reader);
		return r;
	}
	TAILQ_INSERT_TAIL(&readers->list, reader, link);
	readers->count++;
	r = watch(reader);
	if (r < 0)
		put_down(reader);
	else
		*ret_reader = reader;
	return r;
}

static struct reader *find(const struct readers *readers, uid_t uid)
{
	struct reader *reader;

	TAILQ_FOREACH(reader, &readers->list, link)
	if (reader->uid == uid)
		break;
	return reader;
}

static void make_room(struct readers *readers)
{
	struct reader *reader;

	TAILQ_FOREACH(reader, &readers->list, link)
	if (TAILQ_EMPTY(&reader->questions)) {
		put_down(reader);
		return;
	}
}

static int get(struct readers *readers, uid_t uid, struct reader **ret_reader)
{
	struct reader *reader = find(readers, uid);

	if (reader) {
		TAILQ_REMOVE(&readers->list, reader, link);
		TAILQ_INSERT_TAIL(&readers->list, reader, link);
		*ret_reader = reader;
		return 0;
	}
	if (readers->count >= READERS_IDLE_MAX)
		make_room(readers);
	return readers->count >= READERS_MAX ? -EUSERS : start(readers, uid, ret_reader);
}

/* --- one question after the other --------------------------------------------------------- */

static void give(struct reader *reader)
{
	struct reader_question *question = TAILQ_FIRST(&reader->questions);

	if (!reader->ready)
		return;
	(void)evtimer_del(reader->late);
	if (!question)
		return;
	question->since = clock_nsec(CLOCK_MONOTONIC);
	reader->sent = 0;
	/* Without memory for the wait it is too late already. */
	if (be_patient(reader) < 0 || event_add(reader->writable, NULL) < 0)
		event_active(reader->late, EV_TIMEOUT, 0);
}

static void stand_in(struct question_list *list, struct reader_question *question)
{
	TAILQ_INSERT_TAIL(list, question, link);
	question->list = list;
}

static void leave(struct reader_question *question)
{
	TAILQ_REMOVE(question->list, question, link);
	question->list = NULL;
}

static void append(struct reader *reader, struct reader_question *question)
{
	bool first = TAILQ_EMPTY(&reader->questions);

	stand_in(&reader->questions, question);
	if (first)
		give(reader);
}

/* Whoever is told may ask anew, and cancel what others ask. */
static void tell(struct reader_question *question, struct reader_answer *answer)
{
	if (question->since)
		answer->took = clock_nsec(CLOCK_MONOTONIC) - question->since;
	if (question->done)
		question->done(question->context, answer);
	free(question);
}

static void refuse_all(struct question_list *questions, int error)
{
	struct reader_question *question;

	while ((question = TAILQ_FIRST(questions)) != NULL) {
		struct reader_answer answer = {.result = -EAGAIN, .error = -error};

		leave(question);
		tell(question, &answer);
	}
}

static void move(struct question_list *from, struct question_list *to)
{
	struct reader_question *question;

	while ((question = TAILQ_FIRST(from)) != NULL) {
		leave(question);
		stand_in(to, question);
	}
}

/* To another one of the same user's. */
static void pass_on(struct readers *readers, uid_t uid, struct question_list *questions)
{
	struct reader_question *question;
	struct reader *reader;
	int r;

	if (TAILQ_EMPTY(questions))
		return;
	r = get(readers, uid, &reader);
	while (r == 0 && (question = TAILQ_FIRST(questions)) != NULL) {
		leave(question);
		append(reader, question);
	}
	refuse_all(questions, r);
}

/* -EPIPE: it is gone; else why it is put down. */
static void fail(struct reader *reader, int error)
{
	struct readers *readers = reader->readers;
	struct question_list questions = TAILQ_HEAD_INITIALIZER(questions);
	struct reader_question *asked;
	bool was_ready = reader->ready, given;
	uid_t uid = reader->uid;

	move(&reader->questions, &questions);
	asked = TAILQ_FIRST(&questions);
	given = asked && reader->sent == asked->size;
	put_down(reader);
	if (!was_ready) {
		refuse_all(&questions, error);
		return;
	}
	if (asked && error == -EPIPE && !given && !asked->second_try) {
		asked->second_try = true;
		asked->since = 0;
		asked = NULL;
	}
	if (asked)
		leave(asked);
	pass_on(readers, uid, &questions);
	if (asked)
		tell(asked, &(struct reader_answer){.result = -EPROTO});
}

void readers_distrust(struct readers *readers, uid_t uid)
{
	struct question_list questions = TAILQ_HEAD_INITIALIZER(questions);
	struct reader *reader = find(readers, uid);
	struct reader_question *asked;

	if (!reader)
		return;
	move(&reader->questions, &questions);
	put_down(reader);
	asked = TAILQ_FIRST(&questions);
	if (asked)
		asked->since = 0;
	pass_on(readers, uid, &questions);
}

/* 1: there is more to come; 0: `got` has moved on to `end`. */
static int receive_to(struct reader *reader, char *data, size_t begin, size_t end)
{
	while (reader->got < end) {
		ssize_t n = recv(reader->fd, data + (reader->got - begin), end - reader->got,
				 MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 1;
		if (n <= 0)
			return n == 0 || errno == ECONNRESET ? -EPIPE : -errno;
		reader->got += (size_t)n;
	}
	return 0;
}

/* 1: there is more to come; -EPROTO: no reader says that. */
static int receive(struct reader *reader)
{
	const size_t begin = sizeof(reader->reply);
	int r = receive_to(reader, (char *)&reader->reply, 0, begin);

	if (r != 0)
		return r;
	if (reader->reply.size > MESSAGE_CODEC_MAX_SIZE || reader->reply.result > 0)
		return -EPROTO;
	/* Behind it is a zero: what copies texts out of it may look there. */
	if (!reader->data)
		reader->data = calloc(1, (size_t)reader->reply.size + 1);
	if (!reader->data)
		return -ENOMEM;
	r = receive_to(reader, reader->data, begin, begin + reader->reply.size);
	if (r == 0)
		reader->got = 0;
	return r;
}

static int become_ready(struct reader *reader)
{
	freep(&reader->data);
	reader->data = NULL;
	if (reader->reply.result < 0 || reader->reply.size > 0)
		return reader->reply.result < 0 ? reader->reply.result : -EPROTO;
	reader->ready = true;
	give(reader);
	return 0;
}

static int take_answer(struct reader *reader)
{
	struct reader_question *question = TAILQ_FIRST(&reader->questions);
	_cleanup_(freep) char *data = TAKE_PTR(reader->data);
	struct reader_answer answer = {.reply = reader->reply, .data = data};

	/* Nobody has asked it, or all that there is to say. */
	if (!question || reader->sent < question->size)
		return -EPROTO;
	leave(question);
	give(reader);
	tell(question, &answer);
	return 0;
}

static void on_readable(evutil_socket_t fd, short what, void *context)
{
	struct reader *reader = context;
	TURN(reader->readers->options.turn);
	int r = receive(reader);

	(void)fd;
	(void)what;
	if (r == 0)
		r = reader->ready ? take_answer(reader) : become_ready(reader);
	if (r < 0)
		fail(reader, r);
}

static void on_writable(evutil_socket_t fd, short what, void *context)
{
	struct reader *reader = context;
	TURN(reader->readers->options.turn);
	const struct reader_question *question = TAILQ_FIRST(&reader->questions);
	ssize_t n;

	(void)what;
	if (!question)
		return;
	n = send(fd, question->data + reader->sent, question->size - reader->sent,
		 MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		fail(reader, errno == ECONNRESET ? -EPIPE : -errno);
		return;
	}
	if (n > 0)
		reader->sent += (size_t)n;
	if (reader->sent < question->size && event_add(reader->writable, NULL) < 0)
		fail(reader, -ENOMEM);
}

static void on_late(evutil_socket_t fd, short what, void *context)
{
	struct reader *reader = context;
	TURN(reader->readers->options.turn);

	(void)fd;
	(void)what;
	fail(reader, -ETIMEDOUT);
}

int readers_ask(struct readers *readers, uid_t uid, enum reader_kind kind,
		const struct iovec *parts, int count, reader_answered *done, void *context,
		struct reader_question **ret_question)
{
	struct reader_input input = {.kind = kind};
	struct reader_question *question;
	struct reader *reader;
	size_t size = 0;
	char *at;
	int r;

	for (int i = 0; i < count; i++)
		size += parts[i].iov_len;
	if (size > READER_INPUT_MAX)
		return -E2BIG;
	r = get(readers, uid, &reader);
	if (r < 0)
		return r;
	question = malloc(sizeof(*question) + sizeof(input) + size);
	if (!question)
		return -ENOMEM;
	input.size = (uint32_t)size;
	*question = (struct reader_question){
		.done = done,
		.context = context,
		.size = sizeof(input) + size,
	};
	memcpy(question->data, &input, sizeof(input));
	at = question->data + sizeof(input);
	for (int i = 0; i < count; i++) {
		memcpy(at, parts[i].iov_base, parts[i].iov_len);
		at += parts[i].iov_len;
	}
	append(reader, question);
	*ret_question = question;
	return 0;
}

void readers_cancel(struct reader_question *question)
{
	if (!question)
		return;
	/* What is being asked is answered before the next one is asked. */
	question->done = NULL;
	if (question->list && !question->since) {
		leave(question);
		free(question);
	}
}

/* --- requests ----------------------------------------------------------------------------- */

/* Its words may be anybody's: -EPROTO where no reader says that. */
static int take_reply(const struct reader_reply *reply, const char *data, json_t **ret_message,
		      struct failure *failure)
{
	int r;

	if (reply->result == 0) {
		r = message_decode(data, reply->size, ret_message);
		return r == -EBADMSG ? -EPROTO : r;
	}
	if (reply->result != -EBADMSG && reply->result != -EMSGSIZE && reply->result != -ENOMEM)
		return -EPROTO;
	return failure_set(failure, reply->result, "%.*s", (int)reply->size, data);
}

int readers_message(struct readers *readers, uid_t uid, const struct reader_answer *answer,
		    json_t **ret_message, struct failure *failure)
{
	int r = answer->result;

	if (r == -EAGAIN)
		return failure_set(failure, EAGAIN,
				   "the daemon cannot start what reads requests: %s",
				   strerror(answer->error));
	if (r == 0) {
		r = take_reply(&answer->reply, answer->data, ret_message, failure);
		if (r == -EPROTO)
			readers_distrust(readers, uid);
	}
	return r == -EPROTO ? failure_set(failure, EPROTO,
					  "what reads requests has failed over this one")
			    : r;
}
