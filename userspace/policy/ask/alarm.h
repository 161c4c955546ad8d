/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What somebody who decides about a policy must not overlook in a rule: credentials, what others
 * obey, anywhere, any program.
 */
#ifndef CORDON_POLICY_ALARM_H
#define CORDON_POLICY_ALARM_H

#include "policy/ask/diff.h"
#include "policy/compile/compile.h"

/* In the order in which they are told. */
enum alarm_kind {
	ALARM_CREDENTIALS,
	ALARM_PERSISTENCE,
	ALARM_ANYWHERE,
	ALARM_PROGRAMS,
	ALARM_DENIED,
	ALARM_NONE,
};

struct alarm {
	enum alarm_kind kind; /* of the first of them */
	char *text;	      /* "read credentials and change what others obey", or NULL */
	char *example; /* an access that shows the first, or a tag of the rule that denied it */
};

struct alarms;

/*
 * Of the rules by which `b` allows what `a` does not. `written`: of `b`; NULL: of rules that allow
 * the same, only the one that decides is known. All are borrowed. -E2BIG, -ENOMEM.
 */
int alarms_new(const struct compiled_policy *a, const struct compiled_policy *b,
	       const struct policy_written *written, struct alarms **ret_alarms);
void alarms_free(struct alarms *alarms);
DEFINE_CLEANUP(struct alarms *, alarms_free, alarms_freep)

/*
 * What this rule lets it do, as in "this lets it connect anywhere". Free with alarm_release().
 * -ENOMEM.
 */
int alarms_find(struct alarms *alarms, const struct policy_widening *by, struct alarm *ret_alarm);
void alarm_release(struct alarm *alarm);

#endif
