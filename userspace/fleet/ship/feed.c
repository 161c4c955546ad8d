/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the log for the shipper: all lines in order, and urgent lines before them. */
#include "fleet/ship/feed.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "audit/read/lines.h"
#include "audit/read/reader.h"
#include "audit/storage/chain.h"

/* The identity record is among the first lines of a segment, at most this many. */
#define IDENTITY_LINES 4

/*
 * A line that is read but not yet in a batch. The text belongs to the reader and is valid until its
 * next call.
 */
struct held {
	const char *line; /* NULL: no line is held */
	size_t size;
	uint64_t sequence;
};

struct feed {
	const char *directory;
	struct audit_reader *reader;
	struct held held;
	bool held_damaged; /* the line breaks the chain, and feed_fill() has not reported it yet */
	struct failure damage;
	uint64_t nameless;
	/* for feed_fill_first(): */
	struct lines *ahead;
	struct held ahead_held;
	char host[IDENTITY_HOST_SIZE], log[UUID_TEXT_SIZE]; /* of the last line from `ahead` */
};

bool feed_identity(const char *directory, char ret_host[IDENTITY_HOST_SIZE],
		   char ret_log[UUID_TEXT_SIZE])
{
	_cleanup_(lines_closep) struct lines *lines = NULL;
	struct failure ignored = {};
	const char *line, *text;
	size_t size, text_size;

	/*
	 * The identity is the segment's first line, except after a report about a file that was
	 * moved away.
	 */
	if (lines_open_at(directory, INT64_MAX, &lines, &ignored) < 0)
		return false;
	for (unsigned int i = 0; i < IDENTITY_LINES; i++)
		if (lines_next(lines, &line, &size, &ignored) == 0 &&
		    identity_of_line(line, size, ret_log, &text, &text_size))
			return identity_host_of_text(text, text_size, ret_host);
	return false;
}

int feed_open(const char *directory, const struct audit_cursor *place, struct feed **ret_feed,
	      uint64_t *ret_missing, struct failure *failure)
{
	_cleanup_(feed_closep) struct feed *feed = calloc(1, sizeof(*feed));
	int r;

	if (!feed)
		return failure_set(failure, ENOMEM, "%m");
	feed->directory = directory;
	r = audit_reader_open_after(directory, place, &feed->reader, ret_missing, failure);
	if (r < 0)
		return r;
	*ret_feed = TAKE_PTR(feed);
	return 0;
}

void feed_close(struct feed *feed)
{
	if (feed->reader)
		audit_reader_close(feed->reader);
	if (feed->ahead)
		lines_close(feed->ahead);
	free(feed);
}

uint64_t feed_nameless(const struct feed *feed)
{
	return feed->nameless;
}

/* --- all lines in order ------------------------------------------------------------------- */

/* Holds the next line. Returns 0, -ENODATA at the current end of the log, or another -ERRNO. */
static int hold_next(struct feed *feed, struct failure *failure)
{
	struct held *held = &feed->held;
	struct failure why = {};
	int r;

	if (held->line)
		return 0;
	r = audit_reader_next_line(feed->reader, &held->line, &held->size, &why);
	if (r == -EBADMSG) {
		feed->held_damaged = true;
		feed->damage = why;
		r = 0;
	}
	if (r < 0)
		held->line = NULL;
	if (r < 0 && r != -ENODATA)
		return failure_set(failure, r, "%s", why.text);
	if (r == 0 && held->line && chain_sequence(held->line, held->size, &held->sequence) < 0)
		held->line = NULL;
	return r;
}

static bool is_of(const struct batch *batch, const char *host, const char *log)
{
	return batch->records == 0 ||
	       (strcmp(batch->host, host) == 0 && strcmp(batch->log, log) == 0);
}

static int take(struct batch *batch, struct held *held, const char *host, const char *log)
{
	int r;

	memcpy(batch->host, host, sizeof(batch->host));
	memcpy(batch->log, log, sizeof(batch->log));
	r = batch_add(batch, held->sequence, held->line, held->size);
	if (r == 0)
		held->line = NULL;
	return r;
}

static int say_damage(struct feed *feed, struct failure *failure)
{
	if (!feed->held_damaged)
		return 0;
	feed->held_damaged = false;
	return failure_set(failure, EBADMSG, "%s", feed->damage.text);
}

int feed_fill(struct feed *feed, struct batch *batch, uint64_t last, struct audit_cursor *ret_end,
	      struct failure *failure)
{
	struct held *held = &feed->held;

	for (;;) {
		struct audit_cursor place;
		const char *host;
		int r;

		if (last > 0 && batch->last == last)
			return 1;
		r = hold_next(feed, failure);
		if (r < 0)
			return r == -ENODATA ? 0 : r;
		audit_reader_position(feed->reader, &place);
		host = audit_reader_host(feed->reader);
		if (held->line && (!host[0] || !place.log[0])) {
			feed->nameless++;
			held->line = NULL;
		}
		if (held->line &&
		    (!is_of(batch, host, place.log) || batch_is_full(batch, held->size)))
			return 1;
		r = held->line ? take(batch, held, host, place.log) : 0;
		if (r < 0)
			return failure_set(failure, r, "%m");
		*ret_end = place;
		r = say_damage(feed, failure);
		if (r < 0)
			return r;
	}
}

/* --- urgent lines ---------------------------------------------------------------------------- */

static int hold_ahead(struct feed *feed, struct failure *failure)
{
	struct held *held = &feed->ahead_held;
	const char *text;
	size_t text_size;
	int r;

	if (held->line)
		return 0;
	do {
		r = lines_next(feed->ahead, &held->line, &held->size, failure);
		if (r == 0 && chain_sequence(held->line, held->size, &held->sequence) < 0)
			r = -EBADMSG;
		/* Skip damaged lines: feed_fill() reports them when it reads them in order. */
	} while (r == -EBADMSG);
	if (r < 0) {
		held->line = NULL;
		return r;
	}
	if (identity_of_line(held->line, held->size, feed->log, &text, &text_size) &&
	    !identity_host_of_text(text, text_size, feed->host))
		feed->host[0] = '\0';
	return 0;
}

int feed_fill_first(struct feed *feed, struct batch *batch, uint64_t after, uint64_t *ret_after,
		    struct failure *failure)
{
	struct held *held = &feed->ahead_held;
	int r;

	if (!feed->ahead) {
		r = lines_open_at(feed->directory, INT64_MAX, &feed->ahead, failure);
		if (r < 0)
			return r;
	}
	for (;;) {
		r = hold_ahead(feed, failure);
		if (r < 0)
			return r == -ENODATA ? 0 : r;
		if (held->sequence <= after || !feed->host[0] || !feed->log[0] ||
		    !batch_line_goes_first(held->line, held->size)) {
			if (held->sequence > *ret_after)
				*ret_after = held->sequence;
			held->line = NULL;
			continue;
		}
		if (!is_of(batch, feed->host, feed->log) || batch_is_full(batch, held->size))
			return 1;
		r = take(batch, held, feed->host, feed->log);
		if (r < 0)
			return failure_set(failure, r, "%m");
		*ret_after = held->sequence;
	}
}
