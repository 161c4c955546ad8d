/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the variables that the kernel has overwritten in an adopted execution. Their values are
 * told to nobody, and when the daemon looks, the names are gone, too.
 */
#ifndef CORDON_DAEMON_WIPED_H
#define CORDON_DAEMON_WIPED_H

#include <stddef.h>

#include "daemon/execution/execution.h"

/* From a CORDON_EVENT_ENVIRONMENT; what is not well formed, or finds no memory, is as not told. */
void wiped_take(struct execution *e, const struct cordon_event *event, size_t size);

/* Puts the names of overwritten variables beside the removed ones in the record. -ENOMEM. */
int wiped_add(struct execution *e);

/* Before the start is recorded: how many were overwritten besides. */
void wiped_count(struct execution *e);

#endif
