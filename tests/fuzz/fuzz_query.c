/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries of any words over a line of any bytes. What the parsed record matches, the line may
 * match: else the index and the quick look would hide records.
 */
#include <stdint.h>
#include <string.h>

#include "audit/search/glob.h"
#include "audit/search/query.h"
#include "audit/search/skim.h"
#include "base/cleanup.h"
#include "cli/term/moment.h"

#define WORDS 11
#define NOW   1763683200000000000ull

/* The next of the strings that the input consists of; NULL: an empty one. */
static const char *next_word(const char **at, const char *end)
{
	const char *word = *at, *terminator;

	if (word >= end)
		return NULL;
	terminator = memchr(word, '\0', (size_t)(end - word));
	if (!terminator)
		return NULL;
	*at = terminator + 1;
	return word[0] ? word : NULL;
}

/* What is decoded has to fit where it was decoded to. */
static void decode_all(const struct skim *skim)
{
	char buffer[64];

	for (int i = 0; i < SKIM_FIELD_COUNT; i++) {
		const char *text;
		size_t size;

		if (!skim->values[i].data ||
		    skim_decode(&skim->values[i], buffer, sizeof(buffer), &text, &size) < 0)
			continue;
		if (text == buffer && size > sizeof(buffer))
			abort();
	}
}

static void look_at(const struct audit_query *query, const char *line, size_t size)
{
	json_t *record = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
	enum query_answer answer = audit_query_ask_line(query, line, size);
	struct skim skim;

	if (skim_record(line, size, &skim) == 0)
		decode_all(&skim);
	if (json_is_object(record) && answer != QUERY_MAYBE &&
	    audit_query_matches(query, record) != (answer == QUERY_YES))
		abort();
	json_decref(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(audit_glob_freep) struct audit_glob *glob = NULL;
	_cleanup_(freep) char *copy = malloc(size + 1);
	char since[CLOCK_TEXT_SIZE], until[CLOCK_TEXT_SIZE];
	struct audit_network network;
	struct audit_query query = {};
	const char *words[WORDS], *at = copy, *end = copy + size;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	copy[size] = '\0';
	for (size_t i = 0; i < WORDS; i++)
		words[i] = next_word(&at, end);
	query.verdict = words[0] ? (enum audit_verdict)((unsigned char)words[0][0] % 4) : 0;
	if (words[1] && moment_parse(words[1], NOW, since) == 0)
		query.since = since;
	if (words[2] && moment_parse(words[2], NOW, until) == 0)
		query.until = until;
	if (words[3] && audit_glob_new(words[3], &glob) == 0)
		query.path = glob;
	if (words[4] && audit_network_parse(words[4], &network) == 0)
		query.address = &network;
	query.execution = words[5];
	query.session = words[6];
	query.policy = words[7];
	query.operation = words[8];
	query.action = words[9];
	query.text = words[10];
	look_at(&query, at, (size_t)(end - at));
	if (glob) {
		/* How it begins, all that matches does. */
		const char *prefix = audit_glob_prefix(glob);
		size_t length = strlen(prefix), rest = (size_t)(end - at);

		if (audit_glob_matches(glob, at, rest) &&
		    (rest < length || memcmp(at, prefix, length) != 0))
			abort();
	}
	return 0;
}
