/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/privsep/readers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "daemon/privsep/helper.h"
#include "control/lock.h"
#include "control/message_codec.h"
#include "control/protocol.h"
#include "daemon/privsep/reader_process.h"

/* So many users at a time; another takes the place of who has been silent longest. */
#define READERS_MAX 16
/* A packet takes a millisecond; a machine may be crowded. */
#define PATIENCE_SECONDS 10

struct reader {
	TAILQ_ENTRY(reader) link;
	uid_t uid;
	pid_t pid;
	int fd;
};

struct readers {
	TAILQ_HEAD(reader_list, reader) list; /* least recently used first */
	size_t count;
	const char *option;
	int root_fd;
	char *reply; /* room for one */
};

int readers_new(const char *option, struct readers **ret_readers, struct failure *failure)
{
	struct readers *readers = calloc(1, sizeof(*readers));
	int r;

	if (!readers)
		return failure_set(failure, ENOMEM, "%m");
	TAILQ_INIT(&readers->list);
	readers->option = option;
	readers->root_fd = -1;
	readers->reply = malloc(MESSAGE_CODEC_MAX_SIZE);
	r = readers->reply ? lock_subdirectory("empty", &readers->root_fd, failure)
			   : failure_set(failure, ENOMEM, "%m");
	if (r < 0)
		readers_free(readers);
	else
		*ret_readers = readers;
	return r;
}

/* Its socket closed, it ends by itself; one that hangs does not. */
static void put_down(struct readers *readers, struct reader *reader)
{
	TAILQ_REMOVE(&readers->list, reader, link);
	readers->count--;
	closep(&reader->fd);
	(void)kill(reader->pid, SIGKILL);
	(void)waitpid(reader->pid, NULL, 0);
	free(reader);
}

void readers_free(struct readers *readers)
{
	struct reader *reader;

	if (!readers)
		return;
	while ((reader = TAILQ_FIRST(&readers->list)) != NULL)
		put_down(readers, reader);
	closep(&readers->root_fd);
	free(readers->reply);
	free(readers);
}

/* --- one of them -------------------------------------------------------------------------- */

static int receive(const struct readers *readers, const struct reader *reader,
		   struct reader_reply *ret_reply)
{
	int r = io_read_exactly(reader->fd, ret_reply, sizeof(*ret_reply));

	if (r == 0 && (ret_reply->size > MESSAGE_CODEC_MAX_SIZE || ret_reply->result > 0))
		r = -EBADMSG;
	if (r == 0)
		r = io_read_exactly(reader->fd, readers->reply, ret_reply->size);
	/* 1: it has ended. */
	return r > 0 ? -EPROTO : r;
}

static int start(struct readers *readers, uid_t uid, struct reader **ret_reader)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	struct reader_reply ready;
	int r;

	if (!reader)
		return -ENOMEM;
	reader->uid = uid;
	r = helper_start(readers->option, readers->root_fd, PATIENCE_SECONDS, &reader->pid,
			 &reader->fd);
	if (r < 0) {
		free(reader);
		return r;
	}
	TAILQ_INSERT_TAIL(&readers->list, reader, link);
	readers->count++;
	/* Not before it has confined itself. */
	r = receive(readers, reader, &ready);
	if (r == 0)
		r = ready.result;
	if (r < 0)
		put_down(readers, reader);
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

static int get(struct readers *readers, uid_t uid, struct reader **ret_reader)
{
	struct reader *reader = find(readers, uid);

	if (reader) {
		TAILQ_REMOVE(&readers->list, reader, link);
		TAILQ_INSERT_TAIL(&readers->list, reader, link);
		*ret_reader = reader;
		return 0;
	}
	if (readers->count == READERS_MAX)
		put_down(readers, TAILQ_FIRST(&readers->list));
	return start(readers, uid, ret_reader);
}

void readers_distrust(struct readers *readers, uid_t uid)
{
	struct reader *reader = find(readers, uid);

	if (reader)
		put_down(readers, reader);
}

static int give(const struct reader *reader, enum reader_kind kind, const struct iovec *parts,
		int count)
{
	struct reader_input input = {.kind = kind};
	int r;

	for (int i = 0; i < count; i++)
		input.size += (uint32_t)parts[i].iov_len;
	r = io_write_all(reader->fd, &input, sizeof(input));
	for (int i = 0; i < count && r >= 0; i++)
		r = io_write_all(reader->fd, parts[i].iov_base, parts[i].iov_len);
	return r;
}

/* -EPIPE: it had died before it got anything. */
static int ask_once(struct readers *readers, uid_t uid, enum reader_kind kind,
		    const struct iovec *parts, int count, struct reader_reply *ret_reply)
{
	struct reader *reader;
	int r = get(readers, uid, &reader);

	if (r < 0) {
		errno = -r;
		return -EAGAIN;
	}
	r = give(reader, kind, parts, count);
	if (r == 0 && receive(readers, reader, ret_reply) < 0)
		r = -EPROTO;
	if (r < 0)
		put_down(readers, reader);
	return r == 0 || r == -EPIPE ? r : -EPROTO;
}

int readers_ask(struct readers *readers, uid_t uid, enum reader_kind kind,
		const struct iovec *parts, int count, struct reader_reply *ret_reply,
		const char **ret_data)
{
	int r = ask_once(readers, uid, kind, parts, count, ret_reply);

	if (r == -EPIPE)
		r = ask_once(readers, uid, kind, parts, count, ret_reply);
	if (r == 0)
		*ret_data = readers->reply;
	return r == -EPIPE ? -EPROTO : r;
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

int readers_parse(struct readers *readers, uid_t uid, const char *data, size_t size,
		  json_t **ret_message, struct failure *failure)
{
	const struct iovec packet = {(void *)(uintptr_t)data, size};
	struct reader_reply reply;
	const char *said;
	int r;

	if (size > PROTOCOL_MAX_PACKET)
		return failure_set(failure, EMSGSIZE, "a message may have %u bytes at most",
				   PROTOCOL_MAX_PACKET);
	r = readers_ask(readers, uid, READER_REQUEST, &packet, 1, &reply, &said);
	if (r == -EAGAIN)
		return failure_set(failure, EAGAIN,
				   "the daemon cannot start what reads requests: %s",
				   strerror(errno));
	if (r == 0) {
		r = take_reply(&reply, said, ret_message, failure);
		if (r == -EPROTO)
			readers_distrust(readers, uid);
	}
	return r == -EPROTO ? failure_set(failure, EPROTO,
					  "what reads requests has failed over this one")
			    : r;
}
