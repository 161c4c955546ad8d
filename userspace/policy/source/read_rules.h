/* SPDX-License-Identifier: Apache-2.0 */
/* What the rule sections have in common. */
#ifndef CORDON_POLICY_READ_RULES_H
#define CORDON_POLICY_READ_RULES_H

#include "policy/source/reader.h"

/* Keys that every rule knows. */
int read_severity(struct reader *r, const struct node *n, void *target);
int read_message(struct reader *r, const struct node *n, void *target);
int read_tags(struct reader *r, const struct node *n, void *target);

/* Rights, by the words that the rule's section knows. */
int read_allow(struct reader *r, const struct node *n, void *target);
int read_deny(struct reader *r, const struct node *n, void *target);

/* False: reported that the rule has neither; `example` is the hint. */
bool check_rights_given(struct reader *r, const struct rule *rule, const char *example);

/* Appends to the model. */
int add_rule(struct reader *r, struct rule *rule);

/* A list of rules by a table of keys; `finish` checks what a rule needs as a whole. */
int read_rules(struct reader *r, const struct node *n, const char *what, enum rule_kind kind,
	       const struct key *keys, int (*finish)(struct reader *r, struct rule *rule));

#endif
