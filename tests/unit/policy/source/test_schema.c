/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policies/policy.schema.json says what the parser says: its keys and words are those that the
 * parser lists when it is given one that it does not know, and nothing else.
 */
#include <jansson.h>

#include "tests/unit/policy/support.h"

#define UNKNOWN "qqqqqqqqqqqqqqqqqqqqqqqq"

/* The hint that the parser gives for this text; caller frees. */
static char *hint_for(const char *text)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	struct compiled_policy *p = NULL;

	assert_int_equal(policy_compile_text(text, strlen(text), "x.yaml", NULL, d, &p), -EINVAL);
	for (size_t i = 0; i < diagnostics_count(d); i++) {
		const struct diagnostic *e = diagnostics_at(d, i);

		if (strstr(e->message, UNKNOWN) && e->hint)
			return strdup(e->hint);
	}
	fail_msg("%s: no hint", text);
	return NULL;
}

/* How many words a hint lists behind its colon; each must be among the schema's. */
static size_t check_words(const char *hint, const char *where, json_t *words)
{
	const char *p = strchr(hint, ':');
	size_t count = 0;

	assert_non_null(p);
	for (p++; *p; p += strspn(p, ", ")) {
		size_t n;

		p += strspn(p, ", ");
		n = strcspn(p, ", ");
		if (n == 0)
			break;
		char word[64] = "";
		bool found = false;
		size_t i;
		json_t *item;

		memcpy(word, p, n);
		json_array_foreach(words, i, item)
			found |= strcmp(json_string_value(item), word) == 0;
		if (!found)
			fail_msg("%s: the schema lacks \"%s\"", where, word);
		count++;
		p += n;
	}
	return count;
}

/* Follows "a/b/c" from the schema's top, and each $ref on the way. */
static json_t *find(json_t *schema, const char *path)
{
	json_t *at = schema;
	const char *reference;

	while (*path) {
		char part[64] = "";
		size_t n = strcspn(path, "/");

		memcpy(part, path, n);
		at = json_object_get(at, part);
		assert_non_null(at);
		reference = json_string_value(json_object_get(at, "$ref"));
		if (reference)
			at = find(schema, reference + strlen("#/"));
		path += n + (path[n] == '/');
	}
	return at;
}

static json_t *load(void)
{
	json_error_t error;
	json_t *schema =
		json_load_file("policies/policy.schema.json", JSON_REJECT_DUPLICATES, &error);

	if (!schema)
		fail_msg("line %d: %s", error.line, error.text);
	return schema;
}

/* How many values below have the member: lists of words (`enum`), or of keys (`properties`). */
static size_t count_of(json_t *schema, const char *member)
{
	size_t count = json_object_get(schema, member) != NULL, i;
	const char *key;
	json_t *value;

	json_object_foreach(schema, key, value)
		count += count_of(value, member);
	json_array_foreach(schema, i, value)
		count += count_of(value, member);
	return count;
}

static void test_keys(void **state)
{
	static const struct {
		const char *path, *text;
	} cases[] = {
		{"", "version: 1\n" UNKNOWN ": 1\n"},
		{"$defs/exceptions", "version: 1\ninclude:\n  - {a: {" UNKNOWN ": 1}}\n"},
		{"properties/files/items", "version: 1\nfiles:\n  - {" UNKNOWN ": 1}\n"},
		{"properties/exec/items", "version: 1\nexec:\n  - {" UNKNOWN ": 1}\n"},
		{"properties/unix/items", "version: 1\nunix:\n  - {" UNKNOWN ": 1}\n"},
		{"properties/network/items", "version: 1\nnetwork:\n  - {" UNKNOWN ": 1}\n"},
		{"properties/process", "version: 1\nprocess: {" UNKNOWN ": 1}\n"},
		{"properties/limits", "version: 1\nlimits: {" UNKNOWN ": 1}\n"},
		{"properties/limits/properties/io", "version: 1\nlimits: {io: {" UNKNOWN ": 1}}\n"},
		{"properties/environment", "version: 1\nenvironment: {" UNKNOWN ": 1}\n"},
		{"properties/audit", "version: 1\naudit: {" UNKNOWN ": 1}\n"},
		{"properties/on_denial", "version: 1\non_denial: {" UNKNOWN ": 1}\n"},
	};
	json_t *schema = load();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(freep) char *hint = hint_for(cases[i].text);
		json_t *object = find(schema, cases[i].path), *words = json_array(), *value;
		const char *key;

		assert_true(json_is_false(json_object_get(object, "additionalProperties")));
		json_object_foreach(json_object_get(object, "properties"), key, value)
			json_array_append_new(words, json_string(key));
		if (check_words(hint, cases[i].path, words) != json_array_size(words))
			fail_msg("%s: the schema has keys beyond %s", cases[i].path, hint);
		json_decref(words);
	}
	/* None was forgotten above. */
	assert_int_equal(count_of(schema, "properties"), ARRAY_SIZE(cases));
	json_decref(schema);
}

