/* SPDX-License-Identifier: Apache-2.0 */
/* Takes in records that no stream brings: a file, standard input, or the folder of a log. */
#ifndef CORDON_FLEET_IMPORT_H
#define CORDON_FLEET_IMPORT_H

#include "fleet/store/intake.h"

struct import {
	const char *from; /* a file of lines, "-", or a log's folder */
	const char *host, *log;
	bool first_lane;
};

/*
 * *ret_counts: of deliveries, by what became of them. -EINVAL: no such host id or log id; -errno
 * of reading. What was read before a failure is taken.
 */
int import_run(struct intake *intake, const struct import *import,
	       uint64_t ret_counts[INTAKE_RESULT_COUNT], struct failure *failure);

#endif
