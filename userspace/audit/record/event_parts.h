/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the records of many events have in common, as text: who executes, under which policy, and
 * each rule. A log that keeps up with a flood cannot write that anew for each.
 */
#ifndef CORDON_AUDIT_EVENT_PARTS_H
#define CORDON_AUDIT_EVENT_PARTS_H

#include "audit/text/buffer.h"
#include "audit/record/record.h"
#include "base/clock.h"

struct event_part {
	size_t start, size; /* size 0: not written yet */
};

/* What an event says about its process, as it lies in struct cordon_event. */
#define EVENT_PARTS_PROCESS_SIZE                                                                   \
	(sizeof(struct cordon_event) - offsetof(struct cordon_event, process_start))

/* Of the execution, policy and process that were asked for last. Zeros to begin with. */
struct event_parts {
	unsigned char execution_id[16];
	struct buffer execution;
	unsigned char process_key[EVENT_PARTS_PROCESS_SIZE];
	struct buffer process, user;
	uint64_t second; /* since the epoch */
	char time[CLOCK_TEXT_SIZE];
	const struct compiled_policy *of; /* only to be compared */
	unsigned char digest[32];
	struct buffer policy, rules;
	struct event_part *rule; /* of each rule in `rules` */
	size_t rule_count;
};

void event_parts_release(struct event_parts *parts);

/* Each adds its part to `out`. -ENOMEM: it may be incomplete. */

/* The event's time as "@timestamp" has it. `time`: wall clock in ns since the epoch. */
void event_parts_time(struct event_parts *parts, uint64_t time, struct buffer *out);
/* "pid":..., up to ,"thread":{...}: what "process" begins with */
int event_parts_process(struct event_parts *parts, const struct cordon_event *event,
			struct buffer *out);
/* ,"user":{...},"group":{...} of the event whose process was asked for last */
int event_parts_user(struct event_parts *parts, struct buffer *out);
/* ,"cordon":{"schema":1,"execution":{...} */
int event_parts_execution(struct event_parts *parts, const struct audit_execution *execution,
			  struct buffer *out);
/* ,"policy":{... up to its digest; it stays open */
int event_parts_policy(struct event_parts *parts, const struct compiled_policy *policy,
		       struct buffer *out);
/* ,"rule":{...} or ,"rule":null */
int event_parts_rule(struct event_parts *parts, const struct compiled_policy *policy,
		     uint16_t number, struct buffer *out);

#endif
