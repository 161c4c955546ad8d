/* SPDX-License-Identifier: Apache-2.0 */
/* What a client that is not root may have done for it. */
#include "daemon/peer/member.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/proc.h"

#define PROC_FILE_MAX	   65536
#define MOUNTINFO_FILE_MAX (4u << 20)

/* --- the request -------------------------------------------------------------------------- */

/* With a '/' or ".yaml" it would be a file, which the daemon would open as root. */
bool member_is_plain_name(const char *policy)
{
	size_t length = strlen(policy);

	return !strchr(policy, '/') && policy[0] != '.' &&
	       !(length > 5 && strcmp(policy + length - 5, ".yaml") == 0);
}

int member_check_request(const struct peer *peer, const struct prepare_request *request,
			 struct failure *failure)
{
	if (!member_is_plain_name(request->policy))
		return failure_set(failure, EPERM,
				   "only root may name a policy by its file: have it installed in "
				   "/etc/cordon/policies, and say its name");
	if (request->log)
		return failure_set(failure, EPERM, "only root may choose another log");
	if (request->execution.observe)
		return failure_set(failure, EPERM,
				   "only root may have a policy observed instead of enforced");
	if (request->execution.uid != peer->ucred.uid)
		return failure_set(failure, EPERM, "only root may run something as another user");
	if (!peer_in_group(peer, request->execution.gid))
		return failure_set(failure, EPERM, "you are not in group %u",
				   request->execution.gid);
	return 0;
}

int member_check_policy(const struct peer *peer, const struct compiled_policy *policy,
			struct failure *failure)
{
	if (peer_is_one_of(peer, policy->run_by))
		return 0;
	return failure_set(failure, EPERM,
			   "policy %s does not let user %u run anything: its run_by does not name "
			   "that user, or one of the user's groups",
			   policy->name, peer->ucred.uid);
}

int member_hide_diagnostics(const char *policy, int error, char **message, struct failure *failure)
{
	if (!*message)
		return error;
	free(*message);
	*message = NULL;
	return failure_replace(
		failure, error,
		"policy %s cannot be used (%m); `cordon policy check` tells root why", policy);
}

/* --- directories -------------------------------------------------------------------------- */

int member_mount_type(const char *mountinfo, int id, char ret_type[64])
{
	for (const char *line = mountinfo; line && *line; line = strchr(line, '\n')) {
		const char *end, *separator;
		int found;

		line += *line == '\n';
		if (sscanf(line, "%d ", &found) != 1 || found != id)
			continue;
		end = strchrnul(line, '\n');
		separator = strstr(line, " - ");
		if (!separator || separator > end || sscanf(separator, " - %63s", ret_type) != 1)
			return -EBADMSG;
		return 0;
	}
	return -ENOENT;
}

/* Asks neither the file system nor anything behind it, which may be the client's own program. */
static int mount_of(int fd, int *ret_id)
{
	_cleanup_(freep) char *text = NULL;
	const char *line;
	char path[64];
	size_t size;
	int r;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	r = io_read_file(AT_FDCWD, path, PROC_FILE_MAX, &text, &size);
	if (r < 0)
		return r;
	line = strstr(text, "mnt_id:");
	return line && sscanf(line, "mnt_id: %d", ret_id) == 1 ? 0 : -EBADMSG;
}

static int check_mount(int fd, const char *mountinfo, struct failure *failure)
{
	char type[64];
	int id, r;

	r = mount_of(fd, &id);
	if (r == 0)
		r = member_mount_type(mountinfo, id, type);
	if (r < 0)
		return failure_set(failure, EPERM,
				   "a directory that came along is on no file system that this "
				   "host has mounted");
	if (strncmp(type, "fuse", 4) == 0)
		return failure_set(failure, EPERM,
				   "a directory that came along is on a file system of type %s, "
				   "which only root may have cordon use",
				   type);
	return 0;
}

/* As it is known: what has it need not answer. */
static bool is_home(const struct name *account, int fd)
{
	struct statx given;

	return account->inode != 0 &&
	       statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &given) == 0 &&
	       given.stx_ino == account->inode &&
	       makedev(given.stx_dev_major, given.stx_dev_minor) == account->device;
}

static int check_home(const struct peer *peer, int fd, struct failure *failure)
{
	const struct name *account;
	char question[NAMES_ACCOUNT_SIZE];

	names_account(peer->ucred.uid, question);
	account = names_find(peer->names, question);
	if (account && is_home(account, fd))
		return 0;
	return failure_set(failure, EPERM,
			   "the home directory that came along is not that of user %u",
			   peer->ucred.uid);
}

int member_check_directories(const struct peer *peer, const struct prepare_request *request,
			     const int *fds, size_t count, struct failure *failure)
{
	_cleanup_(freep) char *mountinfo = NULL;
	size_t size;
	int r;

	r = io_read_file(AT_FDCWD, "/proc/self/mountinfo", MOUNTINFO_FILE_MAX, &mountinfo, &size);
	if (r < 0)
		return failure_set(failure, r, "cannot read /proc/self/mountinfo: %m");
	for (size_t i = 0; i < count; i++) {
		r = check_mount(fds[i], mountinfo, failure);
		if (r < 0)
			return r;
	}
	return request->home ? check_home(peer, fds[1], failure) : 0;
}

/* --- the child ---------------------------------------------------------------------------- */

static bool has_only_uid(const char *status, uid_t uid)
{
	const char *line = strstr(status, "\nUid:");
	unsigned int real, effective, saved, fs;

	return line && sscanf(line, "\nUid: %u %u %u %u", &real, &effective, &saved, &fs) == 4 &&
	       real == uid && effective == uid && saved == uid && fs == uid;
}

static bool has_no_capability(const char *status)
{
	static const char *const sets[] = {"\nCapInh:", "\nCapPrm:", "\nCapEff:", "\nCapAmb:"};

	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		const char *line = strstr(status, sets[i]);
		uint64_t set;

		if (!line || sscanf(line + strlen(sets[i]), "%" SCNx64, &set) != 1 || set != 0)
			return false;
	}
	return true;
}

int member_check_status(const char *status, uid_t uid, struct failure *failure)
{
	if (!has_only_uid(status, uid))
		return failure_set(failure, EPERM, "the child does not run as user %u alone", uid);
	if (!has_no_capability(status))
		return failure_set(failure, EPERM, "the child has capabilities");
	if (!strstr(status, "\nNoNewPrivs:\t1\n"))
		return failure_set(failure, EPERM, "the child has not set no_new_privs");
	return 0;
}

int member_check_child(const struct peer *peer, pid_t pid, struct failure *failure)
{
	/*
	 * Twice: one reading takes identity and no_new_privs one after the other, and a set-id
	 * program may have come in between. What the second finds, no_new_privs of the first makes
	 * lasting.
	 */
	for (int i = 0; i < 2; i++) {
		_cleanup_(freep) char *text = NULL;
		size_t size;
		int r = proc_read(pid, "status", PROC_FILE_MAX, &text, &size);

		if (r < 0)
			return failure_set(failure, r, "process %d, to be labelled: %m", pid);
		r = member_check_status(text, peer->ucred.uid, failure);
		if (r < 0)
			return r;
	}
	return 0;
}
