/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sockets below the directory of the test, calls for it that can fail, a group that the host
 * need not have, and all of daemon/privsep/readers.h in this process.
 */
#ifndef CORDON_TESTS_DAEMON_FAKE_SOCKET_H
#define CORDON_TESTS_DAEMON_FAKE_SOCKET_H

#include <grp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "daemon/privsep/readers.h"
#include "tests/unit/daemon/fake/world.h"

/* --- the sockets' names are the test's, and calls of it can fail ---------------------------- */

#define FAKE_GROUP 4242

static bool have_group;

static inline const char *name_of(const char *path)
{
	if (strcmp(path, PROTOCOL_SOCKET) == 0)
		return world_path("socket");
	if (strcmp(path, PROTOCOL_WHO_SOCKET) == 0)
		return world_path("who");
	return strcmp(path, PROTOCOL_STATUS_SOCKET) == 0 ? world_path("status") : path;
}

static inline int failed(const char *call)
{
	int r = faults_next(call);

	errno = -r;
	return r < 0 ? -1 : 0;
}

int bind(int fd, const struct sockaddr *address, socklen_t size)
{
	struct sockaddr_un un = *(const struct sockaddr_un *)address;

	(void)size;
	if (failed(__func__))
		return -1;
	snprintf(un.sun_path, sizeof(un.sun_path), "%s",
		 name_of(((const struct sockaddr_un *)address)->sun_path));
	return (int)syscall(SYS_bind, fd, &un, sizeof(un));
}

int listen(int fd, int backlog)
{
	return failed(__func__) ? -1 : (int)syscall(SYS_listen, fd, backlog);
}

int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
	return failed(__func__) ? -1 : (int)syscall(SYS_accept4, fd, address, size, flags);
}

int unlink(const char *path)
{
	const char *name = name_of(path);

	if (name != path && failed(__func__))
		return -1;
	return (int)syscall(SYS_unlinkat, AT_FDCWD, name, 0);
}

int chmod(const char *path, mode_t mode)
{
	return failed(__func__) ? -1 : (int)syscall(SYS_fchmodat, AT_FDCWD, name_of(path), mode);
}

int lchown(const char *path, uid_t uid, gid_t gid)
{
	if (failed(__func__))
		return -1;
	return (int)syscall(SYS_fchownat, AT_FDCWD, name_of(path), uid, gid, AT_SYMLINK_NOFOLLOW);
}

struct group *getgrnam(const char *name)
{
	static struct group group = {.gr_gid = FAKE_GROUP};

	return have_group && strcmp(name, PEER_GROUP) == 0 ? &group : NULL;
}

/* --- what reads requests, in this process ------------------------------------------------- */

struct reader_question {
	reader_answered *done; /* NULL: nobody wants the answer */
	void *context;
	struct event *later;
	size_t size;
	char data[];
};

/* None is answered meanwhile. */
static struct {
	bool hang;
	struct reader_question *hanging;
} fake_reader;

int readers_new(const struct readers_options *options, struct readers **ret_readers,
		struct failure *failure)
{
	int r = faults_next(__func__);

	(void)options;
	if (r < 0)
		return failure_set(failure, r, "no reader: %m");
	*ret_readers = (struct readers *)&have_group;
	return 0;
}

void readers_free(struct readers *readers)
{
	(void)readers;
}

static inline void fake_answer(evutil_socket_t fd, short what, void *context)
{
	struct reader_question *question = context;
	struct reader_answer answer = {.result = faults_next("readers_parse"),
				       .reply.size = (uint32_t)question->size,
				       .data = question->data};

	(void)fd;
	(void)what;
	if (question->done && fake_reader.hang) {
		fake_reader.hanging = question;
		return;
	}
	if (question->done)
		question->done(question->context, &answer);
	event_free(question->later);
	free(question);
}

int readers_ask(struct readers *readers, uid_t uid, enum reader_kind kind,
		const struct iovec *parts, int count, reader_answered *done, void *context,
		struct reader_question **ret_question)
{
	struct reader_question *question;
	int r = faults_next(__func__);

	(void)readers;
	(void)uid;
	if (r < 0)
		return r;
	assert_int_equal(kind, READER_REQUEST);
	assert_int_equal(count, 1);
	question = malloc(sizeof(*question) + parts[0].iov_len);
	assert_non_null(question);
	question->done = done;
	question->context = context;
	question->size = parts[0].iov_len;
	memcpy(question->data, parts[0].iov_base, parts[0].iov_len);
	question->later = evtimer_new(world->base, fake_answer, question);
	event_active(question->later, EV_TIMEOUT, 0);
	*ret_question = question;
	return 0;
}

void readers_cancel(struct reader_question *question)
{
	if (!question)
		return;
	question->done = NULL;
	if (question == fake_reader.hanging)
		fake_reader.hanging = NULL;
	event_active(question->later, EV_TIMEOUT, 0);
}

void readers_distrust(struct readers *readers, uid_t uid)
{
	(void)readers;
	(void)uid;
}

int readers_message(struct readers *readers, uid_t uid, const struct reader_answer *answer,
		    json_t **ret_message, struct failure *failure)
{
	(void)readers;
	(void)uid;
	return answer->result < 0
		       ? failure_set(failure, answer->result, "its reader died: %m")
		       : protocol_parse(answer->data, answer->reply.size, ret_message, failure);
}

#endif
