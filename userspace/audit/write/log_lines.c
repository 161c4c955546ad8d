/* SPDX-License-Identifier: Apache-2.0 */
/* Records, and what a log says of itself, as lines of its chain. */
#include <string.h>

#include "audit/storage/chain.h"
#include "audit/write/log_parts.h"
#include "audit/record/names.h"
#include "base/hex.h"

/* Room for {"seq":N, */
#define LINE_HEAD_MAX 48u

static int dump_piece(const char *data, size_t size, void *to)
{
	buffer_add(to, data, size);
	return ((struct buffer *)to)->failed ? -1 : 0;
}

int log_line_compose(struct audit_log *log, struct buffer *to, const char *members, size_t size)
{
	unsigned char digest[SHA256_SIZE];
	size_t before = to->size;
	int r;

	if (size + LINE_HEAD_MAX + CHAIN_TAIL_SIZE > CHAIN_LINE_MAX)
		return -EMSGSIZE;
	to->failed = false;
	if (!buffer_reserve(to, size + LINE_HEAD_MAX + CHAIN_TAIL_SIZE))
		return -ENOMEM;
	buffer_literal(to, "{\"seq\":");
	buffer_number(to, log->segment.sequence + 1);
	buffer_literal(to, ",");
	buffer_add(to, members, size);
	r = chain_digest(log->hash, log->segment.chain, to->data + before, to->size - before,
			 digest);
	if (r < 0) {
		to->size = before;
		return r;
	}
	chain_write_tail(digest, to->data + to->size);
	to->size += CHAIN_TAIL_SIZE;
	log->segment.sequence++;
	memcpy(log->segment.chain, digest, sizeof(digest));
	return 0;
}

/* ASCII only, so that a log can be shown on a terminal without harm. */
int log_line_record(struct audit_log *log, struct buffer *to, json_t *record)
{
	log->scratch.size = 0;
	log->scratch.failed = false;
	if (json_dump_callback(record, dump_piece, &log->scratch,
			       JSON_COMPACT | JSON_ENSURE_ASCII) < 0)
		return -ENOMEM;
	if (log->scratch.size <= 2)
		return -EINVAL;
	return log_line_compose(log, to, log->scratch.data + 1, log->scratch.size - 2);
}

static json_t *gap_record(const struct audit_log *log, json_t *gap)
{
	return json_pack("{s:s, s:{s:s, s:s, s:s}, s:{s:i, s:o}}", "@timestamp", log->last_time,
			 "event", "kind", "event", "action", "gap", "outcome", "unknown", "cordon",
			 "schema", 1, "gap", gap);
}

int log_line_loss(struct audit_log *log)
{
	_cleanup_(log_json_decrefp) json_t *record = NULL;
	int r;

	record = gap_record(log, json_pack("{s:s, s:I, s:s, s:s, s:s}", "of", "records", "missing",
					   (json_int_t)log->lost.records, "error",
					   name_of_error(-log->lost.error), "from", log->lost.from,
					   "to", log->lost.to));
	if (!record)
		return -ENOMEM;
	r = log_line_record(log, &log->pending, record);
	if (r < 0)
		return r;
	memset(&log->lost, 0, sizeof(log->lost));
	return 0;
}

int log_line_takeover(struct audit_log *log, struct buffer *to)
{
	_cleanup_(log_json_decrefp) json_t *record = NULL;
	char text[SHA256_TEXT_SIZE];

	hex_encode(log->persisted.chain, SHA256_SIZE, text);
	record = gap_record(log, json_pack("{s:s, s:n, s:{s:I, s:s}}", "of", "log", "missing",
					   "previous", "seq", (json_int_t)log->persisted.sequence,
					   "chain", text));
	return record ? log_line_record(log, to, record) : -ENOMEM;
}

int log_lines_recompose(struct audit_log *log, struct buffer *to, size_t start)
{
	while (start < log->pending.size) {
		const char *line = log->pending.data + start;
		const char *newline = memchr(line, '\n', log->pending.size - start);
		const char *members = memchr(line, ',', (size_t)(newline - line));
		const char *end = newline + 1 - CHAIN_TAIL_SIZE;
		struct seal_claim claim;
		int r = 0;

		/* A seal is made for its place. It is made anew, with the same key. */
		if (seal_claim_parse(line, (size_t)(newline - line), &claim) == 0)
			log->sealing.unfinished = false;
		else
			r = log_line_compose(log, to, members + 1, (size_t)(end - members - 1));
		if (r < 0)
			return r;
		start = (size_t)(newline + 1 - log->pending.data);
	}
	return 0;
}

int log_line_crash(struct audit_log *log)
{
	_cleanup_(log_json_decrefp) json_t *record = NULL;

	clock_format(log->options.clock(CLOCK_REALTIME), log->last_time);
	record = gap_record(log, json_pack("{s:s, s:n, s:I}", "of", "crash", "missing",
					   "torn_bytes", (json_int_t)log->segment.repaired));
	return record ? log_line_record(log, &log->pending, record) : -ENOMEM;
}
