/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/cleanup.h"
#include "insight/export/export.h"
#include "insight/text/style.h"
#include "insight/text/view.h"

static const struct {
	const char *head, *field;
} columns[] = {
	{"seq", "seq"},
	{"time", "@timestamp"},
	{"execution", "cordon.execution.id"},
	{"session", "cordon.execution.session"},
	{"agent", "cordon.execution.agent"},
	{"action", "event.action"},
	{"outcome", "event.outcome"},
	{"operation", "cordon.operation"},
	{"object_kind", "cordon.object.kind"},
	{"object", "cordon.object.text"},
	{"rights", "cordon.rights"},
	{"reason", "cordon.reason"},
	{"error", "cordon.error"},
	{"repeats", "cordon.repeats"},
	{"rule_file", "cordon.rule.file"},
	{"rule_line", "cordon.rule.line"},
	{"rule_text", "cordon.rule.text"},
	{"rule_severity", "cordon.rule.severity"},
	{"policy", "cordon.policy.name"},
	{"policy_digest", "cordon.policy.digest"},
	{"pid", "process.pid"},
	{"process", "process.name"},
	{"program", "process.executable"},
	{"arguments", "process.args"},
	{"exit_code", "process.exit_code"},
	{"signal", "process.signal"},
	{"user", "user.id"},
	{"workdir", "cordon.execution.workdir"},
	{"code_sha256", "cordon.execution.code.sha256"},
	{"end_cause", "cordon.end.cause"},
	{"duration_ns", "event.duration"},
	{"message", "error.message"},
	{"chain", "chain"},
};

void export_csv_cell(FILE *out, const char *text)
{
	/* UTF-8 for whoever opens the file, but nothing that acts. */
	const struct style plain = {.unicode = true};
	_cleanup_(freep) char *shown = NULL;
	size_t size;
	FILE *to;

	if (!text || !text[0])
		return;
	to = open_memstream(&shown, &size);
	if (!to)
		return;
	style_text(to, &plain, text);
	if (fclose(to) != 0)
		return;
	fputc('"', out);
	/* What a spreadsheet takes for a formula (CWE-1236). */
	if (strchr("=+-@|%", shown[0]) || text[0] == '\t' || text[0] == '\r' || text[0] == '\n')
		fputc('\'', out);
	for (const char *c = shown; *c; c++) {
		if (*c == '"')
			fputc('"', out);
		fputc(*c, out);
	}
	fputc('"', out);
}

static void write_value(FILE *out, const json_t *value)
{
	_cleanup_(freep) char *text = NULL;

	if (json_is_integer(value)) {
		fprintf(out, "%lld", (long long)json_integer_value(value));
	} else if (json_is_string(value)) {
		export_csv_cell(out, json_string_value(value));
	} else if (json_is_array(value)) {
		text = json_dumps(value, JSON_COMPACT);
		export_csv_cell(out, text);
	}
}

void export_csv_head(FILE *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		fprintf(out, "%s,", columns[i].head);
	fputs("record\r\n", out);
}

/* Exact, since it is ASCII and has escapes of its own. */
static void write_whole(FILE *out, const json_t *record)
{
	_cleanup_(freep) char *text = json_dumps(record, JSON_COMPACT | JSON_ENSURE_ASCII);

	export_csv_cell(out, text);
}

void export_csv(FILE *out, const json_t *record)
{
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		write_value(out, view_field(record, columns[i].field));
		fputc(',', out);
	}
	write_whole(out, record);
	fputs("\r\n", out);
}
