/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/privsep/shipped.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "audit/read/cursor.h"
#include "base/cleanup.h"
#include "base/io.h"

DEFINE_CLEANUP(json_t *, json_decref, shipped_json_decrefp)

#define STATE_MAX 4096

/* The directory is an unprivileged user's, who may put anything there. */
static int read_text(const char *path, char **ret_text, size_t *ret_size)
{
	_cleanup_(closep) int fd =
		open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	return S_ISREG(status.st_mode) ? io_read_all(fd, STATE_MAX, ret_text, ret_size) : -EBADMSG;
}

void shipped_read(const char *path, struct audit_log_shipped *ret_shipped)
{
	_cleanup_(shipped_json_decrefp) json_t *object = NULL;
	_cleanup_(freep) char *text = NULL;
	struct audit_cursor cursor;
	size_t size;
	int r = read_text(path, &text, &size);

	*ret_shipped = (struct audit_log_shipped){.known = r != -ENOENT && r != -ENOTDIR};
	if (r < 0)
		return;
	object = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	if (!object || audit_cursor_from_json(object, &cursor) < 0)
		return;
	snprintf(ret_shipped->log, sizeof(ret_shipped->log), "%s", cursor.log);
	ret_shipped->sequence = cursor.sequence;
}
