/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces names in records of some tenants. The stored logs must remain byte for byte as the hosts
 * wrote them, so that they can be verified; names are therefore replaced in query results.
 *
 * The directory has a key per tenant, TENANT.key ('/' as '%'), and optionally default.key for all
 * other tenants. Records of a tenant without a key are shown unchanged.
 */
#ifndef CORDON_FLEET_PRIVACY_H
#define CORDON_FLEET_PRIVACY_H

#include <jansson.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "fleet/store/rows.h"

#define FLEET_PRIVACY_DIRECTORY "/etc/cordon/privacy"

struct fleet_privacy;

/*
 * Reads the keys in `directory`. If it does not exist, no tenant has a key. Errors as for
 * private_key_read(): an unreadable key must not cause names to be shown.
 */
int fleet_privacy_open(const char *directory, const char *store, struct rows *rows,
		       struct fleet_privacy **ret_privacy, struct failure *failure);
void fleet_privacy_close(struct fleet_privacy *privacy);
DEFINE_CLEANUP(struct fleet_privacy *, fleet_privacy_close, fleet_privacy_closep)

/*
 * Replaces the names in a record of this log if its tenant has a key. Returns as private_record().
 */
int fleet_privacy_record(struct fleet_privacy *privacy, const char *host, const char *log,
			 json_t *record);

#endif
