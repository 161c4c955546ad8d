/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "insight/story/denials.h"
#include "insight/export/export.h"
#include "insight/text/view.h"

/* OCSF 1.3: a class's uid is its category's times 1000 and a number. */
enum ocsf_class {
	CLASS_BASE = 0,
	CLASS_FILE = 1001,
	CLASS_PROCESS = 1007,
	CLASS_NETWORK = 4001,
	CLASS_DNS = 4003,
	CLASS_LIFECYCLE = 6002,
};

enum ocsf_activity {
	ACTIVITY_OTHER = 99,
	FILE_CREATE = 1,
	FILE_READ = 2,
	FILE_UPDATE = 3,
	FILE_DELETE = 4,
	FILE_RENAME = 5,
	FILE_SET_ATTRIBUTES = 6,
	FILE_SET_SECURITY = 7,
	FILE_MOUNT = 11,
	FILE_OPEN = 14,
	PROCESS_LAUNCH = 1,
	PROCESS_TERMINATE = 2,
	PROCESS_OPEN = 3,
	NETWORK_OPEN = 1,
	NETWORK_REFUSE = 5,
	NETWORK_LISTEN = 7,
	DNS_QUERY = 1,
	DNS_RESPONSE = 2,
	LIFECYCLE_START = 3,
	LIFECYCLE_STOP = 4,
};

struct kind {
	enum ocsf_class class;
	int activity;
};

static const struct {
	const char *operation;
	enum ocsf_class class;
	int activity;
} operations[] = {
	{"create", CLASS_FILE, FILE_CREATE},
	{"mkdir", CLASS_FILE, FILE_CREATE},
	{"mknod", CLASS_FILE, FILE_CREATE},
	{"symlink", CLASS_FILE, FILE_CREATE},
	{"link", CLASS_FILE, FILE_CREATE},
	{"unlink", CLASS_FILE, FILE_DELETE},
	{"rmdir", CLASS_FILE, FILE_DELETE},
	{"rename", CLASS_FILE, FILE_RENAME},
	{"truncate", CLASS_FILE, FILE_UPDATE},
	{"chmod", CLASS_FILE, FILE_SET_SECURITY},
	{"chown", CLASS_FILE, FILE_SET_SECURITY},
	{"setattr", CLASS_FILE, FILE_SET_ATTRIBUTES},
	{"setxattr", CLASS_FILE, FILE_SET_ATTRIBUTES},
	{"mount", CLASS_FILE, FILE_MOUNT},
	{"exec", CLASS_PROCESS, PROCESS_LAUNCH},
	{"signal", CLASS_PROCESS, PROCESS_TERMINATE},
	{"trace", CLASS_PROCESS, PROCESS_OPEN},
	{"listen", CLASS_NETWORK, NETWORK_LISTEN},
};

static bool has_right(const json_t *record, const char *right)
{
	const json_t *rights = view_field(record, "cordon.rights");

	for (size_t i = 0; i < json_array_size(rights); i++) {
		const char *is = json_string_value(json_array_get(rights, i));

		if (is && strcmp(is, right) == 0)
			return true;
	}
	return false;
}

static struct kind kind_of_access(const json_t *record)
{
	const char *operation = view_text(record, "cordon.operation");
	const char *object = view_text(record, "cordon.object.kind");
	struct kind kind = {CLASS_PROCESS, ACTIVITY_OTHER};

	for (size_t i = 0; operation && i < ARRAY_SIZE(operations); i++)
		if (strcmp(operations[i].operation, operation) == 0)
			return (struct kind){operations[i].class, operations[i].activity};
	if (object && (strcmp(object, "path") == 0 || strcmp(object, "special") == 0)) {
		kind.class = CLASS_FILE;
		if (operation && strcmp(operation, "open") == 0)
			kind.activity = has_right(record, "create")  ? FILE_CREATE
					: has_right(record, "write") ? FILE_UPDATE
					: has_right(record, "read")  ? FILE_READ
								     : FILE_OPEN;
	} else if (object && (strcmp(object, "net") == 0 || strcmp(object, "socket") == 0 ||
			      strcmp(object, "abstract") == 0)) {
		kind.class = CLASS_NETWORK;
		kind.activity = view_is_refused(record) ? NETWORK_REFUSE : NETWORK_OPEN;
	} else if (object && strcmp(object, "host") == 0) {
		kind.class = CLASS_DNS;
		kind.activity = DNS_QUERY;
	}
	return kind;
}

