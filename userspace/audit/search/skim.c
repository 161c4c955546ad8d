/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the fields that an index needs from a line of JSON, without parsing all of it. */
#include "audit/search/skim.h"

#include <errno.h>
#include <jansson.h>
#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"

DEFINE_CLEANUP(json_t *, json_decref, skim_json_decrefp)

/* Deeper objects hold nothing that is wanted. */
#define DEPTH_MAX 3

enum node {
	NODE_ROOT,
	NODE_EVENT,
	NODE_PROCESS,
	NODE_FILE,
	NODE_DESTINATION,
	NODE_CORDON,
	NODE_EXECUTION,
	NODE_POLICY,
	NODE_OTHER,
};

struct member {
	const char *name;
	size_t size;
	enum node node;	       /* an object to look into, or NODE_OTHER */
	enum skim_field field; /* a string that is wanted, or SKIM_FIELD_COUNT */
};

#define OBJECT(name, node)  {name, sizeof(name) - 1, node, SKIM_FIELD_COUNT}
#define STRING(name, field) {name, sizeof(name) - 1, NODE_OTHER, field}

#define MEMBERS_MAX 6

static const struct member members[NODE_OTHER][MEMBERS_MAX + 1] = {
	[NODE_ROOT] = {STRING("@timestamp", SKIM_TIME), OBJECT("event", NODE_EVENT),
		       OBJECT("process", NODE_PROCESS), OBJECT("file", NODE_FILE),
		       OBJECT("cordon", NODE_CORDON), OBJECT("destination", NODE_DESTINATION)},
	[NODE_EVENT] = {STRING("action", SKIM_ACTION)},
	[NODE_PROCESS] = {STRING("executable", SKIM_EXECUTABLE)},
	[NODE_FILE] = {STRING("path", SKIM_PATH)},
	[NODE_DESTINATION] = {STRING("ip", SKIM_ADDRESS)},
	[NODE_CORDON] = {OBJECT("execution", NODE_EXECUTION), OBJECT("policy", NODE_POLICY),
			 STRING("operation", SKIM_OPERATION)},
	[NODE_EXECUTION] = {STRING("id", SKIM_EXECUTION), STRING("session", SKIM_SESSION),
			    STRING("agent", SKIM_AGENT)},
	[NODE_POLICY] = {STRING("name", SKIM_POLICY), STRING("digest", SKIM_DIGEST)},
};

const char *skim_field_name(enum skim_field field)
{
	static const char *const names[SKIM_FIELD_COUNT] = {
		[SKIM_TIME] = "@timestamp",
		[SKIM_ACTION] = "event.action",
		[SKIM_EXECUTION] = "cordon.execution.id",
		[SKIM_SESSION] = "cordon.execution.session",
		[SKIM_AGENT] = "cordon.execution.agent",
		[SKIM_POLICY] = "cordon.policy.name",
		[SKIM_DIGEST] = "cordon.policy.digest",
		[SKIM_OPERATION] = "cordon.operation",
		[SKIM_PATH] = "file.path",
		[SKIM_EXECUTABLE] = "process.executable",
		[SKIM_ADDRESS] = "destination.ip",
	};

	return names[field];
}

struct text {
	const char *at, *end;
};

/* Behind the quote that opens it; leaves `at` behind the one that closes it. */
static bool take_string(struct text *t, struct skim_value *ret)
{
	const char *at = t->at;

	*ret = (struct skim_value){.data = at};
	while (at < t->end && *at != '"') {
		if (*at == '\\') {
			ret->escaped = true;
			at++;
		}
		at++;
	}
	if (at >= t->end)
		return false;
	ret->size = (size_t)(at - ret->data);
	t->at = at + 1;
	return true;
}

/* Behind the bracket that opens it: to behind the one that closes it. */
static bool skip_nested(struct text *t)
{
	unsigned int depth = 1;
	struct skim_value ignored;

	while (t->at < t->end) {
		char c = *t->at++;

		if (c == '"') {
			if (!take_string(t, &ignored))
				return false;
		} else if (c == '{' || c == '[') {
			depth++;
		} else if ((c == '}' || c == ']') && --depth == 0) {
			return true;
		}
	}
	return false;
}

static void skip_space(struct text *t)
{
	while (t->at < t->end && strchr(" \t\r\n", *t->at) && *t->at)
		t->at++;
}

static void skip_scalar(struct text *t)
{
	while (t->at < t->end && *t->at != ',' && *t->at != '}' && *t->at != ']')
		t->at++;
}

static const struct member *find_member(enum node node, const struct skim_value *key)
{
	for (const struct member *m = members[node]; m->name; m++)
		if (m->size == key->size && memcmp(m->name, key->data, key->size) == 0)
			return m;
	return NULL;
}

/* `"key":`; -EBADMSG otherwise. */
static bool take_key(struct text *t, struct skim_value *ret_key)
{
	if (t->at >= t->end || *t->at != '"')
		return false;
	t->at++;
	if (!take_string(t, ret_key))
		return false;
	skip_space(t);
	if (t->at >= t->end || *t->at != ':')
		return false;
	t->at++;
	skip_space(t);
	return t->at < t->end;
}

/* Takes the value of a member; *ret_into: the node of an object that is to be looked into. */
static bool take_value(struct text *t, const struct member *member, struct skim *skim,
		       enum node *ret_into)
{
	struct skim_value value;
	char first = *t->at;

	*ret_into = NODE_OTHER;
	if (first == '"') {
		t->at++;
		if (!take_string(t, &value))
			return false;
		if (member && member->field != SKIM_FIELD_COUNT)
			skim->values[member->field] = value;
		return true;
	}
	if (first == '{' && member && member->node != NODE_OTHER) {
		t->at++;
		*ret_into = member->node;
		return true;
	}
	if (first == '{' || first == '[') {
		t->at++;
		return skip_nested(t);
	}
	skip_scalar(t);
	return true;
}

int skim_record(const char *line, size_t size, struct skim *ret_skim)
{
	struct text t = {line, line + size};
	enum node stack[DEPTH_MAX];
	struct skim skim = {0};
	size_t depth = 1;

	stack[0] = NODE_ROOT;
	skip_space(&t);
	if (t.at >= t.end || *t.at != '{')
		return -EBADMSG;
	t.at++;
	while (depth > 0) {
		struct skim_value key;
		enum node into;

		skip_space(&t);
		if (t.at >= t.end)
			return -EBADMSG;
		if (*t.at == '}') {
			t.at++;
			depth--;
			continue;
		}
		if (*t.at == ',') {
			t.at++;
			continue;
		}
		if (!take_key(&t, &key) ||
		    !take_value(&t, find_member(stack[depth - 1], &key), &skim, &into))
			return -EBADMSG;
		if (into != NODE_OTHER)
			stack[depth++] = into;
	}
	*ret_skim = skim;
	return 0;
}

int skim_decode(const struct skim_value *value, char *buffer, size_t capacity,
		const char **ret_text, size_t *ret_size)
{
	_cleanup_(skim_json_decrefp) json_t *string = NULL;

	if (!value->escaped) {
		*ret_text = value->data;
		*ret_size = value->size;
		return 0;
	}
	/* The quotes stand around it. */
	string = json_loadb(value->data - 1, value->size + 2, JSON_DECODE_ANY, NULL);
	if (!json_is_string(string))
		return -EBADMSG;
	if (json_string_length(string) > capacity)
		return -ENOBUFS;
	memcpy(buffer, json_string_value(string), json_string_length(string));
	*ret_text = buffer;
	*ret_size = json_string_length(string);
	return 0;
}
