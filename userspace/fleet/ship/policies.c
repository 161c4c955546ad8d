/* SPDX-License-Identifier: Apache-2.0 */
/* Finds policies that the daemon has stored beside the log and that are not shipped yet. */
#include "fleet/ship/policies.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/storage/policy_store.h"
#include "base/cleanup.h"
#include "base/io.h"

#define FILE_SIZE_MAX (64u << 20)

static bool is_digest(const char *name)
{
	return strlen(name) == SHA256_TEXT_SIZE - 1 &&
	       strspn(name, "0123456789abcdef") == SHA256_TEXT_SIZE - 1;
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

static bool is_shipped(const struct policies_shipped *shipped, const char *digest)
{
	return shipped->count > 0 && bsearch(digest, shipped->digests, shipped->count,
					     sizeof(*shipped->digests), compare) != NULL;
}

int policies_next(const char *directory, const struct policies_shipped *shipped,
		  char ret_digest[SHA256_TEXT_SIZE], char **ret_data, size_t *ret_size)
{
	_cleanup_(closedirp) DIR *folder = NULL;
	char path[PATH_MAX];
	struct dirent *entry;
	int r;

	if (snprintf(path, sizeof(path), "%s/" POLICY_STORE_NAME, directory) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	r = io_open_directory(AT_FDCWD, path, &folder);
	if (r < 0)
		return r;
	while ((entry = readdir(folder)) != NULL) {
		if (!is_digest(entry->d_name) || is_shipped(shipped, entry->d_name))
			continue;
		r = io_read_file(dirfd(folder), entry->d_name, FILE_SIZE_MAX, ret_data, ret_size);
		if (r == 0)
			memcpy(ret_digest, entry->d_name, SHA256_TEXT_SIZE);
		return r;
	}
	return -ENOENT;
}

int policies_add(struct policies_shipped *shipped, const char *digest)
{
	char(*digests)[SHA256_TEXT_SIZE] =
		reallocarray(shipped->digests, shipped->count + 1, sizeof(*digests));

	if (!digests)
		return -ENOMEM;
	shipped->digests = digests;
	snprintf(digests[shipped->count++], sizeof(*digests), "%s", digest);
	qsort(digests, shipped->count, sizeof(*digests), compare);
	return 0;
}

void policies_release(struct policies_shipped *shipped)
{
	free(shipped->digests);
	*shipped = (struct policies_shipped){};
}
