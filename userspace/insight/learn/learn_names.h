/* SPDX-License-Identifier: Apache-2.0 */
/* From names to patterns: what will be another name next time becomes a wildcard. */
#ifndef CORDON_INSIGHT_LEARN_NAMES_H
#define CORDON_INSIGHT_LEARN_NAMES_H

#include <stddef.h>

#include "policy/core/arena.h"

#define LEARN_CREATED	0x1u /* made by the run itself: it may be a temporary name */
#define LEARN_INSTALLED 0x2u /* of the host's software: it may carry a version */
#define LEARN_NUMBERED	0x4u /* in /proc or /dev: numbers are those of processes and the like */

/*
 * The pattern for one component of a path, or an abstract name. UUIDs and hashes always become "*";
 * random parts as of mkstemp(3), process ids and times in names of LEARN_CREATED; all but the first
 * number of a version in those of LEARN_INSTALLED; numbers in those of LEARN_NUMBERED. Everything
 * else stands for itself. NULL: no memory.
 */
const char *learn_pattern(struct arena *a, const char *name, size_t size, unsigned int flags);

/* Has the pattern a wildcard? */
int learn_is_wild(const char *pattern);

/*
 * One pattern for several names of a directory: what they have in common at their beginning and end
 * around a "*"; "*" alone if that is nothing. NULL: no memory.
 */
const char *learn_common(struct arena *a, const char *const *patterns, size_t count);

#endif
