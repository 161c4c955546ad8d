/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a file, for programs: one shape in every command that reads one. */
#include "cli/term/diagnostics_json.h"

static json_t *position(unsigned int number)
{
	return number ? json_integer(number) : json_null();
}

static json_t *describe(const struct diagnostic *d)
{
	static const char *const severities[] = {
		[DIAGNOSTIC_ERROR] = "error",
		[DIAGNOSTIC_WARNING] = "warning",
		[DIAGNOSTIC_NOTE] = "note",
	};

	return json_pack("{s:s, s:s, s:o, s:o, s:s, s:s?}", "severity", severities[d->severity],
			 "file", d->file, "line", position(d->line), "column",
			 position(d->line ? d->column : 0), "message", d->message, "fix", d->hint);
}

json_t *diagnostics_json(const struct diagnostics *diagnostics)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < diagnostics_count(diagnostics); i++) {
		if (json_array_append_new(list, describe(diagnostics_at(diagnostics, i))) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}
