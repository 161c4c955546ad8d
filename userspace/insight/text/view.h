/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Returns fields of a record by their dotted name; NULL or 0 if the field is missing or has another
 * type.
 */
#ifndef CORDON_INSIGHT_VIEW_H
#define CORDON_INSIGHT_VIEW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

const json_t *view_field(const json_t *record, const char *name);
const char *view_text(const json_t *record, const char *name);
/*
 * The directory that a start record's execution has as ${workdir}, or NULL. A container that begins
 * in its root directory has none (bind_workdir(), bpf/hooks/adopt.bpf.h).
 */
const char *view_workdir(const json_t *start);
uint64_t view_number(const json_t *record, const char *name);
bool view_has_number(const json_t *record, const char *name);

/* True if event.action is `action`. */
bool view_is(const json_t *record, const char *action);

/* True for a denial, or a DAC denial ("attempt"). */
bool view_is_refused(const json_t *record);

/* True for these, or a would-deny. */
bool view_is_denial(const json_t *record);

/* Returns why the record is damaged, as found when it was read; NULL: it is intact. */
const char *view_damage(const json_t *record);

/* Returns "@timestamp" in ns since the epoch; 0: none. */
uint64_t view_time(const json_t *record);

/*
 * The same in the clock's state at the start of the execution, because it may have been set since.
 */
uint64_t view_steady_time(const json_t *record);

/* Returns view_time() of such a text. */
uint64_t view_time_of(const char *text);

#endif
