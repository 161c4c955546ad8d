/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose records are shown without names. A store's logs are those of the hosts, byte for byte, or
 * nobody could verify them; so names are taken out where answers are given. DIR has a key for each
 * tenant, TENANT.key ('/' as '%'), and perhaps default.key for all others; a tenant without one is
 * shown as it is.
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
 * `directory`: of the keys. Where it is not there, no tenant has one. Errors as private_key_read(),
 * for a key that cannot be read is no reason to show names.
 */
int fleet_privacy_open(const char *directory, const char *store, struct rows *rows,
		       struct fleet_privacy **ret_privacy, struct failure *failure);
void fleet_privacy_close(struct fleet_privacy *privacy);
DEFINE_CLEANUP(struct fleet_privacy *, fleet_privacy_close, fleet_privacy_closep)

/* Takes names out of a record of that log, if its tenant has a key. As private_record(). */
int fleet_privacy_record(struct fleet_privacy *privacy, const char *host, const char *log,
			 json_t *record);

#endif
