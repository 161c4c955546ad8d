/* SPDX-License-Identifier: Apache-2.0 */
/* Formats rules in one line, as they appear in denials: "allow read, write /tmp/x". */
#ifndef CORDON_POLICY_DESCRIBE_H
#define CORDON_POLICY_DESCRIBE_H

#include "policy/source/model.h"

/* Caller frees. NULL: no memory. */
char *describe_rule(const struct rule *rule);

#endif
