/* SPDX-License-Identifier: Apache-2.0 */
/* Extracts a row's columns from a record. */
#include "fleet/store/row.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "insight/text/view.h"

/* Directories that a template names; deeper ones become "**". */
#define TEMPLATE_DEPTH 3
/* Hexadecimal words with at least this many digits count as identifiers. */
#define TEMPLATE_HEX_MIN    8
#define TEMPLATE_WORD_MAX   48
#define TEMPLATE_ENDING_MAX 8

static void add(char template[ROW_TEXT_SIZE], const char *text, size_t size)
{
	size_t used = strlen(template);

	if (size > ROW_TEXT_SIZE - 1 - used)
		size = ROW_TEXT_SIZE - 1 - used;
	memcpy(template + used, text, size);
	template[used + size] = '\0';
}

static bool is_identifier(const char *word, size_t size)
{
	size_t digits = 0;

	if (size > TEMPLATE_WORD_MAX)
		return true;
	for (size_t i = 0; i < size; i++) {
		if (!isxdigit((unsigned char)word[i]) && word[i] != '-')
			return false;
		digits += isdigit((unsigned char)word[i]) ? 1 : 0;
	}
	return size >= TEMPLATE_HEX_MIN && digits > 0;
}

static void add_word(char template[ROW_TEXT_SIZE], const char *word, size_t size)
{
	if (is_identifier(word, size)) {
		add(template, "*", 1);
		return;
	}
	for (size_t i = 0; i < size; i++) {
		if (!isdigit((unsigned char)word[i]))
			add(template, word + i, 1);
		else if (i == 0 || !isdigit((unsigned char)word[i - 1]))
			add(template, "#", 1);
	}
}

/* Adds "*.py" for a path below the named directories. */
static void add_ending(char template[ROW_TEXT_SIZE], const char *name)
{
	const char *dot = strrchr(name, '.');

	add(template, "/**/*", 5);
	if (dot && dot > name && strlen(dot) <= TEMPLATE_ENDING_MAX)
		add_word(template, dot, strlen(dot));
}

void row_path_template(const char *path, char ret_template[ROW_TEXT_SIZE])
{
	bool is_home = false;

	ret_template[0] = '\0';
	for (unsigned int depth = 0; *path; depth++) {
		size_t size;

		if (*path == '/' && depth == TEMPLATE_DEPTH && strchr(path + 1, '/')) {
			add_ending(ret_template, strrchr(path, '/') + 1);
			return;
		}
		if (*path == '/')
			add(ret_template, path++, 1);
		size = strcspn(path, "/");
		if (is_home)
			add(ret_template, "*", 1);
		else
			add_word(ret_template, path, size);
		is_home = depth == 0 && size == 4 && strncmp(path, "home", 4) == 0;
		path += size;
	}
}

static const char *text_or_empty(const json_t *record, const char *name)
{
	const char *text = view_text(record, name);

	return text ? text : "";
}

static void set_rule(const json_t *record, char rule[ROW_TEXT_SIZE])
{
	const char *file = view_text(record, "cordon.rule.file");

	if (file)
		(void)snprintf(rule, ROW_TEXT_SIZE, "%.200s:%" PRIu64, file,
			       view_number(record, "cordon.rule.line"));
	else
		(void)snprintf(rule, ROW_TEXT_SIZE, "%.200s",
			       text_or_empty(record, "cordon.reason"));
}

static void set_template(const json_t *record, char template[ROW_TEXT_SIZE])
{
	const char *path = view_text(record, "file.path");

	template[0] = '\0';
	if (!path)
		path = view_text(record, "process.executable");
	if (path)
		row_path_template(path, template);
	else if (view_has_number(record, "destination.port"))
		(void)snprintf(template, ROW_TEXT_SIZE, "%.16s:%" PRIu64,
			       text_or_empty(record, "network.transport"),
			       view_number(record, "destination.port"));
	else
		(void)snprintf(template, ROW_TEXT_SIZE, "%.32s",
			       text_or_empty(record, "cordon.object.kind"));
}

void row_from_record(const json_t *record, uint64_t sequence, struct row *ret_row)
{
	*ret_row = (struct row){
		.sequence = sequence,
		.time = text_or_empty(record, "@timestamp"),
		.action = text_or_empty(record, "event.action"),
		.execution = text_or_empty(record, "cordon.execution.id"),
		.policy = text_or_empty(record, "cordon.policy.name"),
		.digest = text_or_empty(record, "cordon.policy.digest"),
		.operation = text_or_empty(record, "cordon.operation"),
	};
	set_rule(record, ret_row->rule);
	set_template(record, ret_row->template);
}

const char *row_host_name(const json_t *record)
{
	const char *name = view_text(record, "host.name");

	return name ? name : view_text(record, "cordon.agent.host");
}
