/* SPDX-License-Identifier: Apache-2.0 */
/* One execution as a person wants to read it: what ran, where, what it did, what was refused. */
#ifndef CORDON_INSIGHT_STORY_H
#define CORDON_INSIGHT_STORY_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "insight/text/style.h"

/* What is shown at most; the rest is counted. */
#define STORY_PROCESSES_MAX 400u
#define STORY_ITEMS_MAX	    60u
/*
 * Different denials beyond which they are told together first, and places of them that matter
 * little.
 */
#define STORY_REFUSED_MIN 3u
#define STORY_PLACES_MAX  5u

/* `records`: all of one execution, in the log's order. -ENOMEM. */
int story_write(FILE *out, const struct style *style, json_t *const *records, size_t count);

#endif
