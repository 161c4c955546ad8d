/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sockets below the directory of the test, calls for it that can fail, a group that the host need not have, and all
 * of daemon/privsep/readers.h in this process.
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

int readers_new(const char *option, struct readers **ret_readers, struct failure *failure)
{
	int r = faults_next(__func__);

	(void)option;
	if (r < 0)
		return failure_set(failure, r, "no reader: %m");
	*ret_readers = (struct readers *)&have_group;
	return 0;
}

void readers_free(struct readers *readers)
{
	(void)readers;
}

int readers_ask(struct readers *readers, uid_t uid, enum reader_kind kind,
		const struct iovec *parts, int count, struct reader_reply *ret_reply,
		const char **ret_data)
{
	(void)readers;
	(void)uid;
	(void)kind;
	(void)parts;
	(void)count;
	(void)ret_reply;
	(void)ret_data;
	return -EAGAIN;
}

void readers_distrust(struct readers *readers, uid_t uid)
{
	(void)readers;
	(void)uid;
}

int readers_parse(struct readers *readers, uid_t uid, const char *data, size_t size,
		  json_t **ret_message, struct failure *failure)
{
	int r = faults_next(__func__);

	(void)readers;
	(void)uid;
	return r < 0 ? failure_set(failure, r, "its reader died: %m")
		     : protocol_parse(data, size, ret_message, failure);
}

#endif
