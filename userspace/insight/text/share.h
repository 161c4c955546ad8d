/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saves memory for many records: equal values such as policy, execution, rule and process are
 * stored once.
 */
#ifndef CORDON_INSIGHT_SHARE_H
#define CORDON_INSIGHT_SHARE_H

#include <jansson.h>

#include "base/cleanup.h"

struct share;

/* Returns NULL if out of memory. */
struct share *share_new(void);
void share_free(struct share *share);
DEFINE_CLEANUP(struct share *, share_free, share_freep)

/*
 * Replaces values of the record by equal ones of earlier records. Records must not be modified
 * afterwards.
 */
void share_record(struct share *share, json_t *record);

#endif
