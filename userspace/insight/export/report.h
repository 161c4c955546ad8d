/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the report on denied accesses for the agent that started an execution (`cordon run
 * --report`).
 */
#ifndef CORDON_INSIGHT_REPORT_H
#define CORDON_INSIGHT_REPORT_H

#include <jansson.h>
#include <stddef.h>

#include "audit/record/record.h"

/* More distinct denials than this are only counted. */
#define REPORT_DENIALS_MAX 1000u

/*
 * Returns a new reference, or NULL if out of memory. `denials`: records with the action denial,
 * would-deny or attempt from audit_record_event(); others are skipped. docs/audit.md describes the
 * report.
 */
json_t *report_build(const struct audit_execution *execution, const struct audit_end *end,
		     json_t *const *denials, size_t count);

#endif
