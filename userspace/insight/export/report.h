/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was refused to an execution, for the agent that started it to act on (`cordon run
 * --report`).
 */
#ifndef CORDON_INSIGHT_REPORT_H
#define CORDON_INSIGHT_REPORT_H

#include <jansson.h>
#include <stddef.h>

#include "audit/record/record.h"

/* More different denials than this are counted, not listed. */
#define REPORT_DENIALS_MAX 1000u

/*
 * A new reference, or NULL without memory. `denials`: records of action denial, would-deny or
 * attempt, from audit_record_event(); others are passed over. docs/audit.md describes the report.
 */
json_t *report_build(const struct audit_execution *execution, const struct audit_end *end,
		     json_t *const *denials, size_t count);

#endif
