/* SPDX-License-Identifier: Apache-2.0 */
/* What a log says of itself and its host at the head of each segment. */
#include <limits.h>
#include <string.h>

#include "audit/record/identity.h"
#include "audit/storage/segment_input.h"
#include "audit/storage/segments.h"
#include "audit/write/log_parts.h"

/* The head of the newest closed segment: the one at hand has no records yet. */
static ssize_t read_closed_head(const struct audit_log *log, char *head, size_t size)
{
	_cleanup_(segment_input_closep) struct segment_input *input = NULL;
	char name[SEGMENTS_NAME_SIZE], path[PATH_MAX];
	struct segments_entry last = {};
	struct segments segments;
	size_t done = 0;
	ssize_t n;
	int r = segments_list(log->directory, &segments);

	if (r < 0)
		return r;
	if (segments.count > 0)
		last = segments.entries[segments.count - 1];
	segments_free(&segments);
	if (last.first == 0)
		return 0;
	segments_name(last.first, last.compressed, name);
	if (snprintf(path, sizeof(path), "%s/%s", log->directory, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	r = segment_input_open(path, last.compressed, &input);
	if (r < 0)
		return r;
	do {
		n = segment_input_read(input, head + done, size - done);
		if (n < 0)
			return n;
		done += (size_t)n;
	} while (n > 0 && done < size);
	return (ssize_t)done;
}

/* The first line of the log's last segment that has one; *ret_size 0: nothing can be read of it. */
static void read_head(const struct audit_log *log, char *head, size_t size, size_t *ret_size)
{
	ssize_t n = log->segment.first > 0 ? pread(log->segment.fd, head, size, 0)
					   : read_closed_head(log, head, size);
	const char *newline = n > 0 ? memchr(head, '\n', (size_t)n) : NULL;

	*ret_size = newline ? (size_t)(newline - head) : 0;
}

static int give_id(struct audit_log *log)
{
	unsigned char id[16];
	int r = uuid_generate_v7(id);

	if (r == 0)
		uuid_format(id, log->id);
	return r;
}

int log_identity_find(struct audit_log *log, bool *ret_changed)
{
	const char *identity = log->options.identity, *text;
	char head[IDENTITY_LINE_MAX + 256];
	size_t size, text_size;

	*ret_changed = false;
	if (!identity)
		return 0;
	read_head(log, head, sizeof(head), &size);
	*ret_changed = true;
	if (!identity_of_line(head, size, log->id, &text, &text_size))
		return give_id(log);
	/* An empty segment needs its head in any case. */
	*ret_changed = log->segment.first == 0 || text_size != strlen(identity) ||
		       memcmp(text, identity, text_size) != 0;
	return 0;
}

int log_identity_add(struct audit_log *log, struct buffer *to)
{
	char record[IDENTITY_LINE_MAX], time[CLOCK_TEXT_SIZE];
	int r;

	if (!log->identity_due || !log->id[0])
		return 0;
	clock_format(log->options.clock(CLOCK_REALTIME), time);
	identity_record(log->options.identity, log->id, time, record);
	r = log_line_compose(log, to, record + 1, strlen(record) - 2);
	if (r == 0)
		log->identity_due = false;
	return r;
}
