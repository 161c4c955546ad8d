/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What cannot be taken: DIR/apart/<host id>/<digest>.jsonl, the bytes as they came, and a line in
 * DIR/apart/<host id>/reasons. What is of no host that can be told lies under "unknown".
 */
#ifndef CORDON_FLEET_APART_H
#define CORDON_FLEET_APART_H

#include "fleet/store/delivery.h"
#include "fleet/store/rows.h"

#define APART_FOLDER "apart"
/* Of one host: beyond that deliveries are only counted, with the last reason. */
#define APART_BYTES_MAX (256ull << 20)
#define APART_FILES_MAX 10000u

/*
 * On disk when it returns 0, but for its row. The same bytes again are kept once. -errno of what
 * failed.
 */
int apart_keep(const char *directory, struct rows *rows, const struct delivery *delivery,
	       const char *reason, struct failure *failure);

#endif
