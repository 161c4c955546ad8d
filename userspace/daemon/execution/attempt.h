/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the modes of files refused: worth a record where a rule that denies the name says what it
 * is, by a severity or tags. Decides nothing.
 */
#ifndef CORDON_DAEMON_ATTEMPT_H
#define CORDON_DAEMON_ATTEMPT_H

#include <stddef.h>

#include "audit/record/record.h"

/*
 * From a CORDON_EVENT_ATTEMPT one with that rule and with its name made plain: what was asked for
 * may have "." and ".." in it, which are taken for what they usually mean, as nothing more is known
 * of it. Caller frees. -ENODATA: no rule marks the name; -EBADMSG: not well formed; -ENOMEM.
 */
int attempt_mark(const struct audit_execution *execution, const void *event, size_t size,
		 void **ret_event, size_t *ret_size);

#endif
