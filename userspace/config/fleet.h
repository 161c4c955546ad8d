/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /etc/cordon/fleet.yaml: whose host this is, for whoever looks at the records of many, and where a
 * fleet's store has its rows. Read as cordon.yaml is, with the same diagnostics.
 */
#ifndef CORDON_CONFIG_FLEET_H
#define CORDON_CONFIG_FLEET_H

#include "base/cleanup.h"
#include "config/read_clickhouse.h"
#include "policy/source/diagnostic.h"

#define CONFIG_FLEET_FILE "/etc/cordon/fleet.yaml"
#define CONFIG_LABELS_MAX 16u
/* Of a tenant's, a label's name or a value: letters, digits and . _ - / : @ + */
#define CONFIG_WORD_MAX 63u

struct config_fleet;

/*
 * As config_load(): -EINVAL with errors in `diagnostics`; -ENOENT; -EACCES, ...; -ENOMEM. Caller
 * releases.
 */
int config_fleet_load(const char *path, struct diagnostics *diagnostics,
		      struct config_fleet **ret_fleet);
void config_fleet_free(struct config_fleet *fleet);
DEFINE_CLEANUP(struct config_fleet *, config_fleet_free, config_fleet_freep)

/* NULL: none is given. Borrowed, as are the labels. */
const char *config_fleet_tenant(const struct config_fleet *fleet);
/* NAME, VALUE, ..., NULL. */
const char *const *config_fleet_labels(const struct config_fleet *fleet);
/* NULL: rows stay with the store. Borrowed. */
const struct config_clickhouse *config_fleet_clickhouse(const struct config_fleet *fleet);

#endif
