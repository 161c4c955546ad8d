/* SPDX-License-Identifier: Apache-2.0 */
/* Parses presence messages of shippers, which may be malicious. */
#include "fleet/store/presence.h"

#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "insight/text/view.h"

DEFINE_CLEANUP(json_t *, json_decref, presence_json_decrefp)

#define SUBJECT_HEAD "cordon.presence."
/* Messages that may be lost or late before the shipper counts as absent. */
#define WORDS_MISSED  3
#define SECONDS_MAX   3600u
#define MESSAGE_LIMIT 4096u

/* Returns the index of a word, or 0 if it is unknown. */
static unsigned int number_of(const char *word, const char *const *words, unsigned int count)
{
	for (unsigned int i = 1; word && i < count; i++)
		if (strcmp(word, words[i]) == 0)
			return i;
	return 0;
}

static bool is_count(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	return json_is_integer(value) && json_integer_value(value) >= 0;
}

int presence_read(const char *subject, const char *data, size_t size, struct presence *presence,
		  struct failure *failure)
{
	static const char *const states[] = {"", "shipping", "leaving", "rewritten"};
	static const char *const daemons[] = {"", "running", "stopped", "killed"};
	const char *host = subject + sizeof(SUBJECT_HEAD) - 1, *log;
	_cleanup_(presence_json_decrefp) json_t *object = NULL;
	struct presence found = {};

	if (strncmp(subject, SUBJECT_HEAD, sizeof(SUBJECT_HEAD) - 1) != 0 ||
	    strlen(host) >= sizeof(found.host) || !delivery_id_is_valid(host) || strchr(host, '-'))
		return failure_set(failure, EBADMSG,
				   "the subject is not cordon.presence.<host id>");
	strcpy(found.host, host);
	if (size <= MESSAGE_LIMIT)
		object = json_loadb(data, size, JSON_REJECT_DUPLICATES, NULL);
	log = view_text(object, "log");
	found.state = number_of(view_text(object, "state"), states, ARRAY_SIZE(states));
	found.daemon = number_of(view_text(object, "daemon"), daemons, ARRAY_SIZE(daemons));
	if (!found.state || !found.daemon || !log || strlen(log) >= sizeof(found.log) ||
	    !delivery_id_is_valid(log) || !is_count(object, "acknowledged") ||
	    !is_count(object, "interval") || view_number(object, "interval") < 1 ||
	    view_number(object, "interval") > SECONDS_MAX)
		return failure_set(failure, EBADMSG, "it is not a valid presence message");
	strcpy(found.log, log);
	found.acknowledged = view_number(object, "acknowledged");
	found.every = view_number(object, "interval") * NSEC_PER_SEC;
	*presence = found;
	return 0;
}

bool presence_is_fresh(const struct presence *presence, uint64_t now)
{
	return presence->state != PRESENCE_UNKNOWN &&
	       (now < presence->at || now - presence->at <= WORDS_MISSED * presence->every);
}
