/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/cleanup.h"
#include "insight/story/denials.h"
#include "insight/export/export.h"
#include "insight/text/view.h"

/* event.category and event.type, from ECS's closed lists. */
static const struct mapping {
	const char *action, *category, *type;
} mappings[] = {
	{"execution-start", "process", "start"},      {"execution-end", "process", "end"},
	{"execution-refused", "process", "denied"},   {"process-exec", "process", "start"},
	{"process-exit", "process", "end"},	      {"open", "file", "access"},
	{"connect", "network", "connection"},	      {"gap", "process", "error"},
	{"policy-change", "configuration", "change"}, {"approval", "configuration", "change"},
	{"resolve", "network", "protocol"},
};

/* Of what changes a file, by ECS's words for names that come and go. */
static const char *type_of_change(const json_t *record)
{
	static const struct {
		const char *operation, *type;
	} types[] = {
		{"create", "creation"}, {"mkdir", "creation"},	 {"mknod", "creation"},
		{"link", "creation"},	{"symlink", "creation"}, {"unlink", "deletion"},
		{"rmdir", "deletion"},
	};
	const char *operation = view_text(record, "cordon.operation");

	for (size_t i = 0; operation && i < ARRAY_SIZE(types); i++)
		if (strcmp(types[i].operation, operation) == 0)
			return types[i].type;
	return "change";
}

/* A denial's category follows from what it was about. */
static const char *category_of(const json_t *record)
{
	const char *kind = view_text(record, "cordon.object.kind");
	const char *operation = view_text(record, "cordon.operation");

	if (operation && strcmp(operation, "exec") == 0)
		return "process";
	if (kind && (strcmp(kind, "path") == 0 || strcmp(kind, "special") == 0))
		return "file";
	if (kind && (strcmp(kind, "net") == 0 || strcmp(kind, "socket") == 0 ||
		     strcmp(kind, "abstract") == 0 || strcmp(kind, "host") == 0))
		return "network";
	return "process";
}

static void add_event(json_t *event, const json_t *record)
{
	const char *category = category_of(record), *type = "info";
	const char *second = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(mappings); i++)
		if (view_is(record, mappings[i].action)) {
			category = mappings[i].category;
			type = mappings[i].type;
		}
	if (view_is_refused(record)) {
		type = "denied";
	} else if (view_is(record, "would-deny")) {
		type = "allowed";
	} else if (view_is(record, "change")) {
		type = type_of_change(record);
		second = "allowed";
	} else if (view_is(record, "connect") || view_is(record, "open")) {
		second = "allowed";
	}
	json_object_set_new(event, "category", json_pack("[s]", category));
	json_object_set_new(event, "type",
			    second ? json_pack("[s, s]", type, second) : json_pack("[s]", type));
	json_object_set_new(event, "module", json_string("cordon"));
	json_object_set_new(event, "dataset", json_string("cordon.audit"));
	json_object_set_new(event, "provider", json_string("cordon"));
	json_object_set_new(event, "sequence",
			    json_integer((json_int_t)view_number(record, "seq")));
	if (view_text(record, "chain"))
		json_object_set_new(event, "hash", json_string(view_text(record, "chain")));
	if (view_is_denial(record))
		json_object_set_new(event, "reason", json_string(denial_reason_phrase(record)));
}

/* The rule that decided, in ECS's rule.*. */
static void add_rule(json_t *to, const json_t *record)
{
	const json_t *rule = view_field(record, "cordon.rule");
	json_t *object;

	if (!json_is_object(rule))
		return;
	object = json_object();
	json_object_set_new(object, "id",
			    json_sprintf("%lld", (long long)view_number(rule, "number")));
	if (view_text(rule, "text"))
		json_object_set_new(object, "name", json_string(view_text(rule, "text")));
	if (view_text(rule, "message"))
		json_object_set_new(object, "description", json_string(view_text(rule, "message")));
	if (view_text(rule, "file"))
		json_object_set_new(object, "reference",
				    json_sprintf("%s:%llu", view_text(rule, "file"),
						 (unsigned long long)view_number(rule, "line")));
	if (view_text(record, "cordon.policy.name"))
		json_object_set_new(object, "ruleset",
				    json_string(view_text(record, "cordon.policy.name")));
	json_object_set_new(to, "rule", object);
}

static void add_message(json_t *to, const json_t *record)
{
	_cleanup_(freep) char *phrase = NULL;
	const char *text = view_text(record, "error.message");

	if (view_text(record, "cordon.operation"))
		phrase = denial_phrase(record);
	if (phrase)
		text = phrase;
	if (!text)
		text = view_text(record, "event.action");
	json_object_set_new(to, "message", text ? json_string(text) : json_null());
}

json_t *export_ecs(const json_t *record, const struct export_source *source)
{
	json_t *to = json_deep_copy(record), *event, *process, *signal_name, *cordon;

	if (!to)
		return NULL;
	event = json_object_get(to, "event");
	if (!event) {
		event = json_object();
		json_object_set_new(to, "event", event);
	}
	add_event(event, record);
	add_rule(to, record);
	add_message(to, record);
	json_object_set_new(to, "ecs", json_pack("{s:s}", "version", EXPORT_ECS_VERSION));
	/* A record that names a host says more of it. */
	if (source->host && !json_object_get(to, "host"))
		json_object_set_new(to, "host", json_pack("{s:s}", "name", source->host));
	/* The log's own fields, and process.signal, which ECS does not know, go below cordon. */
	cordon = json_object_get(to, "cordon");
	process = json_object_get(to, "process");
	signal_name = json_object_get(process, "signal");
	if (signal_name && cordon) {
		json_object_set(cordon, "signal", signal_name);
		json_object_del(process, "signal");
	}
	if (cordon) {
		json_object_set(cordon, "seq", json_object_get(to, "seq"));
		json_object_set(cordon, "chain", json_object_get(to, "chain"));
	}
	json_object_del(to, "seq");
	json_object_del(to, "chain");
	return to;
}
