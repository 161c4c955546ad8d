/* SPDX-License-Identifier: Apache-2.0 */
/* Converts names to patterns: parts that will differ next time become wildcards. */
#ifndef CORDON_INSIGHT_LEARN_NAMES_H
#define CORDON_INSIGHT_LEARN_NAMES_H

#include <stddef.h>

#include "policy/core/arena.h"

#define LEARN_CREATED	0x1u /* created by the run: may be a temporary name */
#define LEARN_INSTALLED 0x2u /* of installed software: may contain a version */
#define LEARN_NUMBERED	0x4u /* in /proc or /dev: numbers identify processes and devices */

/*
 * Returns the pattern for one component of a path, or for an abstract name. UUIDs and hashes always
 * become "*". With LEARN_CREATED, random parts as from mkstemp(3), process ids and times do, too;
 * with LEARN_INSTALLED, all but the first number of a version; with LEARN_NUMBERED, numbers. All
 * other text is literal. NULL if out of memory.
 */
const char *learn_pattern(struct arena *a, const char *name, size_t size, unsigned int flags);

/* True if the pattern has a wildcard. */
int learn_is_wild(const char *pattern);

/*
 * Returns one pattern for several names of a directory: the common beginning and end around a "*",
 * or "*" alone. NULL if out of memory.
 */
const char *learn_common(struct arena *a, const char *const *patterns, size_t count);

#endif
