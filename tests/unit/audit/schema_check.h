/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks JSON against a JSON Schema, for the keywords that docs/audit.schema.json uses. A keyword
 * that it does not know is an error, so that nothing is left unchecked in silence.
 */
#ifndef CORDON_TESTS_AUDIT_SCHEMA_CHECK_H
#define CORDON_TESTS_AUDIT_SCHEMA_CHECK_H

#include <jansson.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct schema_check {
	const json_t *root;
	char error[512];
};

static bool schema_valid(struct schema_check *c, const json_t *schema, const json_t *value,
			 const char *where);

static bool schema_fail(struct schema_check *c, const char *where, const char *what,
			const char *detail)
{
	snprintf(c->error, sizeof(c->error), "%s: %s %s", where, what, detail ? detail : "");
	return false;
}

static bool schema_match(const char *pattern, const char *text)
{
	/* Compiled once each: a log has many records. */
	static struct {
		const char *pattern;
		regex_t regex;
	} known[64];
	size_t i = 0;

	while (i < 63 && known[i].pattern && strcmp(known[i].pattern, pattern) != 0)
		i++;
	if (known[i].pattern && strcmp(known[i].pattern, pattern) != 0) {
		regfree(&known[i].regex);
		free((char *)known[i].pattern);
		known[i].pattern = NULL;
	}
	if (!known[i].pattern) {
		if (regcomp(&known[i].regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
			return false;
		known[i].pattern = strdup(pattern);
	}
	return regexec(&known[i].regex, text, 0, NULL, 0) == 0;
}

static bool schema_is_type(const char *type, const json_t *value)
{
	return (strcmp(type, "object") == 0 && json_is_object(value)) ||
	       (strcmp(type, "array") == 0 && json_is_array(value)) ||
	       (strcmp(type, "string") == 0 && json_is_string(value)) ||
	       (strcmp(type, "integer") == 0 && json_is_integer(value)) ||
	       (strcmp(type, "boolean") == 0 && json_is_boolean(value)) ||
	       (strcmp(type, "null") == 0 && json_is_null(value));
}

static bool schema_type(struct schema_check *c, const json_t *types, const json_t *value,
			const char *where)
{
	if (json_is_string(types) && schema_is_type(json_string_value(types), value))
		return true;
	for (size_t i = 0; i < json_array_size(types); i++)
		if (schema_is_type(json_string_value(json_array_get(types, i)), value))
			return true;
	return schema_fail(c, where, "wrong type", NULL);
}

static bool schema_one_of_values(struct schema_check *c, const json_t *values, const json_t *value,
				 const char *where)
{
	for (size_t i = 0; i < json_array_size(values); i++)
		if (json_equal(json_array_get(values, i), value))
			return true;
	return schema_fail(c, where, "not among the values", json_string_value(value));
}

static bool schema_required(struct schema_check *c, const json_t *names, const json_t *value,
			    const char *where)
{
	for (size_t i = 0; json_is_object(value) && i < json_array_size(names); i++) {
		const char *name = json_string_value(json_array_get(names, i));

		if (!json_object_get(value, name))
			return schema_fail(c, where, "missing", name);
	}
	return true;
}

/* properties, patternProperties and additionalProperties: false, together. */
static bool schema_members(struct schema_check *c, const json_t *schema, const json_t *value,
			   const char *where)
{
	const json_t *properties = json_object_get(schema, "properties");
	const json_t *patterns = json_object_get(schema, "patternProperties");
	bool closed = json_is_false(json_object_get(schema, "additionalProperties"));
	const char *name, *pattern;
	json_t *member, *sub;

	json_object_foreach((json_t *)value, name, member) {
		char inner[256];
		bool known = false;

		snprintf(inner, sizeof(inner), "%s.%s", where, name);
		sub = json_object_get(properties, name);
		if (sub) {
			known = true;
			if (!schema_valid(c, sub, member, inner))
				return false;
		}
		json_object_foreach((json_t *)patterns, pattern, sub) {
			if (known || !schema_match(pattern, name))
				continue;
			known = true;
			if (!schema_valid(c, sub, member, inner))
				return false;
		}
		if (!known && closed)
			return schema_fail(c, where, "unknown member", name);
	}
	return true;
}

static bool schema_any_of(struct schema_check *c, const json_t *schemas, const json_t *value,
			  const char *where)
{
	for (size_t i = 0; i < json_array_size(schemas); i++)
		if (schema_valid(c, json_array_get(schemas, i), value, where))
			return true;
	return false;
}

static const json_t *schema_resolve(const struct schema_check *c, const char *reference)
{
	static const char prefix[] = "#/$defs/";

	if (strncmp(reference, prefix, sizeof(prefix) - 1) != 0)
		return NULL;
	return json_object_get(json_object_get(c->root, "$defs"), reference + sizeof(prefix) - 1);
}

static bool schema_conditional(struct schema_check *c, const json_t *schema, const json_t *value,
			       const char *where)
{
	struct schema_check quiet = {.root = c->root};

	return !schema_valid(&quiet, json_object_get(schema, "if"), value, where) ||
	       schema_valid(c, json_object_get(schema, "then"), value, where);
}

static bool schema_keyword(struct schema_check *c, const json_t *schema, const char *keyword,
			   const json_t *rule, const json_t *value, const char *where)
{
	static const char *const elsewhere[] = {
		"$schema",
		"$defs",
		"title",
		"description",
		"then",
		"patternProperties",
		"additionalProperties",
	};

	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
		if (strcmp(keyword, elsewhere[i]) == 0)
			return true;
	if (strcmp(keyword, "type") == 0)
		return schema_type(c, rule, value, where);
	if (strcmp(keyword, "enum") == 0)
		return schema_one_of_values(c, rule, value, where);
	if (strcmp(keyword, "const") == 0)
		return json_equal(rule, value) || schema_fail(c, where, "not the value", NULL);
	if (strcmp(keyword, "required") == 0)
		return schema_required(c, rule, value, where);
	if (strcmp(keyword, "properties") == 0)
		return schema_members(c, schema, value, where);
	if (strcmp(keyword, "anyOf") == 0)
		return schema_any_of(c, rule, value, where);
	if (strcmp(keyword, "if") == 0)
		return schema_conditional(c, schema, value, where);
	if (strcmp(keyword, "pattern") == 0)
		return !json_is_string(value) ||
		       schema_match(json_string_value(rule), json_string_value(value)) ||
		       schema_fail(c, where, "does not match", json_string_value(rule));
	if (strcmp(keyword, "minimum") == 0)
		return !json_is_integer(value) ||
		       json_integer_value(value) >= json_integer_value(rule) ||
		       schema_fail(c, where, "too small", NULL);
	if (strcmp(keyword, "maximum") == 0)
		return !json_is_integer(value) ||
		       json_integer_value(value) <= json_integer_value(rule) ||
		       schema_fail(c, where, "too large", NULL);
	if (strcmp(keyword, "$ref") == 0) {
		const json_t *target = schema_resolve(c, json_string_value(rule));

		return target ? schema_valid(c, target, value, where)
			      : schema_fail(c, where, "dangling reference",
					    json_string_value(rule));
	}
	if (strcmp(keyword, "items") == 0 || strcmp(keyword, "allOf") == 0) {
		bool items = strcmp(keyword, "items") == 0;

		for (size_t i = 0; i < json_array_size(items ? value : rule); i++)
			if (!schema_valid(c, items ? rule : json_array_get(rule, i),
					  items ? json_array_get(value, i) : value, where))
				return false;
		return true;
	}
	return schema_fail(c, where, "unknown keyword", keyword);
}

static bool schema_valid(struct schema_check *c, const json_t *schema, const json_t *value,
			 const char *where)
{
	const char *keyword;
	json_t *rule;

	if (!json_is_object(schema))
		return schema_fail(c, where, "no schema", NULL);
	json_object_foreach((json_t *)schema, keyword, rule)
		if (!schema_keyword(c, schema, keyword, rule, value, where))
			return false;
	return true;
}

#endif
