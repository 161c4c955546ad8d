/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records that an execution's report is made of: of what was refused in the same way again and
 * again the first, with how often. Reading a record costs several times what making it does, so
 * that events are compared, and not records.
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
	json_t **records;
	struct reported_event *events; /* what each was made of */
	size_t count, capacity;
};

/*
 * Keeps the record of this event, CORDON_EVENT_DENIAL or CORDON_EVENT_ATTEMPT. 1: it did; 0: it is
 * counted into one like it, or `limit` are kept already; -ENOMEM; -EBADMSG: this is no record.
 */
int reported_add(struct reported *reported, const struct cordon_denial_event *event,
		 const struct buffer *record, size_t limit);

/* Drops the last ones, up to `most`; how many there were. */
size_t reported_forget(struct reported *reported, size_t most);

void reported_release(struct reported *reported);

#endif
