/* SPDX-License-Identifier: Apache-2.0 */
/* Carries the processor time that an errand took, so that it is charged to whoever it was for. */
#include "daemon/privsep/errand_time.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"

int errand_write_timed(FILE *to, errand_write *write, const void *context, struct failure *failure)
{
	_cleanup_(freep) char *data = NULL;
	size_t size = 0;
	FILE *text = open_memstream(&data, &size);
	uint64_t took;
	int r;

	if (!text)
		return failure_set(failure, ENOMEM, "%m");
	r = write(context, text, failure);
	if (fclose(text) != 0)
		return failure_set(failure, ENOMEM, "%m");
	took = clock_nsec(CLOCK_PROCESS_CPUTIME_ID);
	(void)fwrite(&took, sizeof(took), 1, to);
	(void)fwrite(data, 1, size, to);
	return r;
}

uint64_t errand_take_time(struct parcel *from)
{
	const void *at = parcel_take(from, sizeof(uint64_t));
	uint64_t took = 0;

	if (at)
		memcpy(&took, at, sizeof(took));
	return took;
}
