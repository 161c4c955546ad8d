/* SPDX-License-Identifier: Apache-2.0 */
/* The common parts of all rule sections. */
#ifndef CORDON_POLICY_READ_RULES_H
#define CORDON_POLICY_READ_RULES_H

#include "policy/source/reader.h"

/* Keys that are valid in every rule. */
int read_severity(struct reader *r, const struct node *n, void *target);
int read_message(struct reader *r, const struct node *n, void *target);
int read_tags(struct reader *r, const struct node *n, void *target);

/* Reads rights with the words of the rule's section. */
int read_allow(struct reader *r, const struct node *n, void *target);
int read_deny(struct reader *r, const struct node *n, void *target);

/* False: the rule has neither key, which is reported; `example` is the hint. */
bool check_rights_given(struct reader *r, const struct rule *rule, const char *example);

/* Appends the rule to the model. */
int add_rule(struct reader *r, struct rule *rule);

/* Reads a list of rules with a table of keys; `finish` checks each rule as a whole. */
int read_rules(struct reader *r, const struct node *n, const char *what, enum rule_kind kind,
	       const struct key *keys, int (*finish)(struct reader *r, struct rule *rule));

#endif
