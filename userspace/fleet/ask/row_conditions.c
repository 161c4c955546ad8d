/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a query's conditions on rows as SQL for SQLite and ClickHouse. */
#include "fleet/ask/row_conditions.h"

#include "base/clock.h"

static uint64_t moment(const char *text)
{
	uint64_t nsec = 0;

	if (text)
		(void)clock_parse(text, &nsec);
	return nsec;
}

size_t row_conditions(const struct audit_query *q, struct buffer *sql,
		      struct row_parameter ret_parameters[ROW_PARAMETERS_MAX])
{
	static const char *const verdicts[] = {
		[AUDIT_VERDICT_DENIED] =
			" AND r.action IN ('denial', 'attempt', 'execution-refused')",
		[AUDIT_VERDICT_WOULD_DENY] = " AND r.action = 'would-deny'",
		[AUDIT_VERDICT_ALLOWED] = " AND r.action IN ('open', 'connect', 'process-exec')",
	};
	const struct {
		bool asked;
		const char *condition;
		struct row_parameter parameter;
	} conditions[ROW_PARAMETERS_MAX] = {
		{q->since, " AND r.time >= ?1", {'1', ROW_TIME, NULL, moment(q->since)}},
		{q->until, " AND r.time <= ?2", {'2', ROW_TIME, NULL, moment(q->until)}},
		{q->execution,
		 " AND r.execution != '' AND r.execution >= ?3 AND r.execution < ?3 || '~'",
		 {'3', ROW_TEXT, q->execution}},
		/* A row has only the first characters of a digest. */
		{q->policy,
		 " AND (r.policy = ?4 OR substr(r.digest, 1, length(substr(?4, 1, 16))) = substr(?4, 1, 16))",
		 {'4', ROW_TEXT, q->policy}},
		{q->operation, " AND r.operation = ?5", {'5', ROW_TEXT, q->operation}},
		{q->action, " AND r.action = ?6", {'6', ROW_TEXT, q->action}},
	};
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(conditions); i++) {
		if (!conditions[i].asked)
			continue;
		buffer_string(sql, conditions[i].condition);
		ret_parameters[count++] = conditions[i].parameter;
	}
	if (q->sequence > 0) {
		buffer_literal(sql, " AND r.seq = ");
		buffer_number(sql, q->sequence);
	}
	if (q->verdict != AUDIT_VERDICT_ANY)
		buffer_string(sql, verdicts[q->verdict]);
	return count;
}
