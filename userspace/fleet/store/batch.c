/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the lines of a delivery, which may be malicious, and verifies their chain. */
#include "fleet/store/batch.h"

#include <inttypes.h>
#include <string.h>

#include "audit/storage/chain.h"
#include "base/clock.h"
#include "base/json_bounds.h"
#include "insight/text/view.h"

/*
 * Limits of a message, because its records are parsed together. 5,000 genuine records have a fifth
 * of these.
 */
#define CONTAINERS_MAX (1u << 18)
#define VALUES_MAX     (1u << 20)

static int check_origin(const struct delivery *delivery, const struct batch_record *r,
			struct failure *failure)
{
	const char *host = view_text(r->record, "host.id"),
		   *log = view_text(r->record, "cordon.identity.log");

	if (host && strcmp(host, delivery->host) != 0)
		return failure_set(failure, EBADMSG,
				   "record %" PRIu64 " names another host than the subject",
				   r->sequence);
	if (log && strcmp(log, delivery->log) != 0)
		return failure_set(failure, EBADMSG,
				   "record %" PRIu64 " names another log than the subject",
				   r->sequence);
	return 0;
}

static int check_time(const struct delivery *delivery, const struct batch_record *r,
		      uint64_t *newest, struct failure *failure)
{
	const char *time = view_text(r->record, "@timestamp");
	uint64_t nsec;

	if (!time || clock_parse(time, &nsec) < 0)
		return failure_set(failure, EBADMSG, "record %" PRIu64 " has no time", r->sequence);
	if (nsec > delivery->now && nsec - delivery->now > BATCH_AHEAD_MAX)
		return failure_set(failure, EBADMSG,
				   "record %" PRIu64
				   " is from more than a day ahead of the store's clock: %.40s",
				   r->sequence, time);
	if (nsec > *newest)
		*newest = nsec;
	return 0;
}

static int read_line(const struct delivery *delivery, const char *line, size_t size,
		     struct batch_record *ret, struct failure *failure)
{
	unsigned char chain[SHA256_SIZE];
	json_error_t error;
	size_t body;

	if (size > DELIVERY_LINE_MAX)
		return failure_set(failure, EBADMSG,
				   "a line of %zu bytes; no record has more than %u", size,
				   DELIVERY_LINE_MAX);
	*ret = (struct batch_record){.line = line, .size = size};
	if (chain_split(line, size - 1, &body, &ret->sequence, chain) < 0)
		return failure_set(failure, EBADMSG, "a line that is no record of a log");
	ret->record = json_loadb(line, size - 1, JSON_REJECT_DUPLICATES, &error);
	if (!json_is_object(ret->record))
		return failure_set(failure, EBADMSG, "record %" PRIu64 " is no JSON: %s",
				   ret->sequence, error.text);
	return check_origin(delivery, ret, failure);
}

static int check_order(const struct delivery *delivery, const struct batch *batch,
		       struct failure *failure)
{
	uint64_t before = batch->records[batch->count - 1].sequence,
		 sequence = batch->records[batch->count].sequence;

	if (sequence <= before || (!delivery->first_lane && sequence != before + 1))
		return failure_set(failure, EBADMSG,
				   "record %" PRIu64 " comes behind record %" PRIu64, sequence,
				   before);
	return 0;
}

static int read_all(const struct delivery *delivery, struct batch *batch, size_t capacity,
		    struct failure *failure)
{
	const char *at = delivery->data, *end = at + delivery->size;

	while (at < end && batch->count < capacity) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		struct batch_record *record = &batch->records[batch->count];
		int r;

		if (!newline)
			return failure_set(failure, EBADMSG, "the last line has no end");
		r = read_line(delivery, at, (size_t)(newline + 1 - at), record, failure);
		if (r == 0)
			r = check_time(delivery, record, &batch->newest, failure);
		if (r == 0 && batch->count > 0)
			r = check_order(delivery, batch, failure);
		/* Count the record in any case, so that batch_free() frees it. */
		batch->count++;
		if (r < 0)
			return r;
		at = newline + 1;
	}
	return 0;
}

static int check_range(const struct delivery *delivery, const struct batch *batch,
		       struct failure *failure)
{
	if (batch->count == 0)
		return failure_set(failure, EBADMSG, "it holds no record");
	if (delivery->first > 0 && (batch->records[0].sequence != delivery->first ||
				    batch->records[batch->count - 1].sequence != delivery->last))
		return failure_set(failure, EBADMSG,
				   "its records differ from the header Cordon-Seq");
	return 0;
}

int batch_read(const struct delivery *delivery, struct batch *ret_batch, struct failure *failure)
{
	size_t capacity = 1;
	struct batch batch = {};
	int r;

	if (!json_bounds_hold(delivery->data, delivery->size, CONTAINERS_MAX, VALUES_MAX))
		return failure_set(
			failure, EBADMSG,
			"it holds more objects and values than a message of records does");
	for (size_t i = 0; i < delivery->size; i++)
		capacity += delivery->data[i] == '\n' ? 1 : 0;
	batch.records = calloc(capacity, sizeof(*batch.records));
	if (!batch.records)
		return failure_set(failure, ENOMEM, "out of memory");
	r = read_all(delivery, &batch, capacity, failure);
	if (r == 0)
		r = check_range(delivery, &batch, failure);
	if (r < 0) {
		batch_free(&batch);
		return r;
	}
	*ret_batch = batch;
	return 0;
}

void batch_free(struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		json_decref(batch->records[i].record);
	free(batch->records);
	*batch = (struct batch){};
}

static int follow_one(struct sha256 *hash, const struct batch_record *record, uint64_t *sequence,
		      unsigned char chain[SHA256_SIZE], struct failure *failure)
{
	unsigned char claimed[SHA256_SIZE], computed[SHA256_SIZE];
	uint64_t number;
	size_t body;

	/* read_line() has checked the format before. */
	if (chain_split(record->line, record->size - 1, &body, &number, claimed) < 0 ||
	    number != *sequence + 1)
		return failure_set(failure, EBADMSG,
				   "record %" PRIu64 " does not come behind record %" PRIu64,
				   record->sequence, *sequence);
	if (chain_digest(hash, chain, record->line, body, computed) < 0)
		return failure_set(failure, EIO, "cannot compute SHA-256");
	if (memcmp(claimed, computed, sizeof(claimed)) != 0)
		return failure_set(failure, EBADMSG,
				   "the chain does not fit: record %" PRIu64
				   " does not follow from the stored part of this log",
				   number);
	*sequence = number;
	memcpy(chain, claimed, sizeof(claimed));
	return 0;
}

int batch_follow(const struct batch *batch, size_t from, uint64_t *sequence,
		 unsigned char chain[SHA256_SIZE], struct failure *failure)
{
	_cleanup_(sha256_freep) struct sha256 *hash = sha256_new();
	unsigned char last[SHA256_SIZE];
	uint64_t number = *sequence;

	if (!hash)
		return failure_set(failure, ENOMEM, "out of memory");
	memcpy(last, chain, sizeof(last));
	for (size_t i = from; i < batch->count; i++) {
		int r = follow_one(hash, &batch->records[i], &number, last, failure);

		if (r < 0)
			return r;
	}
	*sequence = number;
	memcpy(chain, last, sizeof(last));
	return 0;
}
