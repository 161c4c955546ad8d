/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the records that a report is made of, one for all refusals that are alike. */
#include "daemon/execution/reported.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fnv.h"

#define CAPACITY_FIRST 16

struct reported_event {
	struct cordon_denial_event *event; /* with its object */
	uint64_t hash;			   /* of what makes events alike */
};

/* From here to `repeats` it is what was refused, and why. */
#define ALIKE_START offsetof(struct cordon_denial_event, operation)
#define ALIKE_SIZE  (offsetof(struct cordon_denial_event, repeats) - ALIKE_START)

static const char *alike(const struct cordon_denial_event *event)
{
	return (const char *)event + ALIKE_START;
}

static uint64_t hash_of(const struct cordon_denial_event *event)
{
	uint64_t hash = fnv1a(FNV1A_START, alike(event), ALIKE_SIZE);

	return fnv1a(hash, (const char *)event->object, event->object_length);
}

static bool is_like(const struct cordon_denial_event *known,
		    const struct cordon_denial_event *event)
{
	return known->event.type == event->event.type &&
	       known->event.policy == event->event.policy &&
	       memcmp(alike(known), alike(event), ALIKE_SIZE) == 0 &&
	       memcmp(known->object, event->object, event->object_length) == 0;
}

/* Hashes that collide cost a comparison. */
static json_t *find(const struct reported *reported, const struct cordon_denial_event *event,
		    uint64_t hash)
{
	for (size_t i = 0; i < reported->count; i++)
		if (reported->events[i].hash == hash && is_like(reported->events[i].event, event))
			return reported->records[i];
	return NULL;
}

static void count_once_more(json_t *record, const struct cordon_denial_event *event)
{
	json_t *cordon = json_object_get(record, "cordon");
	json_int_t repeats = json_integer_value(json_object_get(cordon, "repeats"));

	(void)json_object_set_new(cordon, "repeats",
				  json_integer(repeats + 1 + (json_int_t)event->repeats));
}

static int grow(struct reported *reported)
{
	size_t capacity = reported->capacity ? 2 * reported->capacity : CAPACITY_FIRST;
	struct reported_event *events;
	json_t **records;

	if (reported->count < reported->capacity)
		return 0;
	records = reallocarray(reported->records, capacity, sizeof(*records));
	if (!records)
		return -ENOMEM;
	reported->records = records;
	events = reallocarray(reported->events, capacity, sizeof(*events));
	if (!events)
		return -ENOMEM;
	reported->events = events;
	reported->capacity = capacity;
	return 0;
}

int reported_add(struct reported *reported, const struct cordon_denial_event *event,
		 const struct buffer *record, size_t limit)
{
	_cleanup_(freep) struct cordon_denial_event *copy = NULL;
	uint64_t hash = hash_of(event);
	json_t *known = find(reported, event, hash);
	int r;

	if (known) {
		count_once_more(known, event);
		return 0;
	}
	if (reported->count >= limit)
		return 0;
	r = grow(reported);
	copy = malloc(sizeof(*event) + event->object_length);
	if (r < 0 || !copy)
		return -ENOMEM;
	known = json_loadb(record->data, record->size, 0, NULL);
	if (!known)
		return -EBADMSG;
	memcpy(copy, event, sizeof(*event) + event->object_length);
	reported->records[reported->count] = known;
	reported->events[reported->count++] =
		(struct reported_event){.event = TAKE_PTR(copy), .hash = hash};
	return 1;
}

size_t reported_forget(struct reported *reported, size_t most)
{
	size_t forgotten = 0;

	for (; forgotten < most && reported->count > 0; forgotten++) {
		reported->count--;
		json_decref(reported->records[reported->count]);
		free(reported->events[reported->count].event);
	}
	return forgotten;
}

void reported_release(struct reported *reported)
{
	(void)reported_forget(reported, reported->count);
	free(reported->records);
	free(reported->events);
	*reported = (struct reported){};
}
