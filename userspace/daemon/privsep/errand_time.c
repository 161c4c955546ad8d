/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/privsep/errand_time.h"

#include <string.h>

#include "base/clock.h"

void errand_put_time(FILE *to)
{
	const uint64_t took = clock_nsec(CLOCK_PROCESS_CPUTIME_ID);

	(void)fwrite(&took, sizeof(took), 1, to);
}

uint64_t errand_take_time(struct parcel *from)
{
	const void *at = parcel_take(from, sizeof(uint64_t));
	uint64_t took = 0;

	if (at)
		memcpy(&took, at, sizeof(took));
	return took;
}
