/* SPDX-License-Identifier: Apache-2.0 */
/* Reads from the shipper's state file how far the log is shipped. */
#include "daemon/privsep/shipped.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "audit/read/cursor.h"
#include "base/cleanup.h"
#include "base/io.h"

DEFINE_CLEANUP(json_t *, json_decref, shipped_json_decrefp)

/* The directory is an unprivileged user's, who may put anything there. */
static int read_file(const char *path, struct shipped_text *text)
{
	_cleanup_(closep) int fd =
		open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat status;
	ssize_t size;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode) || status.st_size >= (off_t)sizeof(text->text))
		return -EBADMSG;
	size = read(fd, text->text, sizeof(text->text) - 1);
	if (size < 0)
		return -errno;
	text->text[size] = '\0';
	text->size = (size_t)size + 1;
	return 0;
}

void shipped_take(const char *path, struct shipped_text *ret_text)
{
	int r = read_file(path, ret_text);

	if (r == 0)
		return;
	ret_text->text[0] = '\0';
	ret_text->size = r == -ENOENT || r == -ENOTDIR ? 0 : 1;
}

void shipped_read(const char *text, size_t size, struct audit_log_shipped *ret_shipped)
{
	_cleanup_(shipped_json_decrefp) json_t *object = NULL;
	struct audit_cursor cursor;

	*ret_shipped = (struct audit_log_shipped){.known = size > 0};
	if (size == 0)
		return;
	object = json_loadb(text, size - 1, JSON_REJECT_DUPLICATES, NULL);
	if (!object || audit_cursor_from_json(object, &cursor) < 0)
		return;
	snprintf(ret_shipped->log, sizeof(ret_shipped->log), "%s", cursor.log);
	ret_shipped->sequence = cursor.sequence;
}
