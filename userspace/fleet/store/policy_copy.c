/* SPDX-License-Identifier: Apache-2.0 */
/* Stores the policies of a host's log beside the copy of that log. */
#include "fleet/store/policy_copy.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/storage/policy_apart.h"
#include "audit/storage/policy_store.h"
#include "audit/storage/storage.h"
#include "base/io.h"

/* Folder for received files that are not verified yet. */
#define WAITING_FOLDER "incoming"

bool policy_copy_is_digest(const char *digest)
{
	return strlen(digest) == SHA256_TEXT_SIZE - 1 &&
	       strspn(digest, "0123456789abcdef") == SHA256_TEXT_SIZE - 1;
}

/* Opens a folder, and creates it if it does not exist. */
static int open_folder(int parent, const char *name)
{
	int fd;

	if (mkdirat(parent, name, 0750) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int write_file(int folder, const char *name, const char *data, size_t size)
{
	_cleanup_(closep) int fd = storage_create(folder, name, O_WRONLY | O_TRUNC, 0640);
	int r = fd < 0 ? fd : io_write_all(fd, data, size);

	return r < 0 ? r : storage_sync(fd);
}

static int move(int from, const char *name, const char *log)
{
	_cleanup_(closep) int parent = open(log, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(closep) int to = parent < 0 ? -errno : open_folder(parent, POLICY_STORE_NAME);

	if (to < 0)
		return to;
	if (renameat(from, name, to, name) < 0)
		return -errno;
	return storage_sync_directory(to);
}

/* Verifies that the file in `waiting` has the digest of its name. */
static int check(const char *waiting, const char *digest, struct failure *failure)
{
	struct compiled_policy *policy = NULL;
	struct failure why = {};
	int r = policy_store_get_apart(waiting, digest, &policy, &why);

	compiled_policy_free(policy);
	if (r == -ENOMEM || r == -EAGAIN)
		return failure_set(failure, r, "%s", why.text);
	return r < 0 ? failure_set(failure, EBADMSG, "it is not the policy %.16s...", digest) : 0;
}

static int keep(const char *waiting, const char *log, const char *digest, const char *data,
		size_t size, struct failure *failure)
{
	_cleanup_(closep) int parent = open_folder(AT_FDCWD, waiting);
	_cleanup_(closep) int folder = parent < 0 ? parent : open_folder(parent, POLICY_STORE_NAME);
	int r = folder < 0 ? folder : write_file(folder, digest, data, size);

	if (r < 0)
		return failure_set(failure, r, "cannot write a policy in %s: %m", waiting);
	r = check(waiting, digest, failure);
	if (r < 0) {
		(void)unlinkat(folder, digest, 0);
		return r;
	}
	r = move(folder, digest, log);
	return r < 0 ? failure_set(failure, r, "cannot keep a policy in %s: %m", log) : 0;
}

int policy_copy_keep(const char *store, const char *log, const char *digest, const char *data,
		     size_t size, struct failure *failure)
{
	char path[PATH_MAX], waiting[PATH_MAX];

	if (!policy_copy_is_digest(digest))
		return failure_set(failure, EBADMSG, "\"%.70s\" is no digest of a policy", digest);
	if (snprintf(path, sizeof(path), "%s/" POLICY_STORE_NAME "/%s", log, digest) >=
		    (int)sizeof(path) ||
	    snprintf(waiting, sizeof(waiting), "%s/" WAITING_FOLDER, store) >= (int)sizeof(waiting))
		return failure_set(failure, ENAMETOOLONG, "%s: %m", log);
	if (access(path, F_OK) == 0)
		return 1;
	return keep(waiting, log, digest, data, size, failure);
}
