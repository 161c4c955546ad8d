/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What outlives the tasks of an execution though no name leads to it: System V objects. Their
 * memory is charged to nobody who could end, they count against what the whole host may have of
 * them, and the next execution of the same user would find them.
 */
#ifndef CORDON_DAEMON_LEFT_BEHIND_H
#define CORDON_DAEMON_LEFT_BEHIND_H

#include "daemon/execution/context.h"

/*
 * Removes those of the execution in a slot, by the record of who made which; says what cannot be
 * removed. Once all its tasks are dead.
 */
void left_behind_remove(struct daemon *daemon, uint32_t slot, const char *id);

#endif
