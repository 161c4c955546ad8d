/* SPDX-License-Identifier: Apache-2.0 */
/* One entry of cordon.yaml's list of executors. */
#ifndef CORDON_CONFIG_READ_EXECUTOR_H
#define CORDON_CONFIG_READ_EXECUTOR_H

#include "config/config.h"
#include "policy/source/reader.h"

/* One that says nothing yet, for reader_mapping() with the keys. */
struct config_executor config_executor_empty(const struct node *n);
extern const struct key config_executor_keys[];

/*
 * Reports what is missing or contradicts itself, and completes the entry for the executor itself.
 * -ENOMEM.
 */
int config_finish_executor(struct reader *r, const struct node *n, struct config_executor *e);

#endif
