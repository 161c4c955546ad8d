/* SPDX-License-Identifier: Apache-2.0 */
/* Stores records from a file, from standard input, or from a log's folder. */
#ifndef CORDON_FLEET_IMPORT_H
#define CORDON_FLEET_IMPORT_H

#include "fleet/store/intake.h"

struct import {
	const char *from; /* a file of lines, "-", or a log's folder */
	const char *host, *log;
	bool first_lane;
};

/*
 * Runs an import. *ret_counts: number of deliveries per result. Returns 0, -EINVAL if the host or
 * log ID is invalid, or the -ERRNO of reading. Records read before a failure are stored.
 */
int import_run(struct intake *intake, const struct import *import,
	       uint64_t ret_counts[INTAKE_RESULT_COUNT], struct failure *failure);

#endif
