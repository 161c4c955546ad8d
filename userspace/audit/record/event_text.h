/* SPDX-License-Identifier: Apache-2.0 */
/* Records of kernel events as the text that the log holds: what comes by the hundred thousand. */
#ifndef CORDON_AUDIT_EVENT_TEXT_H
#define CORDON_AUDIT_EVENT_TEXT_H

#include "audit/text/buffer.h"
#include "audit/record/event_parts.h"
#include "audit/record/record.h"
#include "policy/source/host_name.h"

/* The name that an address in an event stands for. */
struct event_domain {
	char name[HOST_NAME_SIZE];
	uint16_t rule; /* that allows the access by this name, or CORDON_NO_RULE */
};

/* Used again and again, so that an event costs no memory of its own. All zero to begin with. */
struct event_text {
	struct buffer record; /* {...}, compact, ASCII only */
	struct buffer scratch;
	struct event_parts parts;
	const struct event_domain *domain; /* of the event at hand, borrowed; or NULL */
};

void event_text_release(struct event_text *text);

/* As audit_record_event(); on success the record is in text->record, until the next call. */
int event_text_write(struct event_text *text, const struct audit_execution *execution,
		     const void *data, size_t size, uint64_t boot_offset);

#endif
