/* SPDX-License-Identifier: Apache-2.0 */
/* Cursors as JSON, and in files. */
#include "audit/read/cursor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hex.h"
#include "base/io.h"

DEFINE_CLEANUP(json_t *, json_decref, cursor_json_decrefp)

#define FILE_MAX (1u << 16)

json_t *audit_cursor_to_json(const struct audit_cursor *cursor)
{
	char chain[SHA256_TEXT_SIZE];

	hex_encode(cursor->chain, SHA256_SIZE, chain);
	return json_pack("{s:s, s:I, s:s?}", "log", cursor->log, "seq",
			 (json_int_t)cursor->sequence, "chain", cursor->known ? chain : NULL);
}

int audit_cursor_from_json(const json_t *object, struct audit_cursor *ret_cursor)
{
	const char *log = json_string_value(json_object_get(object, "log"));
	const json_t *chain = json_object_get(object, "chain");
	const json_t *sequence = json_object_get(object, "seq");
	struct audit_cursor cursor = {.known = json_is_string(chain)};
	unsigned char id[16];

	if (!log || !json_is_integer(sequence) || json_integer_value(sequence) < 0 ||
	    (log[0] && uuid_parse(log, id) < 0))
		return -EBADMSG;
	if (cursor.known && hex_decode(json_string_value(chain), cursor.chain, SHA256_SIZE) < 0)
		return -EBADMSG;
	snprintf(cursor.log, sizeof(cursor.log), "%s", log);
	cursor.sequence = (uint64_t)json_integer_value(sequence);
	*ret_cursor = cursor;
	return 0;
}

int audit_cursor_load(const char *path, json_t **ret_object)
{
	_cleanup_(cursor_json_decrefp) json_t *object = NULL;
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int r = io_read_file(AT_FDCWD, path, FILE_MAX, &text, &size);

	if (r < 0)
		return r == -EFBIG ? -EBADMSG : r;
	object = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(object))
		return -EBADMSG;
	*ret_object = TAKE_PTR(object);
	return 0;
}

int audit_cursor_save(const char *path, const json_t *object, bool lasting)
{
	_cleanup_(freep) char *text = json_dumps(object, JSON_COMPACT);
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char directory[PATH_MAX] = ".", fresh[NAME_MAX + 1];
	_cleanup_(closep) int fd = -1;

	if (!text)
		return -ENOMEM;
	if (slash && snprintf(directory, sizeof(directory), "%.*s", (int)(slash + 1 - path),
			      path) >= (int)sizeof(directory))
		return -ENAMETOOLONG;
	if (snprintf(fresh, sizeof(fresh), "%s.new", name) >= (int)sizeof(fresh))
		return -ENAMETOOLONG;
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return io_replace_file(fd, name, fresh, text, lasting);
}
