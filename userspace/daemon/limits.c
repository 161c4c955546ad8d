/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/limits.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "base/clock.h"

enum unit {
	UNIT_TIME,
	UNIT_BYTES,
	UNIT_COUNT,
	UNIT_PERCENT,
};

static const struct {
	const char *name; /* as policies write it */
	size_t offset;
	enum unit unit;
} limits[] = {
	{"wall", offsetof(struct policy_limits, wall_nsec), UNIT_TIME},
	{"memory", offsetof(struct policy_limits, memory_bytes), UNIT_BYTES},
	{"pids", offsetof(struct policy_limits, pids), UNIT_COUNT},
	{"cpu", offsetof(struct policy_limits, cpu_percent), UNIT_PERCENT},
	{"cpu_time", offsetof(struct policy_limits, cpu_time_nsec), UNIT_TIME},
	{"address_space", offsetof(struct policy_limits, address_space_bytes), UNIT_BYTES},
	{"file_size", offsetof(struct policy_limits, file_size_bytes), UNIT_BYTES},
	{"open_files", offsetof(struct policy_limits, open_files), UNIT_COUNT},
};
_Static_assert(sizeof(struct policy_limits) == ARRAY_SIZE(limits) * sizeof(uint64_t),
	       "every limit is compared");

#define LIMIT_TEXT_SIZE 40

static void format_limit(uint64_t value, enum unit unit, char text[LIMIT_TEXT_SIZE])
{
	static const char suffixes[] = "\0KMGT";
	unsigned int power = 0;

	switch (unit) {
	case UNIT_TIME:
		if (value % NSEC_PER_SEC == 0)
			snprintf(text, LIMIT_TEXT_SIZE, "%" PRIu64 "s",
				 (uint64_t)(value / NSEC_PER_SEC));
		else
			snprintf(text, LIMIT_TEXT_SIZE, "%" PRIu64 "ms",
				 (uint64_t)(value / NSEC_PER_MSEC));
		return;
	case UNIT_BYTES:
		while (power < 4 && value > 0 && value % 1024 == 0) {
			value /= 1024;
			power++;
		}
		if (power > 0)
			snprintf(text, LIMIT_TEXT_SIZE, "%" PRIu64 "%c", value, suffixes[power]);
		else
			snprintf(text, LIMIT_TEXT_SIZE, "%" PRIu64, value);
		return;
	case UNIT_PERCENT:
		snprintf(text, LIMIT_TEXT_SIZE, "%" PRIu64 "%%", value);
		return;
	case UNIT_COUNT:
		snprintf(text, LIMIT_TEXT_SIZE, "%" PRIu64, value);
		return;
	}
}

int limits_lower(const struct policy_limits *policy, const struct policy_limits *asked,
		 struct policy_limits *ret_limits, struct failure *failure)
{
	struct policy_limits lowered = *policy;

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		uint64_t have = *(const uint64_t *)((const char *)policy + limits[i].offset);
		uint64_t want = *(const uint64_t *)((const char *)asked + limits[i].offset);

		if (want == 0)
			continue;
		if (have > 0 && want > have) {
			char have_text[LIMIT_TEXT_SIZE], want_text[LIMIT_TEXT_SIZE];

			format_limit(have, limits[i].unit, have_text);
			format_limit(want, limits[i].unit, want_text);
			return failure_set(failure, EPERM,
					   "limit %s: %s asked for, but the policy allows %s at "
					   "most; a request can only lower a limit (raise it in "
					   "the policy)",
					   limits[i].name, want_text, have_text);
		}
		*(uint64_t *)((char *)&lowered + limits[i].offset) = want;
	}
	*ret_limits = lowered;
	return 0;
}
