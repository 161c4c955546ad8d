/* SPDX-License-Identifier: Apache-2.0 */
/* Marks a record that does not follow from the line before it: somebody changed one of the two. */
#ifndef CORDON_AUDIT_DAMAGE_H
#define CORDON_AUDIT_DAMAGE_H

#include <jansson.h>

/*
 * Sets cordon.damaged, which no record of a log that is in order has. Nothing else in the record
 * can be believed from now on, the mark can. -ENOMEM.
 */
int damage_mark(json_t *record, const char *why);

#endif
