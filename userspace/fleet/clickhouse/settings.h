/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the configured ClickHouse server, for the store and for queries. */
#ifndef CORDON_FLEET_CLICKHOUSE_SETTINGS_H
#define CORDON_FLEET_CLICKHOUSE_SETTINGS_H

#include "base/failure.h"
#include "config/fleet.h"

/*
 * Loads the file `path`. If `path` is NULL, loads the default file; if that file does not exist,
 * *ret_fleet is NULL. The caller frees *ret_fleet.
 *
 * Returns 0, -EINVAL if the file is invalid (*failure has the reason), -ENOENT or another -ERRNO of
 * reading, or -ENOMEM.
 */
int clickhouse_settings_load(const char *path, struct config_fleet **ret_fleet,
			     struct failure *failure);

#endif
