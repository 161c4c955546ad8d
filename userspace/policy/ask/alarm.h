/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capabilities of a rule that a reviewer must notice: credentials, persistence, connections to any
 * address, any program.
 */
#ifndef CORDON_POLICY_ALARM_H
#define CORDON_POLICY_ALARM_H

#include "policy/ask/diff.h"
#include "policy/compile/compile.h"

/* In the order of a report. */
enum alarm_kind {
	ALARM_CREDENTIALS,
	ALARM_PERSISTENCE,
	ALARM_ANYWHERE,
	ALARM_PROGRAMS,
	ALARM_DENIED,
	ALARM_NONE,
};

struct alarm {
	enum alarm_kind kind; /* of the first alarm */
	char *text;	      /* "read credentials and run any program", or NULL */
	char *example; /* an access that shows the first alarm, or a tag of the denying rule */
};

struct alarms;

/*
 * Finds the alarms of rules that make `b` allow more than `a`. All arguments are borrowed.
 *
 * `written`: the written rules of `b`. NULL: if several rules allow an access, only the deciding
 * one is known. -E2BIG, -ENOMEM.
 */
int alarms_new(const struct compiled_policy *a, const struct compiled_policy *b,
	       const struct policy_written *written, struct alarms **ret_alarms);
void alarms_free(struct alarms *alarms);
DEFINE_CLEANUP(struct alarms *, alarms_free, alarms_freep)

/*
 * The capabilities of this rule, phrased to follow "this lets it": "connect anywhere". Free with
 * alarm_release(). -ENOMEM.
 */
int alarms_find(struct alarms *alarms, const struct policy_widening *by, struct alarm *ret_alarm);
void alarm_release(struct alarm *alarm);

#endif
