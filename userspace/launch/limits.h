/* SPDX-License-Identifier: Apache-2.0 */
/* Parses and formats limits. */
#ifndef CORDON_LAUNCH_LIMITS_H
#define CORDON_LAUNCH_LIMITS_H

#include "base/failure.h"
#include "policy/core/compiled.h"

enum limit_unit {
	LIMIT_DURATION, /* "90s", "500ms", "2m", "1.5h"; a bare number is seconds */
	LIMIT_SIZE,	/* "512M", "1G", "64K"; powers of 1024; a bare number is bytes */
	LIMIT_COUNT,	/* "64" */
	LIMIT_PERCENT,	/* "150%" or "150" */
};

/* One member of struct policy_limits. */
struct limit_kind {
	const char *option; /* "cpu-time", also in messages */
	enum limit_unit unit;
	size_t offset;
};

#define LIMIT_KINDS 10
extern const struct limit_kind limit_kinds[LIMIT_KINDS];

/* Returns the member of `limits` for `kind`. */
uint64_t *limit_of(struct policy_limits *limits, const struct limit_kind *kind);

/*
 * Parses a value into its member. Returns 0, -EINVAL if it has another form or is 0, because 0
 * means no limit, or -ERANGE beyond 64 bits. *failure has an example.
 */
int limit_parse(const struct limit_kind *kind, const char *text, struct policy_limits *limits,
		struct failure *failure);

#define LIMIT_TEXT_SIZE 48

/*
 * Formats "1m30s", "512M", "64" or "150%": the shortest form that limit_parse() reads as the same
 * value.
 */
void limit_format(const struct limit_kind *kind, uint64_t value, char text[LIMIT_TEXT_SIZE]);

#endif
