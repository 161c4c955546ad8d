/* SPDX-License-Identifier: Apache-2.0 */
/* Checks line after line that each follows from the one before it. */
#include "audit/read/check.h"

#include <inttypes.h>
#include <string.h>

#include "audit/storage/chain.h"

int check_init(struct check *check)
{
	*check = (struct check){.hash = sha256_new()};
	return check->hash ? 0 : -ENOMEM;
}

void check_release(struct check *check)
{
	if (check->hash)
		sha256_free(check->hash);
	check->hash = NULL;
}

void check_anchor(struct check *check, uint64_t sequence, const unsigned char chain[SHA256_SIZE])
{
	check->begun = check->anchored = true;
	check->first = check->sequence = sequence;
	memcpy(check->chain, chain, sizeof(check->chain));
}

static int bad_line(const struct lines *lines, struct failure *failure, const char *why)
{
	return failure_set(failure, EBADMSG, "%s:%" PRIu64 ": %s", lines_path(lines),
			   lines_number(lines), why);
}

/* What a first line, and one behind a break, is chained to. */
static void anchor(struct check *check, enum lines_event event, uint64_t sequence)
{
	if (event == LINES_CUT)
		check->anchored = false;
	/* A log that took the place of another begins anew. */
	if (sequence == 1 && (!check->begun || event == LINES_REPLACED)) {
		check->anchored = true;
		check->sequence = 0;
		memset(check->chain, 0, sizeof(check->chain));
	}
	if (!check->begun)
		check->first = sequence;
	check->begun = true;
}

/*
 * What nearly every line is: the one that follows, unchanged. Compares digests as they are written,
 * and so spares reading them. 1: it is; 0: look closer.
 */
static int is_next(struct check *check, const char *line, size_t size)
{
	char tail[CHAIN_TAIL_SIZE];
	unsigned char computed[SHA256_SIZE];
	uint64_t sequence;
	size_t body;

	if (!check->anchored || size < CHAIN_TAIL_SIZE ||
	    chain_sequence(line, size, &sequence) < 0 || sequence != check->sequence + 1)
		return 0;
	/* The line is without its newline. */
	body = size - (CHAIN_TAIL_SIZE - 1);
	if (chain_digest(check->hash, check->chain, line, body, computed) < 0)
		return 0;
	chain_write_tail(computed, tail);
	if (memcmp(tail, line + body, CHAIN_TAIL_SIZE - 1) != 0)
		return 0;
	check->sequence = sequence;
	memcpy(check->chain, computed, sizeof(computed));
	return 1;
}

int check_line(struct check *check, struct lines *lines, const char *line, size_t size,
	       struct failure *failure)
{
	unsigned char claimed[SHA256_SIZE], computed[SHA256_SIZE], previous[SHA256_SIZE];
	enum lines_event event = lines_take_event(lines);
	uint64_t sequence, before;
	bool anchored;
	size_t body;
	int r;

	if (event == LINES_NONE && is_next(check, line, size))
		return 0;
	r = chain_split(line, size, &body, &sequence, claimed);
	/* The next line is checked against the one before this: was this one put in, or changed? */
	if (r < 0)
		return bad_line(lines, failure, "the line is not a record of a log");
	anchor(check, event, sequence);
	before = check->sequence;
	anchored = check->anchored;
	memcpy(previous, check->chain, sizeof(previous));
	/* Whatever is wrong with this line, the next one is checked against it. */
	check->anchored = true;
	check->sequence = sequence;
	memcpy(check->chain, claimed, sizeof(claimed));
	if (!anchored)
		return 0;
	r = chain_digest(check->hash, previous, line, body, computed);
	if (r < 0)
		return failure_set(failure, r, "cannot compute SHA-256: %m");
	if (sequence != before + 1)
		return failure_set(failure, EBADMSG,
				   sequence > before
					   ? "%s:%" PRIu64 ": seq %" PRIu64 " follows seq %" PRIu64
					     ": %" PRIu64 " missing"
					   : "%s:%" PRIu64 ": seq %" PRIu64 " follows seq %" PRIu64
					     ": repeated or moved",
				   lines_path(lines), lines_number(lines), sequence, before,
				   sequence - before - 1);
	if (memcmp(claimed, computed, sizeof(claimed)) != 0)
		return bad_line(
			lines, failure,
			"the chain is broken: this record or the one before it was changed");
	return 0;
}
