/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records that are kept in great numbers say much of the same: their policy, their execution, the
 * rule, the process. Each of that is held once.
 */
#ifndef CORDON_INSIGHT_SHARE_H
#define CORDON_INSIGHT_SHARE_H

#include <jansson.h>

#include "base/cleanup.h"

struct share;

/* NULL without memory. */
struct share *share_new(void);
void share_free(struct share *share);
DEFINE_CLEANUP(struct share *, share_free, share_freep)

/*
 * Puts values of records before it in place of those of this one that are equal. What is in a
 * record that went through here must not be changed any more.
 */
void share_record(struct share *share, json_t *record);

#endif
