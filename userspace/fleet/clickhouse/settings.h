/* SPDX-License-Identifier: Apache-2.0 */
/* Where the store and whoever asks it learn of a ClickHouse server. */
#ifndef CORDON_FLEET_CLICKHOUSE_SETTINGS_H
#define CORDON_FLEET_CLICKHOUSE_SETTINGS_H

#include "base/failure.h"
#include "config/fleet.h"

/*
 * `path`: a fleet.yaml; NULL: the usual one, which need not exist: then *ret_fleet is NULL. Caller
 * releases. -EINVAL: what is wrong with it says *failure; -ENOENT, ...; -ENOMEM.
 */
int clickhouse_settings_load(const char *path, struct config_fleet **ret_fleet,
			     struct failure *failure);

#endif
