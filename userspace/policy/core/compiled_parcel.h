/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiled policy on its way from the process that compiled it to one of the same program that
 * uses it.
 */
#ifndef CORDON_POLICY_COMPILED_PARCEL_H
#define CORDON_POLICY_COMPILED_PARCEL_H

#include <stdio.h>

#include "base/parcel.h"
#include "policy/core/compiled.h"

/* All of it; whether it was written, ferror(3) says. */
void compiled_policy_put(FILE *to, const struct compiled_policy *policy);

/*
 * Its shape is checked, what its tables say is not: policy_tables_check() does that. Caller
 * releases with compiled_policy_free(). -EPROTO: there is none; -ENOMEM.
 */
int compiled_policy_take(struct parcel *from, struct compiled_policy **ret_policy);

#endif
