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
	uint64_t repeats;		   /* of it, and of those like it */
	char *record;
	size_t size;
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
static struct reported_event *find(const struct reported *reported,
				   const struct cordon_denial_event *event, uint64_t hash)
{
	for (size_t i = 0; i < reported->count; i++)
		if (reported->events[i].hash == hash && is_like(reported->events[i].event, event))
			return &reported->events[i];
	return NULL;
}

static int grow(struct reported *reported)
{
	size_t capacity = reported->capacity ? 2 * reported->capacity : CAPACITY_FIRST;
	struct reported_event *events;

	if (reported->count < reported->capacity)
		return 0;
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
	_cleanup_(freep) char *text = NULL;
	uint64_t hash = hash_of(event);
	struct reported_event *known = find(reported, event, hash);

	if (known) {
		known->repeats += 1 + (uint64_t)event->repeats;
		return 0;
	}
	if (reported->count >= limit)
		return 0;
	copy = malloc(sizeof(*event) + event->object_length);
	text = malloc(record->size);
	if (grow(reported) < 0 || !copy || !text)
		return -ENOMEM;
	memcpy(copy, event, sizeof(*event) + event->object_length);
	memcpy(text, record->data, record->size);
	reported->events[reported->count++] = (struct reported_event){
		.event = TAKE_PTR(copy),
		.hash = hash,
		.repeats = event->repeats,
		.record = TAKE_PTR(text),
		.size = record->size,
	};
	return 1;
}

const char *reported_text(const struct reported *reported, size_t index, size_t *ret_size)
{
	*ret_size = reported->events[index].size;
	return reported->events[index].record;
}

json_t *reported_record(const struct reported *reported, size_t index)
{
	const struct reported_event *event = &reported->events[index];
	json_t *record = json_loadb(event->record, event->size, 0, NULL);

	if (record)
		(void)json_object_set_new(json_object_get(record, "cordon"), "repeats",
					  json_integer((json_int_t)event->repeats));
	return record;
}

size_t reported_forget(struct reported *reported, size_t most)
{
	size_t forgotten = 0;

	for (; forgotten < most && reported->count > 0; forgotten++) {
		reported->count--;
		free(reported->events[reported->count].record);
		free(reported->events[reported->count].event);
	}
	return forgotten;
}

void reported_release(struct reported *reported)
{
	(void)reported_forget(reported, reported->count);
	free(reported->events);
	*reported = (struct reported){};
}