static void test_words(void **state)
{
	static const struct {
		const char *path, *text;
	} cases[] = {
		{"properties/mode", "version: 1\nmode: " UNKNOWN "\n"},
		{"properties/process/properties/signal",
		 "version: 1\nprocess: {signal: " UNKNOWN "}\n"},
		{"properties/process/properties/trace",
		 "version: 1\nprocess: {trace: " UNKNOWN "}\n"},
		{"properties/process/properties/namespaces",
		 "version: 1\nprocess: {namespaces: " UNKNOWN "}\n"},
		{"properties/process/properties/system_calls",
		 "version: 1\nprocess: {system_calls: " UNKNOWN "}\n"},
		{"properties/process/properties/metadata",
		 "version: 1\nprocess: {metadata: " UNKNOWN "}\n"},
		{"properties/process/properties/special",
		 "version: 1\nprocess: {special: " UNKNOWN "}\n"},
		{"properties/process/properties/temporary",
		 "version: 1\nprocess: {temporary: " UNKNOWN "}\n"},
		{"properties/process/properties/terminals",
		 "version: 1\nprocess: {terminals: " UNKNOWN "}\n"},
		{"properties/process/properties/code",
		 "version: 1\nprocess: {code: " UNKNOWN "}\n"},
		{"properties/process/properties/descriptors",
		 "version: 1\nprocess: {descriptors: " UNKNOWN "}\n"},
		{"properties/coverage", "version: 1\ncoverage: " UNKNOWN "\n"},
		{"properties/process/properties/io_uring",
		 "version: 1\nprocess: {io_uring: " UNKNOWN "}\n"},
		{"properties/audit/properties/system_calls",
		 "version: 1\naudit: {system_calls: " UNKNOWN "}\n"},
		{"properties/audit/properties/opens", "version: 1\naudit: {opens: " UNKNOWN "}\n"},
		{"properties/audit/properties/connects",
		 "version: 1\naudit: {connects: " UNKNOWN "}\n"},
		{"properties/audit/properties/execs", "version: 1\naudit: {execs: " UNKNOWN "}\n"},
		{"properties/audit/properties/arguments",
		 "version: 1\naudit: {arguments: " UNKNOWN "}\n"},
		{"properties/on_denial/properties/action",
		 "version: 1\non_denial: {limit: 1, action: " UNKNOWN "}\n"},
		{"$defs/severity",
		 "version: 1\nfiles:\n  - {allow: [read], paths: [/a], severity: " UNKNOWN "}\n"},
		{"properties/files/items/properties/links",
		 "version: 1\nfiles:\n  - {allow: [write], paths: [/a], links: " UNKNOWN "}\n"},
		{"$defs/file_rights/items", "version: 1\nfiles:\n  - {allow: [" UNKNOWN "]}\n"},
		{"$defs/exec_rights/items", "version: 1\nexec:\n  - {allow: [" UNKNOWN "]}\n"},
		{"$defs/unix_rights/items", "version: 1\nunix:\n  - {deny: [" UNKNOWN "]}\n"},
		{"$defs/network_rights/items", "version: 1\nnetwork:\n  - {deny: [" UNKNOWN "]}\n"},
	};
	json_t *schema = load();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(freep) char *hint = hint_for(cases[i].text);
		json_t *words = json_object_get(find(schema, cases[i].path), "enum");

		if (check_words(hint, cases[i].path, words) != json_array_size(words))
			fail_msg("%s: the schema has words beyond %s", cases[i].path, hint);
	}
	assert_int_equal(count_of(schema, "enum"), ARRAY_SIZE(cases));
	json_decref(schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
