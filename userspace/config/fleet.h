/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /etc/cordon/fleet.yaml: tenant and labels of this host, for queries over many hosts, and the
 * database of a fleet's store. Parsed like cordon.yaml, with the same diagnostics.
 */
#ifndef CORDON_CONFIG_FLEET_H
#define CORDON_CONFIG_FLEET_H

#include "base/cleanup.h"
#include "config/read_clickhouse.h"
#include "policy/source/diagnostic.h"

#define CONFIG_FLEET_FILE "/etc/cordon/fleet.yaml"
#define CONFIG_LABELS_MAX 16u
/* Maximum size of a tenant, a label or its value: letters, digits and . _ - / : @ + */
#define CONFIG_WORD_MAX 63u

struct config_fleet;

/* Returns as config_load(). The caller calls config_fleet_free(). */
int config_fleet_load(const char *path, struct diagnostics *diagnostics,
		      struct config_fleet **ret_fleet);
void config_fleet_free(struct config_fleet *fleet);
DEFINE_CLEANUP(struct config_fleet *, config_fleet_free, config_fleet_freep)

/* Returns the tenant or NULL; valid as long as `fleet`, like the labels. */
const char *config_fleet_tenant(const struct config_fleet *fleet);
/* Returns NAME, VALUE, ..., NULL. */
const char *const *config_fleet_labels(const struct config_fleet *fleet);
/* Returns the ClickHouse section, or NULL if rows stay in the store; valid as long as `fleet`. */
const struct config_clickhouse *config_fleet_clickhouse(const struct config_fleet *fleet);

#endif
