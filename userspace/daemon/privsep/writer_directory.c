/* SPDX-License-Identifier: Apache-2.0 */
/* Whose a log is: the user that its writer is, and the directory that is given to it. */
#include "daemon/privsep/writer_directory.h"

#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/storage/compress.h"
#include "audit/storage/policy_store.h"
#include "audit/seal/seal.h"
#include "audit/storage/segment.h"
#include "audit/storage/segments.h"
#include "base/cleanup.h"
#include "base/io.h"

static bool parse_number(const char *text, uid_t *ret)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || text[0] < '0' || text[0] > '9' || value >= UINT32_MAX)
		return false;
	*ret = (uid_t)value;
	return true;
}

int writer_user_of(const char *name, bool found, uid_t *ret_uid, gid_t *ret_gid,
		   struct failure *failure)
{
	uid_t uid = found ? *ret_uid : WRITER_UID;
	gid_t gid = found ? *ret_gid : WRITER_UID;

	if (!found && name && !parse_number(name, &uid))
		return failure_set(failure, ENOENT, "there is no user %s", name);
	if (!found && name)
		gid = (gid_t)uid;
	if (uid == 0)
		return failure_set(failure, EINVAL,
				   "the log's writer cannot be root: name another user");
	*ret_uid = uid;
	*ret_gid = gid;
	return 0;
}

int writer_user_find(const char *name, uid_t *ret_uid, gid_t *ret_gid, struct failure *failure)
{
	const struct passwd *user;

	errno = 0;
	user = getpwnam(name ? name : WRITER_USER);
	if (!user && name && errno && errno != ENOENT && errno != ESRCH &&
	    !parse_number(name, ret_uid))
		return failure_set(failure, errno, "there is no user %s", name);
	if (user) {
		*ret_uid = user->pw_uid;
		*ret_gid = user->pw_gid;
	}
	return writer_user_of(name, user, ret_uid, ret_gid, failure);
}

static bool is_of_log(const char *name)
{
	static const char *const names[] = {SEGMENT_NAME, SEGMENT_NEXT, SEGMENT_LOCK, SEAL_FILE,
					    SEAL_NEXT,	  SEAL_DRAFT,	COMPRESS_NAME};
	bool compressed;
	uint64_t first;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return segments_parse_name(name, &first, &compressed);
}

/* A hard link would be a file of somebody else's. */
static int give_file(int directory_fd, const char *name, uid_t uid, gid_t gid)
{
	struct stat status;

	if (!is_of_log(name))
		return 0;
	if (fstatat(directory_fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISREG(status.st_mode) || status.st_nlink != 1)
		return 0;
	return fchownat(directory_fd, name, uid, gid, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

/* Calls for each of the directory's files, until one is not 0. */
static int each_file(int directory_fd,
		     int (*call)(int directory_fd, const char *name, uid_t, gid_t), uid_t uid,
		     gid_t gid)
{
	_cleanup_(closedirp) DIR *dir = NULL;
	const struct dirent *found;
	int r = io_open_directory(directory_fd, ".", &dir);

	while (r == 0 && (found = readdir(dir)))
		if (strcmp(found->d_name, ".") != 0 && strcmp(found->d_name, "..") != 0)
			r = call(directory_fd, found->d_name, uid, gid);
	return r;
}

static int refuse_other(int directory_fd, const char *name, uid_t uid, gid_t gid)
{
	/* Root's own, or the file system's. */
	static const char *const beside[] = {POLICY_STORE_NAME, "index.sqlite", "agent.log",
					     "lost+found"};

	for (size_t i = 0; i < ARRAY_SIZE(beside); i++)
		if (strcmp(name, beside[i]) == 0)
			return 0;
	(void)directory_fd;
	(void)uid;
	(void)gid;
	return is_of_log(name) ? 0 : -ENOTEMPTY;
}

/*
 * Root's, so that nobody else changes it meanwhile. The directory last: until then this is done
 * again.
 */
static int give(int fd, const struct stat *status, uid_t uid, gid_t gid, const char *directory,
		struct failure *failure)
{
	bool is_log = faccessat(fd, SEGMENT_LOCK, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	int r = is_log ? 0 : each_file(fd, refuse_other, uid, gid);

	if (r == -ENOTEMPTY)
		return failure_set(
			failure, r,
			"%s holds something else than a log: name an empty directory, or "
			"one that does not exist",
			directory);
	if (r == 0)
		r = each_file(fd, give_file, uid, gid);
	if (r == 0 && fchown(fd, uid, status->st_gid == 0 ? gid : status->st_gid) < 0)
		r = -errno;
	return r < 0 ? failure_set(failure, r, "cannot give %s to user %u: %m", directory, uid) : 0;
}

int writer_directory_open(const char *directory, uid_t uid, gid_t gid, struct failure *failure)
{
	_cleanup_(closep) int fd = segment_open_directory(directory, failure);
	struct stat status;
	int r;

	if (fd < 0)
		return TAKE_FD(fd);
	if (fstat(fd, &status) < 0)
		return failure_set(failure, errno, "cannot examine %s: %m", directory);
	if (status.st_uid == uid || geteuid() != 0)
		return TAKE_FD(fd);
	/* Where root has chosen another user since, the one by default had it. */
	if (status.st_uid != 0 && status.st_uid != WRITER_UID)
		return failure_set(
			failure, EPERM,
			"%s belongs to user %u, and the log's writer is user %u: give it "
			"to that one, or name another directory",
			directory, status.st_uid, uid);
	r = give(fd, &status, uid, gid, directory, failure);
	return r < 0 ? r : TAKE_FD(fd);
}