static struct kind kind_of(const json_t *record)
{
	static const struct {
		const char *action;
		struct kind kind;
	} kinds[] = {
		{"execution-start", {CLASS_PROCESS, PROCESS_LAUNCH}},
		{"execution-end", {CLASS_PROCESS, PROCESS_TERMINATE}},
		{"execution-refused", {CLASS_PROCESS, PROCESS_LAUNCH}},
		{"process-exec", {CLASS_PROCESS, PROCESS_LAUNCH}},
		{"process-exit", {CLASS_PROCESS, PROCESS_TERMINATE}},
		{"agent-start", {CLASS_LIFECYCLE, LIFECYCLE_START}},
		{"agent-stop", {CLASS_LIFECYCLE, LIFECYCLE_STOP}},
		{"resolve", {CLASS_DNS, DNS_RESPONSE}},
		{"gap", {CLASS_BASE, ACTIVITY_OTHER}},
	};
	const char *action = view_text(record, "event.action");

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (view_is(record, kinds[i].action))
			return kinds[i].kind;
	if (action && strncmp(action, "agent-", 6) == 0)
		return (struct kind){CLASS_LIFECYCLE, ACTIVITY_OTHER};
	if (view_text(record, "cordon.operation"))
		return kind_of_access(record);
	return (struct kind){CLASS_BASE, ACTIVITY_OTHER};
}

/* 1 informational to 5 critical. */
static int severity_of(const json_t *record)
{
	static const struct {
		const char *severity;
		int id;
	} severities[] = {{"low", 2}, {"medium", 3}, {"high", 4}, {"critical", 5}};
	const char *severity = view_text(record, "cordon.rule.severity");

	if (!view_is_denial(record))
		return view_is(record, "gap") || view_is(record, "execution-refused") ? 3 : 1;
	for (size_t i = 0; severity && i < ARRAY_SIZE(severities); i++)
		if (strcmp(severities[i].severity, severity) == 0)
			return severities[i].id;
	return view_is_refused(record) ? 3 : 2;
}

static void set_text(json_t *to, const char *key, const char *text)
{
	if (text)
		json_object_set_new(to, key, json_string(text));
}

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

static json_t *make_file(const char *path)
{
	json_t *file = json_pack("{s:s, s:i}", "name", base_name(path ? path : "?"), "type_id", 0);

	set_text(file, "path", path);
	return file;
}

static json_t *make_process(const json_t *record)
{
	const char *path = view_text(record, "process.executable");
	const char *name = view_text(record, "process.name");
	json_t *process = json_object();

	if (!name)
		name = view_text(record, "cordon.execution.program");
	set_text(process, "name", name);
	if (view_has_number(record, "process.pid"))
		json_object_set_new(process, "pid",
				    json_integer((json_int_t)view_number(record, "process.pid")));
	set_text(process, "uid", view_text(record, "process.entity_id"));
	if (path)
		json_object_set_new(process, "file", make_file(path));
	if (view_has_number(record, "process.parent.pid"))
		json_object_set_new(process, "parent_process",
				    json_pack("{s:I, s:s?}", "pid",
					      (json_int_t)view_number(record, "process.parent.pid"),
					      "uid",
					      view_text(record, "process.parent.entity_id")));
	return process;
}

static json_t *make_actor(const json_t *record)
{
	json_t *actor = json_pack("{s:o}", "process", make_process(record));
	json_t *user = json_object();

	set_text(user, "uid", view_text(record, "user.id"));
	json_object_set_new(actor, "user", user);
	if (view_text(record, "cordon.execution.session"))
		json_object_set_new(actor, "session",
				    json_pack("{s:s}", "uid",
					      view_text(record, "cordon.execution.session")));
	set_text(actor, "app_name", view_text(record, "cordon.execution.agent"));
	return actor;
}

static void add_verdict(json_t *to, const json_t *record)
{
	bool denied = view_is_refused(record) || view_is(record, "execution-refused");
	const json_t *rule = view_field(record, "cordon.rule");
	const char *outcome = view_text(record, "event.outcome");

	json_object_set_new(to, "action_id", json_integer(denied ? 2 : 1));
	/* blocked; logged; allowed */
	json_object_set_new(to, "disposition_id",
			    json_integer(denied				 ? 2
					 : view_is(record, "would-deny") ? 17
									 : 1));
	json_object_set_new(to, "status_id",
			    json_integer(!outcome			   ? 0
					 : strcmp(outcome, "success") == 0 ? 1
					 : strcmp(outcome, "failure") == 0 ? 2
									   : 0));
	if (view_is_denial(record))
		set_text(to, "status_detail", denial_reason_phrase(record));
	set_text(to, "status_code", view_text(record, "cordon.error"));
	if (json_is_object(rule)) {
		json_t *object = json_pack(
			"{s:o, s:s?, s:s?}", "uid",
			json_sprintf("%llu", (unsigned long long)view_number(rule, "number")),
			"name", view_text(rule, "text"), "desc", view_text(rule, "message"));

		json_object_set_new(to, "firewall_rule", object);
	}
	if (view_text(record, "cordon.policy.name"))
		json_object_set_new(to, "policy",
				    json_pack("{s:s, s:s?}", "name",
					      view_text(record, "cordon.policy.name"), "uid",
					      view_text(record, "cordon.policy.digest")));
}

