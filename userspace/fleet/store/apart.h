/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The quarantine for deliveries that the store cannot accept. The bytes are stored unchanged in
 * DIR/apart/<host id>/<digest>.jsonl, with a line in DIR/apart/<host id>/reasons. If the host is
 * unknown, the folder is DIR/apart/unknown.
 */
#ifndef CORDON_FLEET_APART_H
#define CORDON_FLEET_APART_H

#include "fleet/store/delivery.h"
#include "fleet/store/rows.h"

#define APART_FOLDER "apart"
/* Limits per host. Beyond them deliveries are only counted, with the last reason. */
#define APART_BYTES_MAX (256ull << 20)
#define APART_FILES_MAX 10000u

/*
 * Quarantines a delivery. When it returns 0, everything but the row is on disk. The same bytes are
 * stored once. Returns 0 or -ERRNO.
 */
int apart_keep(const char *directory, struct rows *rows, const struct delivery *delivery,
	       const char *reason, struct failure *failure);

#endif
