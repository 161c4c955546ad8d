/* SPDX-License-Identifier: Apache-2.0 */
/* One entry of cordon.yaml's list of executors. */
#ifndef CORDON_CONFIG_READ_EXECUTOR_H
#define CORDON_CONFIG_READ_EXECUTOR_H

#include "config/config.h"
#include "policy/source/reader.h"

/* Returns an entry with defaults, for reader_mapping() with the keys. */
struct config_executor config_executor_empty(const struct node *n);
extern const struct key config_executor_keys[];

/*
 * Reports missing and contradictory members, and completes the entry `itself`. Returns 0 or
 * -ENOMEM.
 */
int config_finish_executor(struct reader *r, const struct node *n, struct config_executor *e);

#endif
