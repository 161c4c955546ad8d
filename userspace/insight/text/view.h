/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a record by their dotted name. What is missing or of another type: NULL, 0. */
#ifndef CORDON_INSIGHT_VIEW_H
#define CORDON_INSIGHT_VIEW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

const json_t *view_field(const json_t *record, const char *name);
const char *view_text(const json_t *record, const char *name);
uint64_t view_number(const json_t *record, const char *name);
bool view_has_number(const json_t *record, const char *name);

/* Is event.action this? */
bool view_is(const json_t *record, const char *action);

/* A denial, or an attempt that ordinary permissions refused. */
bool view_is_refused(const json_t *record);

/* One of these, or a would-deny. */
bool view_is_denial(const json_t *record);

/* Why the record cannot be believed, as reading found; NULL: it can. */
const char *view_damage(const json_t *record);

/* "@timestamp" in ns since the epoch; 0: none. */
uint64_t view_time(const json_t *record);

/* The same by the clock as it was when the execution started: it may have been set since. */
uint64_t view_steady_time(const json_t *record);

/* view_time() of such a text. */
uint64_t view_time_of(const char *text);

#endif
