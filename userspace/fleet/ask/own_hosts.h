/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the hosts of this store, because several stores may share a ClickHouse database. */
#ifndef CORDON_FLEET_OWN_HOSTS_H
#define CORDON_FLEET_OWN_HOSTS_H

#include "audit/text/buffer.h"
#include "base/failure.h"
#include "fleet/store/rows.h"

/*
 * Appends the IDs as an SQL list with a final NUL, "'ab12','cd34'". `host`: only hosts with this
 * name or ID prefix; NULL: all. Returns 0, -EIO or -ENOMEM.
 */
int own_hosts(struct rows *rows, const char *host, struct buffer *list, struct failure *failure);

#endif
