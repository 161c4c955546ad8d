/* SPDX-License-Identifier: Apache-2.0 */
/* Limits as people write and read them. */
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
	const char *option; /* "cpu-time", also what messages call it */
	enum limit_unit unit;
	size_t offset;
};

#define LIMIT_KINDS 10
extern const struct limit_kind limit_kinds[LIMIT_KINDS];

/* The member of `limits` that `kind` stands for. */
uint64_t *limit_of(struct policy_limits *limits, const struct limit_kind *kind);

/*
 * Parses a value into its member. -EINVAL: not a value of that unit, or zero, which would be no
 * limit at all; -ERANGE: beyond 64 bits. `failure` says what would be right.
 */
int limit_parse(const struct limit_kind *kind, const char *text, struct policy_limits *limits,
		struct failure *failure);

#define LIMIT_TEXT_SIZE 48

/* "1m30s", "512M", "64", "150%": the shortest that limit_parse() reads back as the same. */
void limit_format(const struct limit_kind *kind, uint64_t value, char text[LIMIT_TEXT_SIZE]);

#endif