/* A name that was refused is the object of an access; one that was looked up has its answers. */
static void add_resolution(json_t *to, const json_t *record)
{
	const char *name = view_is(record, "resolve") ? view_text(record, "dns.question.name")
						      : NULL;
	const json_t *address;
	json_t *answers;
	size_t i;

	json_object_set_new(to, "query",
			    json_pack("{s:s?}", "hostname",
				      name ? name : view_text(record, "cordon.object.text")));
	if (!name)
		return;
	answers = json_array();
	json_array_foreach(view_field(record, "dns.resolved_ip"), i, address)
		json_array_append_new(answers, json_pack("{s:O}", "rdata", address));
	json_object_set_new(to, "answers", answers);
}

static void add_object(json_t *to, const json_t *record, enum ocsf_class class)
{
	switch (class) {
	case CLASS_FILE:
		json_object_set_new(to, "file", make_file(view_text(record, "cordon.object.text")));
		break;
	case CLASS_PROCESS:
		json_object_set_new(to, "process", make_process(record));
		if (view_has_number(record, "process.exit_code"))
			json_object_set_new(
				to, "exit_code",
				json_integer((json_int_t)view_number(record, "process.exit_code")));
		break;
	case CLASS_NETWORK: {
		json_t *endpoint = json_object(), *connection = json_object();

		set_text(endpoint, "ip", view_text(record, "destination.ip"));
		set_text(endpoint, "hostname", view_text(record, "destination.domain"));
		if (view_has_number(record, "destination.port"))
			json_object_set_new(
				endpoint, "port",
				json_integer((json_int_t)view_number(record, "destination.port")));
		if (json_object_size(endpoint) == 0)
			set_text(endpoint, "name", view_text(record, "cordon.object.text"));
		json_object_set_new(to, "dst_endpoint", endpoint);
		set_text(connection, "protocol_name", view_text(record, "network.transport"));
		/* outbound */
		json_object_set_new(connection, "direction_id", json_integer(2));
		json_object_set_new(to, "connection_info", connection);
		break;
	}
	case CLASS_DNS:
		add_resolution(to, record);
		break;
	case CLASS_LIFECYCLE:
		json_object_set_new(to, "app",
				    json_pack("{s:s, s:s}", "name", "cordon", "vendor_name",
					      "cordon"));
		break;
	case CLASS_BASE:
		break;
	}
}

json_t *export_ocsf(const json_t *record, const struct export_source *source)
{
	struct kind kind = kind_of(record);
	_cleanup_(freep) char *phrase = NULL;
	json_t *to, *unmapped;

	to = json_pack(
		"{s:i, s:i, s:i, s:i, s:i, s:I, s:{s:s, s:{s:s, s:s, s:s}, s:[s, s], s:s, s:I}, s:{s:s?, "
		"s:i}}",
		"class_uid", (int)kind.class, "category_uid", (int)kind.class / 1000, "activity_id",
		kind.activity, "type_uid", (int)kind.class * 100 + kind.activity, "severity_id",
		severity_of(record), "time", (json_int_t)(view_time(record) / NSEC_PER_MSEC),
		"metadata", "version", EXPORT_OCSF_VERSION, "product", "name", "cordon",
		"vendor_name", "cordon", "version", source->version, "profiles", "host",
		"security_control", "log_name", "cordon.audit", "sequence",
		(json_int_t)view_number(record, "seq"), "device", "hostname", source->host,
		"type_id", 0);
	if (!to)
		return NULL;
	if (kind.activity == ACTIVITY_OTHER)
		set_text(to, "activity_name",
			 view_text(record, "cordon.operation")
				 ? view_text(record, "cordon.operation")
				 : view_text(record, "event.action"));
	if (view_text(record, "cordon.operation"))
		phrase = denial_phrase(record);
	set_text(to, "message", phrase ? phrase : view_text(record, "event.action"));
	if (view_text(record, "cordon.execution.id"))
		json_object_set_new(json_object_get(to, "metadata"), "correlation_uid",
				    json_string(view_text(record, "cordon.execution.id")));
	json_object_set_new(to, "actor", make_actor(record));
	add_verdict(to, record);
	add_object(to, record, kind.class);
	if (view_number(record, "cordon.repeats") > 0)
		json_object_set_new(
			to, "count",
			json_integer((json_int_t)view_number(record, "cordon.repeats") + 1));
	if (view_has_number(record, "event.duration"))
		json_object_set_new(
			to, "duration",
			json_integer((json_int_t)(view_number(record, "event.duration") /
						  NSEC_PER_MSEC)));
	/* Nothing of a record is left out. */
	unmapped = json_deep_copy(record);
	json_object_set_new(to, "unmapped", unmapped);
	return to;
}
