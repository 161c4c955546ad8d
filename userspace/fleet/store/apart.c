/* SPDX-License-Identifier: Apache-2.0 */
/* Quarantines deliveries that the store cannot accept, with the reason. */
#include "fleet/store/apart.h"

#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/storage/storage.h"
#include "base/clock.h"
#include "base/hex.h"
#include "base/io.h"
#include "base/sha256.h"

/* Hexadecimal digits of the digest in a file's name. */
#define NAME_DIGITS 32

static int open_folder(const char *directory, const char *host, struct failure *failure)
{
	char path[PATH_MAX];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/" APART_FOLDER, directory);
	if (mkdir(path, 0750) < 0 && errno != EEXIST)
		return failure_set(failure, errno, "cannot create %s: %m", path);
	(void)snprintf(path, sizeof(path), "%s/" APART_FOLDER "/%s", directory, host);
	if (mkdir(path, 0750) < 0 && errno != EEXIST)
		return failure_set(failure, errno, "cannot create %s: %m", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? failure_set(failure, errno, "cannot open %s: %m", path) : fd;
}

/*
 * Derives the file name from contents and reason, so that a repeated delivery gets the same name.
 */
static int name_of(const struct delivery *delivery, const char *reason, char name[NAME_DIGITS + 8])
{
	_cleanup_(sha256_freep) struct sha256 *hash = sha256_new();
	unsigned char digest[SHA256_SIZE];
	char text[SHA256_TEXT_SIZE];
	int r;

	if (!hash)
		return -ENOMEM;
	r = sha256_update(hash, delivery->log, strlen(delivery->log) + 1);
	if (r == 0)
		r = sha256_update(hash, reason, strlen(reason) + 1);
	if (r == 0)
		r = sha256_update(hash, delivery->data, delivery->size);
	if (r == 0)
		r = sha256_finish(hash, digest);
	if (r < 0)
		return r;
	hex_encode(digest, sizeof(digest), text);
	(void)snprintf(name, NAME_DIGITS + 8, "%.*s.jsonl", NAME_DIGITS, text);
	return 0;
}

static int write_file(int folder, const char *name, int flags, const char *data, size_t size)
{
	_cleanup_(closep) int fd = storage_create(folder, name, O_WRONLY | flags, 0640);
	int r;

	if (fd < 0)
		return fd;
	r = io_write_all(fd, data, size);
	return r < 0 ? r : storage_sync(fd);
}

static int write_reason(int folder, const struct delivery *delivery, const char *reason,
			const char *name)
{
	_cleanup_(freep) char *text = NULL;
	char time[CLOCK_TEXT_SIZE];
	struct buffer line = {};
	json_t *object;
	int r = -ENOMEM;

	clock_format(delivery->now, time);
	object = json_pack("{s:s, s:s, s:s, s:s, s:s, s:I}", "at", time, "log", delivery->log,
			   "lane", delivery->first_lane ? "first" : "bulk", "reason", reason,
			   "file", name, "bytes", (json_int_t)delivery->size);
	text = object ? json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	json_decref(object);
	if (text) {
		buffer_string(&line, text);
		buffer_literal(&line, "\n");
		r = line.failed ? -ENOMEM
				: write_file(folder, "reasons", O_APPEND, line.data, line.size);
	}
	buffer_free(&line);
	return r;
}

int apart_keep(const char *directory, struct rows *rows, const struct delivery *delivery,
	       const char *reason, struct failure *failure)
{
	const char *host = delivery->host[0] ? delivery->host : "unknown";
	_cleanup_(closep) int folder = open_folder(directory, host, failure);
	char name[NAME_DIGITS + 8];
	uint64_t bytes = 0, files = 0;
	int r;

	if (folder < 0)
		return folder;
	r = name_of(delivery, reason, name);
	if (r < 0)
		return failure_set(failure, r, "cannot keep apart what came from %s: %m", host);
	if (faccessat(folder, name, F_OK, 0) < 0) {
		r = rows_apart_bytes(rows, host, &bytes, &files, failure);
		if (r == 0 &&
		    (bytes + delivery->size > APART_BYTES_MAX || files >= APART_FILES_MAX))
			return rows_excess(rows, host, reason, failure);
		/* Write the file last: its existence implies that the reason is stored. */
		if (r == 0)
			r = write_reason(folder, delivery, reason, name);
		if (r == 0)
			r = write_file(folder, name, O_TRUNC, delivery->data, delivery->size);
		if (r == 0)
			r = storage_sync_directory(folder);
		if (r < 0)
			return failure_set(failure, r,
					   "cannot write %s/" APART_FOLDER
					   "/%s: %m; nothing was acknowledged",
					   directory, host);
	}
	return rows_apart(rows, host, delivery->log, delivery->now, reason, name, delivery->size,
			  failure);
}
