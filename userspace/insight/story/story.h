/* SPDX-License-Identifier: Apache-2.0 */
/* Describes one execution for people: its program, its actions, and its denials. */
#ifndef CORDON_INSIGHT_STORY_H
#define CORDON_INSIGHT_STORY_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "insight/text/style.h"

/* Maximum shown; the rest is counted. */
#define STORY_PROCESSES_MAX 400u
#define STORY_ITEMS_MAX	    60u
/*
 * With at least this many distinct denials, a summary is written first. Maximum of its minor
 * places.
 */
#define STORY_REFUSED_MIN 3u
#define STORY_PLACES_MAX  5u

/* `records`: all of one execution, in the log's order. Returns 0 or -ENOMEM. */
int story_write(FILE *out, const struct style *style, json_t *const *records, size_t count);

#endif
