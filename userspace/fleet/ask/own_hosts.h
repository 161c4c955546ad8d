/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the hosts in ClickHouse, where several stores may have rows, are this store's. */
#ifndef CORDON_FLEET_OWN_HOSTS_H
#define CORDON_FLEET_OWN_HOSTS_H

#include "audit/text/buffer.h"
#include "base/failure.h"
#include "fleet/store/rows.h"

/*
 * Adds their ids as SQL lists them ("'ab12','cd34'", and a NUL): all, or those with that name or
 * whose id begins so. -EIO, -ENOMEM.
 */
int own_hosts(struct rows *rows, const char *host, struct buffer *list, struct failure *failure);

#endif
