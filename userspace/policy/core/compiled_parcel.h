/* SPDX-License-Identifier: Apache-2.0 */
/* Serialises a compiled policy, to pass it to another process of the same program. */
#ifndef CORDON_POLICY_COMPILED_PARCEL_H
#define CORDON_POLICY_COMPILED_PARCEL_H

#include <stdio.h>

#include "base/parcel.h"
#include "policy/core/compiled.h"

/* Writes the whole policy; errors are reported by ferror(3). */
void compiled_policy_put(FILE *to, const struct compiled_policy *policy);

/*
 * Checks the format only; policy_tables_check() checks the tables. Caller releases with
 * compiled_policy_free(). -EPROTO: invalid format; -ENOMEM.
 */
int compiled_policy_take(struct parcel *from, struct compiled_policy **ret_policy);

#endif
