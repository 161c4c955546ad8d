/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records that an execution's report is made of: of what was refused in the same way again and
 * again the first, with how often. Reading a record costs thirty times what making it does, so that
 * events are compared, and records are kept as they were written until somebody asks.
 */
#ifndef CORDON_DAEMON_REPORTED_H
#define CORDON_DAEMON_REPORTED_H

#include <jansson.h>
#include <stddef.h>

#include "audit/text/buffer.h"
#include "bpf/abi.h"

struct reported_event;

/* All zero to begin with. */
struct reported {
	struct reported_event *events;
	size_t count, capacity;
};

/*
 * Keeps the record of this event, CORDON_EVENT_DENIAL or CORDON_EVENT_ATTEMPT. 1: it did; 0: it is
 * counted into one like it, or `limit` are kept already; -ENOMEM.
 */
int reported_add(struct reported *reported, const struct cordon_denial_event *event,
		 const struct buffer *record, size_t limit);

/* The text of a record, as it was written when it was the first of its kind. */
const char *reported_text(const struct reported *reported, size_t index, size_t *ret_size);

/*
 * The record, with how often that was repeated since. A new reference; NULL: no memory, or it is no
 * record.
 */
json_t *reported_record(const struct reported *reported, size_t index);

/* Drops the last ones, up to `most`; how many there were. */
size_t reported_forget(struct reported *reported, size_t most);

void reported_release(struct reported *reported);

#endif
