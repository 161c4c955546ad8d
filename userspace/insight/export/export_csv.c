/* SPDX-License-Identifier: Apache-2.0 */
/* Writes records as CSV. */
#include <string.h>

#include "base/cleanup.h"
#include "insight/export/export.h"
#include "insight/export/plain_json.h"
#include "insight/text/style.h"
#include "insight/text/view.h"

#define COLUMN(head, field) {head, field, sizeof(field) - 1}

static const struct column {
	const char *head, *field;
	size_t size; /* of the field's name */
} columns[] = {
	COLUMN("seq", "seq"),
	COLUMN("time", "@timestamp"),
	COLUMN("execution", "cordon.execution.id"),
	COLUMN("session", "cordon.execution.session"),
	COLUMN("agent", "cordon.execution.agent"),
	COLUMN("action", "event.action"),
	COLUMN("outcome", "event.outcome"),
	COLUMN("operation", "cordon.operation"),
	COLUMN("object_kind", "cordon.object.kind"),
	COLUMN("object", "cordon.object.text"),
	COLUMN("rights", "cordon.rights"),
	COLUMN("reason", "cordon.reason"),
	COLUMN("error", "cordon.error"),
	COLUMN("repeats", "cordon.repeats"),
	COLUMN("rule_file", "cordon.rule.file"),
	COLUMN("rule_line", "cordon.rule.line"),
	COLUMN("rule_text", "cordon.rule.text"),
	COLUMN("rule_severity", "cordon.rule.severity"),
	COLUMN("policy", "cordon.policy.name"),
	COLUMN("policy_digest", "cordon.policy.digest"),
	COLUMN("pid", "process.pid"),
	COLUMN("process", "process.name"),
	COLUMN("program", "process.executable"),
	COLUMN("arguments", "process.args"),
	COLUMN("exit_code", "process.exit_code"),
	COLUMN("signal", "process.signal"),
	COLUMN("user", "user.id"),
	COLUMN("workdir", "cordon.execution.workdir"),
	COLUMN("code_sha256", "cordon.execution.code.sha256"),
	COLUMN("end_cause", "cordon.end.cause"),
	COLUMN("duration_ns", "event.duration"),
	COLUMN("message", "error.message"),
	COLUMN("chain", "chain"),
	COLUMN("damaged", "cordon.damaged"),
};

void export_csv_cell(FILE *out, const char *text)
{
	/* Keep UTF-8 for readers of the file, but escape control characters. */
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
	/* Spreadsheets treat these as the beginning of a formula (CWE-1236). */
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

/* The escaped ASCII text is exact. */
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

/* --- from the line itself ----------------------------------------------------------------- */

struct row {
	struct plain_value values[ARRAY_SIZE(columns)]; /* no data: empty */
};

static bool take_value(void *data, const char *name, size_t size, const struct plain_value *value)
{
	struct row *row = data;

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		if (columns[i].size != size || memcmp(columns[i].field, name, size) != 0)
			continue;
		/* Duplicate names and special characters need a parser. */
		if (row->values[i].data)
			return false;
		for (size_t k = 0; value->escaped && k + 1 < value->size; k++) {
			if (value->data[k] != '\\')
				continue;
			k++;
			if (!strchr("\"\\nt", value->data[k]))
				return false;
		}
		row->values[i] = *value;
		break;
	}
	return true;
}

/* The functions below need space for twice the line, and a few bytes per column. */
static char *put_quoted(char *to, const char *text, size_t size)
{
	*to++ = '"';
	for (const char *end = text + size; text < end; text++) {
		*to++ = *text;
		if (*text == '"')
			*to++ = '"';
	}
	*to++ = '"';
	return to;
}

/* Writes a string as export_csv_cell() would after resolving its escapes. */
static char *put_string(char *to, const struct plain_value *v)
{
	const char *text = v->data, *end = v->data + v->size;

	if (v->size == 0)
		return to;
	*to++ = '"';
	if (strchr("=+-@|%", text[0]) || (text[0] == '\\' && (text[1] == 'n' || text[1] == 't')))
		*to++ = '\'';
	while (text < end) {
		/*
		 *
		 * and \t are kept escaped; after other backslashes the character itself is written.
		 */
		if (*text == '\\' && (text[1] == 'n' || text[1] == 't'))
			*to++ = *text++;
		else if (*text == '\\')
			text++;
		if (*text == '"')
			*to++ = '"';
		*to++ = *text++;
	}
	*to++ = '"';
	return to;
}

static char *put_value(char *to, const struct plain_value *v)
{
	if (v->kind == PLAIN_STRING)
		return put_string(to, v);
	if (v->kind == PLAIN_ARRAY)
		return put_quoted(to, v->data, v->size);
	return v->kind == PLAIN_INTEGER ? mempcpy(to, v->data, v->size) : to;
}

bool export_csv_line(FILE *out, struct buffer *buffer, const char *line, size_t size)
{
	struct row row = {};
	char *to;

	buffer->size = 0;
	if (!plain_json_walk(line, size, take_value, &row) ||
	    !buffer_reserve(buffer, 4 * size + 8 * ARRAY_SIZE(columns)))
		return false;
	to = buffer->data;
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		if (row.values[i].data)
			to = put_value(to, &row.values[i]);
		*to++ = ',';
	}
	to = put_quoted(to, line, size);
	*to++ = '\r';
	*to++ = '\n';
	fwrite_unlocked(buffer->data, 1, (size_t)(to - buffer->data), out);
	return true;
}
