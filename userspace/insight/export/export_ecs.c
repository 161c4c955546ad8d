/* SPDX-License-Identifier: Apache-2.0 */
/* Writes records as documents of the Elastic Common Schema. */
#include <string.h>

#include "audit/text/json_text.h"
#include "insight/export/export.h"

/* event.category and event.type, from ECS's closed lists. */
static const struct mapping {
	const char *action, *category, *type;
} mappings[] = {
	{"execution-start", "process", "start"},      {"execution-end", "process", "end"},
	{"execution-refused", "process", "denied"},   {"process-exec", "process", "start"},
	{"process-exit", "process", "end"},	      {"open", "file", "access"},
	{"connect", "network", "connection"},	      {"gap", "process", "info"},
	{"policy-change", "configuration", "change"}, {"approval", "configuration", "change"},
	{"resolve", "network", "protocol"},	      {"traffic", "network", "end"},
};

/* Returns ECS's type for a change of a file, for operations that create or delete names. */
static const char *type_of_change(const struct flat_record *f)
{
	static const struct {
		const char *operation, *type;
	} types[] = {
		{"create", "creation"}, {"mkdir", "creation"},	 {"mknod", "creation"},
		{"link", "creation"},	{"symlink", "creation"}, {"unlink", "deletion"},
		{"rmdir", "deletion"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (flat_is(f, FLAT_OPERATION, types[i].operation))
			return types[i].type;
	return "change";
}

/* The category of a denial follows from its object. */
static const char *category_of(const struct flat_record *f)
{
	static const struct {
		const char *kind, *category;
	} kinds[] = {
		{"path", "file"},      {"special", "file"},	{"net", "network"},
		{"socket", "network"}, {"abstract", "network"}, {"host", "network"},
	};

	if (flat_is(f, FLAT_OPERATION, "exec"))
		return "process";
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (flat_is(f, FLAT_OBJECT_KIND, kinds[i].kind))
			return kinds[i].category;
	return "process";
}

/* ECS has no type "denied" or "allowed" for files and processes, so add category and type. */
static void put_categories(struct buffer *out, const char *category, bool decided)
{
	json_text_key(out, "category");
	buffer_literal(out, "[\"");
	buffer_string(out, category);
	buffer_literal(out, "\"");
	if (decided && strcmp(category, "network") != 0)
		buffer_literal(out, ",\"intrusion_detection\"");
	buffer_literal(out, "]");
}

static void put_types(struct buffer *out, const struct flat_record *f)
{
	const char *category = NULL, *type = "info";
	bool allowed = false, decided;

	for (size_t i = 0; i < ARRAY_SIZE(mappings); i++)
		if (flat_is(f, FLAT_EVENT_ACTION, mappings[i].action)) {
			category = mappings[i].category;
			type = mappings[i].type;
		}
	decided = flat_is_denial(f) || strcmp(type, "denied") == 0;
	if (flat_is_refused(f)) {
		type = "denied";
	} else if (flat_is(f, FLAT_EVENT_ACTION, "would-deny")) {
		type = "allowed";
	} else if (flat_is(f, FLAT_EVENT_ACTION, "change")) {
		type = type_of_change(f);
		allowed = true;
	} else if (flat_is(f, FLAT_EVENT_ACTION, "connect") ||
		   flat_is(f, FLAT_EVENT_ACTION, "open")) {
		allowed = true;
	}
	if (!category)
		category = category_of(f);
	put_categories(out, category, decided || allowed);
	buffer_literal(out, ",\"type\":[\"");
	buffer_string(out, type);
	buffer_literal(out, "\"");
	if (allowed)
		buffer_literal(out, ",\"allowed\"");
	buffer_literal(out, "]");
}

static void put_event(struct buffer *out, const struct flat_record *f)
{
	put_types(out, f);
	buffer_literal(out, ",\"module\":\"cordon\",\"dataset\":\"cordon.audit\","
			    "\"provider\":\"cordon\",\"sequence\":");
	buffer_number(out, flat_number(f, FLAT_SEQ));
	flat_put_text(out, "hash", f, FLAT_CHAIN);
	if (flat_is_denial(f)) {
		buffer_literal(out, ",\"reason\":\"");
		buffer_string(out, flat_reason(f));
		buffer_literal(out, "\"");
	}
}

static bool is_object(const struct flat_record *f, enum flat_field field)
{
	return f->values[field].data && f->values[field].kind == PLAIN_OBJECT;
}

/* Writes the deciding rule as ECS's rule.*. */
static void put_rule(struct buffer *out, const struct flat_record *f)
{
	const struct plain_value *file = flat_text(f, FLAT_RULE_FILE);

	json_text_key(out, "rule");
	buffer_literal(out, "{\"id\":\"");
	buffer_number(out, flat_number(f, FLAT_RULE_NUMBER));
	buffer_literal(out, "\"");
	flat_put_text(out, "name", f, FLAT_RULE_TEXT);
	flat_put_text(out, "description", f, FLAT_RULE_MESSAGE);
	if (file) {
		json_text_key(out, "reference");
		buffer_literal(out, "\"");
		buffer_add(out, file->data, file->size);
		buffer_literal(out, ":");
		buffer_number(out, flat_number(f, FLAT_RULE_LINE));
		buffer_literal(out, "\"");
	}
	flat_put_text(out, "ruleset", f, FLAT_POLICY_NAME);
	buffer_literal(out, "}");
}

static void put_message(struct buffer *out, const struct flat_record *f)
{
	const struct plain_value *text = flat_text(f, FLAT_ERROR_MESSAGE);

	json_text_key(out, "message");
	if (!text)
		text = flat_text(f, FLAT_EVENT_ACTION);
	if (flat_text(f, FLAT_OPERATION))
		flat_put_phrase(out, f);
	else if (text)
		flat_put(out, text);
	else
		buffer_literal(out, "null");
}

/* Writes an id of the caller's trace, unless the record has a trace. */
static void put_id(struct buffer *out, const char *key, const struct flat_record *f,
		   enum flat_field own, enum flat_field of_caller)
{
	if (f->values[own].data || !flat_text(f, of_caller))
		return;
	json_text_key(out, key);
	buffer_literal(out, "{\"id\":");
	flat_put(out, flat_text(f, of_caller));
	buffer_literal(out, "}");
}

/* Writes the last members of the record's object. */
static void put_rest(struct buffer *out, const struct flat_record *f,
		     const struct export_source *source)
{
	if (!f->values[FLAT_EVENT].data) {
		json_text_key(out, "event");
		buffer_literal(out, "{");
		put_event(out, f);
		buffer_literal(out, "}");
	}
	if (is_object(f, FLAT_CORDON_RULE))
		put_rule(out, f);
	put_message(out, f);
	put_id(out, "trace", f, FLAT_TRACE, FLAT_CALLER_TRACE);
	put_id(out, "span", f, FLAT_SPAN, FLAT_CALLER_SPAN);
	buffer_literal(out, ",\"ecs\":{\"version\":\"" EXPORT_ECS_VERSION "\"}");
	/* A record with a host has more data about it. */
	if (source->host && !f->values[FLAT_HOST].data) {
		buffer_literal(out, ",\"host\":{\"name\":");
		json_text_string(out, source->host, strlen(source->host));
		buffer_literal(out, "}");
	}
}

/* The log's own fields, and process.signal, which ECS lacks, are moved below cordon. */
static const struct {
	const char *key;
	enum flat_field from, to;
} moved[] = {
	{"signal", FLAT_PROCESS_SIGNAL, FLAT_CORDON_SIGNAL},
	{"seq", FLAT_SEQ, FLAT_CORDON_SEQ},
	{"chain", FLAT_CHAIN, FLAT_CORDON_CHAIN},
};

static void put_moved(struct buffer *out, const struct flat_record *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(moved); i++)
		if (f->values[moved[i].from].data) {
			json_text_key(out, moved[i].key);
			flat_put(out, &f->values[moved[i].from]);
		}
}

/* --- the record's line with inserted and removed members -------------------------------------- */

#define SPLICES_MAX 24u

/* A part of the line that is replaced. */
struct splice {
	const char *from, *to;
	enum flat_field end_of; /* an object that ends here; FLAT_FIELDS: none */
};

struct splices {
	struct splice items[SPLICES_MAX];
	size_t count;
};

/* Inserts in the order of the line. */
static void add_splice(struct splices *s, struct splice splice)
{
	size_t i = s->count++;

	for (; i > 0 && s->items[i - 1].from > splice.from; i--)
		s->items[i] = s->items[i - 1];
	s->items[i] = splice;
}

/* Inserts before the object's closing brace. */
static void end_object(struct splices *s, const struct flat_record *f, enum flat_field field)
{
	const struct plain_value *v = &f->values[field];

	if (is_object(f, field))
		add_splice(s, (struct splice){v->data + v->size - 1, v->data + v->size - 1, field});
}

static void leave_out(struct splices *s, const struct flat_record *f, enum flat_field field)
{
	const struct plain_value *v = &f->values[field];
	size_t quote = v->kind == PLAIN_STRING;

	if (v->data)
		add_splice(s, (struct splice){v->data - quote - strlen(flat_name(field)) - 3,
					      v->data + v->size + quote, FLAT_FIELDS});
}

static void leave_out_others(struct splices *s, const struct flat_record *f)
{
	static const enum flat_field replaced[] = {
		FLAT_SEQ,
		FLAT_CHAIN,
		FLAT_MESSAGE,
		FLAT_ECS,
		FLAT_EVENT_CATEGORY,
		FLAT_EVENT_TYPE,
		FLAT_EVENT_MODULE,
		FLAT_EVENT_DATASET,
		FLAT_EVENT_PROVIDER,
		FLAT_EVENT_SEQUENCE,
	};

	for (size_t i = 0; i < ARRAY_SIZE(replaced); i++)
		leave_out(s, f, replaced[i]);
	if (flat_text(f, FLAT_CHAIN))
		leave_out(s, f, FLAT_EVENT_HASH);
	if (flat_is_denial(f))
		leave_out(s, f, FLAT_EVENT_REASON);
	if (is_object(f, FLAT_CORDON_RULE))
		leave_out(s, f, FLAT_RULE);
	if (!is_object(f, FLAT_CORDON))
		return;
	leave_out(s, f, FLAT_PROCESS_SIGNAL);
	for (size_t i = 0; i < ARRAY_SIZE(moved); i++)
		if (f->values[moved[i].from].data)
			leave_out(s, f, moved[i].to);
}

/* Copies the line up to `to`, except commas next to a removed member. */
static void put_part(struct buffer *out, const char *at, const char *to, bool left_out)
{
	/* The object's first member was removed. */
	if (at < to && *at == ',' && out->size > 0 && out->data[out->size - 1] == '{')
		at++;
	buffer_add(out, at, (size_t)(to - at));
	if (left_out && at < to && to[-1] == ',')
		out->size--;
}

void export_ecs(struct buffer *out, const struct flat_record *f, const struct export_source *source)
{
	const char *at = f->line, *end = f->line + f->size - 1;
	struct splices s = {};

	leave_out_others(&s, f);
	end_object(&s, f, FLAT_EVENT);
	end_object(&s, f, FLAT_CORDON);
	for (size_t i = 0; i < s.count; i++) {
		const struct splice *splice = &s.items[i];

		put_part(out, at, splice->from, splice->from < splice->to);
		at = splice->to;
		if (splice->end_of == FLAT_EVENT)
			put_event(out, f);
		else if (splice->end_of == FLAT_CORDON)
			put_moved(out, f);
	}
	put_part(out, at, end, false);
	put_rest(out, f, source);
	buffer_literal(out, "}");
}
