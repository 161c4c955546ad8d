/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/readers.h"

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
#include "daemon/helper.h"
#include "daemon/lock.h"
#include "daemon/message_codec.h"
#include "daemon/protocol.h"
#include "daemon/reader_process.h"

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
	int root_fd;
	char *reply; /* room for one */
};

int readers_new(struct readers **ret_readers, struct failure *failure)
{
	struct readers *readers = calloc(1, sizeof(*readers));
	int r;

	if (!readers)
		return failure_set(failure, ENOMEM, "%m");
	TAILQ_INIT(&readers->list);
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
	return r > 0 ? -EPIPE : r;
}

static int start(struct readers *readers, uid_t uid, struct reader **ret_reader)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	struct reader_reply ready;
	int r;

	if (!reader)
		return -ENOMEM;
	reader->uid = uid;
	r = helper_start("--request-reader", readers->root_fd, PATIENCE_SECONDS, &reader->pid,
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

static int get(struct readers *readers, uid_t uid, struct reader **ret_reader)
{
	struct reader *reader;

	TAILQ_FOREACH(reader, &readers->list, link)
	if (reader->uid == uid)
		break;
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

static int ask(const struct readers *readers, const struct reader *reader, const char *data,
	       size_t size, struct reader_reply *ret_reply)
{
	uint32_t length = (uint32_t)size;
	int r = io_write_all(reader->fd, &length, sizeof(length));

	if (r >= 0)
		r = io_write_all(reader->fd, data, size);
	return r < 0 ? r : receive(readers, reader, ret_reply);
}

/* Its words may be anybody's. */
static int take_reply(const struct readers *readers, const struct reader_reply *reply,
		      json_t **ret_message, struct failure *failure)
{
	if (reply->result == 0)
		return message_decode(readers->reply, reply->size, ret_message);
	if (reply->result != -EBADMSG && reply->result != -EMSGSIZE && reply->result != -ENOMEM)
		return -EPROTO;
	return failure_set(failure, reply->result, "%.*s", (int)reply->size, readers->reply);
}

int readers_parse(struct readers *readers, uid_t uid, const char *data, size_t size,
		  json_t **ret_message, struct failure *failure)
{
	struct reader_reply reply;
	struct reader *reader;
	int r;

	if (size > PROTOCOL_MAX_PACKET)
		return failure_set(failure, EMSGSIZE, "a message may have %u bytes at most",
				   PROTOCOL_MAX_PACKET);
	r = get(readers, uid, &reader);
	if (r < 0)
		return failure_set(failure, EAGAIN,
				   "the daemon cannot start what reads requests: %s", strerror(-r));
	r = ask(readers, reader, data, size, &reply);
	if (r == 0)
		r = take_reply(readers, &reply, ret_message, failure);
	else
		r = -EPROTO;
	if (r == -EPROTO || (r == -EBADMSG && reply.result == 0)) {
		put_down(readers, reader);
		return failure_set(failure, EPROTO, "what reads requests has failed over this one");
	}
	return r;
}
