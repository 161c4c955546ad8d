/* SPDX-License-Identifier: Apache-2.0 */
/* Writes records as events of the Open Cybersecurity Schema Framework. */
#include <string.h>

#include "audit/text/json_text.h"
#include "base/clock.h"
#include "insight/export/export.h"
#include "insight/text/view.h"

/* OCSF 1.8: a class's uid is 1000 times its category's plus a number. */
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
	NETWORK_TRAFFIC = 6,
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

static bool has_right(const struct flat_record *f, const char *right)
{
	struct plain_value is = {};

	while (flat_next(f, FLAT_RIGHTS, &is))
		if (is.kind == PLAIN_STRING && is.size == strlen(right) &&
		    memcmp(is.data, right, is.size) == 0)
			return true;
	return false;
}

static int activity_of_open(const struct flat_record *f)
{
	return has_right(f, "create")  ? FILE_CREATE
	       : has_right(f, "write") ? FILE_UPDATE
	       : has_right(f, "read")  ? FILE_READ
				       : FILE_OPEN;
}

static struct kind kind_of_access(const struct flat_record *f)
{
	static const char *const network[] = {"net", "socket", "abstract"};
	struct kind kind = {CLASS_PROCESS, ACTIVITY_OTHER};

	for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
		if (flat_is(f, FLAT_OPERATION, operations[i].operation))
			return (struct kind){operations[i].class, operations[i].activity};
	if (flat_is(f, FLAT_OBJECT_KIND, "path") || flat_is(f, FLAT_OBJECT_KIND, "special")) {
		kind.class = CLASS_FILE;
		if (flat_is(f, FLAT_OPERATION, "open"))
			kind.activity = activity_of_open(f);
	} else if (flat_is(f, FLAT_OBJECT_KIND, "host")) {
		kind.class = CLASS_DNS;
		kind.activity = DNS_QUERY;
	}
	for (size_t i = 0; i < ARRAY_SIZE(network); i++)
		if (flat_is(f, FLAT_OBJECT_KIND, network[i])) {
			kind.class = CLASS_NETWORK;
			kind.activity = flat_is_refused(f) ? NETWORK_REFUSE : NETWORK_OPEN;
		}
	return kind;
}

static struct kind kind_of(const struct flat_record *f)
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
		{"traffic", {CLASS_NETWORK, NETWORK_TRAFFIC}},
		{"gap", {CLASS_BASE, ACTIVITY_OTHER}},
	};
	const struct plain_value *action = flat_text(f, FLAT_EVENT_ACTION);

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (flat_is(f, FLAT_EVENT_ACTION, kinds[i].action))
			return kinds[i].kind;
	if (action && action->size > 6 && memcmp(action->data, "agent-", 6) == 0)
		return (struct kind){CLASS_LIFECYCLE, ACTIVITY_OTHER};
	if (flat_text(f, FLAT_OPERATION))
		return kind_of_access(f);
	return (struct kind){CLASS_BASE, ACTIVITY_OTHER};
}

/* From 1, informational, to 5, critical. */
static unsigned int severity_of(const struct flat_record *f)
{
	static const struct {
		const char *severity;
		unsigned int id;
	} severities[] = {{"low", 2}, {"medium", 3}, {"high", 4}, {"critical", 5}};

	if (!flat_is_denial(f))
		return flat_is(f, FLAT_EVENT_ACTION, "gap") ||
				       flat_is(f, FLAT_EVENT_ACTION, "execution-refused")
			       ? 3
			       : 1;
	for (size_t i = 0; i < ARRAY_SIZE(severities); i++)
		if (flat_is(f, FLAT_RULE_SEVERITY, severities[i].severity))
			return severities[i].id;
	return flat_is_refused(f) ? 3 : 2;
}

static void put_number(struct buffer *out, const char *key, uint64_t number)
{
	json_text_key(out, key);
	buffer_number(out, number);
}

/* Writes a number member of the record if it exists. */
static void put_its_number(struct buffer *out, const char *key, const struct flat_record *f,
			   enum flat_field field)
{
	if (flat_has_number(f, field))
		put_number(out, key, flat_number(f, field));
}

static void put_string(struct buffer *out, const char *key, const char *text)
{
	json_text_key(out, key);
	if (text)
		json_text_string(out, text, strlen(text));
	else
		buffer_literal(out, "null");
}

static void open_object(struct buffer *out, const char *key)
{
	json_text_key(out, key);
	buffer_literal(out, "{");
}

/* Writes a path's last component, or the path if that is empty. */
static void put_base_name(struct buffer *out, const struct plain_value *path)
{
	struct plain_value name = *path;
	const char *slash = memrchr(path->data, '/', path->size);

	if (slash && slash + 1 < path->data + path->size) {
		name.size -= (size_t)(slash + 1 - path->data);
		name.data = slash + 1;
	}
	buffer_literal(out, "\"");
	buffer_add(out, name.data, name.size);
	buffer_literal(out, "\"");
}

static void put_file(struct buffer *out, const struct flat_record *f, enum flat_field field)
{
	const struct plain_value *path = flat_text(f, field);

	open_object(out, "file");
	json_text_key(out, "name");
	if (path)
		put_base_name(out, path);
	else
		buffer_literal(out, "\"?\"");
	put_number(out, "type_id", 0);
	flat_put_text(out, "path", f, field);
	buffer_literal(out, "}");
}

/* True if the process is identified by pid or entity id, or as the first one of an execution. */
static bool has_process(const struct flat_record *f)
{
	return flat_has_number(f, FLAT_PROCESS_PID) || flat_text(f, FLAT_PROCESS_ENTITY) ||
	       flat_text(f, FLAT_EXECUTION);
}

static void put_process(struct buffer *out, const struct flat_record *f)
{
	bool numbered = flat_has_number(f, FLAT_PROCESS_PID) || flat_text(f, FLAT_PROCESS_ENTITY);

	open_object(out, "process");
	flat_put_text(out, "name", f,
		      flat_text(f, FLAT_PROCESS_NAME) ? FLAT_PROCESS_NAME : FLAT_PROGRAM);
	put_its_number(out, "pid", f, FLAT_PROCESS_PID);
	flat_put_text(out, "uid", f, numbered ? FLAT_PROCESS_ENTITY : FLAT_EXECUTION);
	if (!has_process(f))
		put_string(out, "uid", "none");
	if (flat_text(f, FLAT_PROCESS_EXECUTABLE))
		put_file(out, f, FLAT_PROCESS_EXECUTABLE);
	if (flat_has_number(f, FLAT_PARENT_PID)) {
		open_object(out, "parent_process");
		put_its_number(out, "pid", f, FLAT_PARENT_PID);
		flat_put_text(out, "uid", f, FLAT_PARENT_ENTITY);
		buffer_literal(out, "}");
	}
	buffer_literal(out, "}");
}

static void put_uid(struct buffer *out, const char *key, const struct flat_record *f,
		    enum flat_field field)
{
	if (!flat_text(f, field))
		return;
	open_object(out, key);
	flat_put_text(out, "uid", f, field);
	buffer_literal(out, "}");
}

/* The daemon is the actor of records about itself and about the log. */
static void put_actor(struct buffer *out, const struct flat_record *f)
{
	open_object(out, "actor");
	if (has_process(f))
		put_process(out, f);
	put_uid(out, "user", f, FLAT_USER);
	put_uid(out, "session", f, FLAT_SESSION);
	flat_put_text(out, "app_name", f, FLAT_AGENT);
	if (!has_process(f) && !flat_text(f, FLAT_USER) && !flat_text(f, FLAT_SESSION) &&
	    !flat_text(f, FLAT_AGENT))
		put_string(out, "app_name", "cordon");
	buffer_literal(out, "}");
}

static void put_rule(struct buffer *out, const struct flat_record *f)
{
	open_object(out, "firewall_rule");
	json_text_key(out, "uid");
	buffer_literal(out, "\"");
	buffer_number(out, flat_number(f, FLAT_RULE_NUMBER));
	buffer_literal(out, "\"");
	flat_put_text(out, "name", f, FLAT_RULE_TEXT);
	flat_put_text(out, "desc", f, FLAT_RULE_MESSAGE);
	buffer_literal(out, "}");
}

static void put_verdict(struct buffer *out, const struct flat_record *f)
{
	bool denied = flat_is_refused(f) || flat_is(f, FLAT_EVENT_ACTION, "execution-refused");

	put_number(out, "action_id", denied ? 2 : 1);
	/* blocked; logged; allowed */
	put_number(out, "disposition_id",
		   denied					 ? 2
		   : flat_is(f, FLAT_EVENT_ACTION, "would-deny") ? 17
								 : 1);
	put_number(out, "status_id",
		   flat_is(f, FLAT_EVENT_OUTCOME, "success")   ? 1
		   : flat_is(f, FLAT_EVENT_OUTCOME, "failure") ? 2
							       : 0);
	if (flat_is_denial(f)) {
		json_text_key(out, "status_detail");
		buffer_literal(out, "\"");
		buffer_string(out, flat_reason(f));
		buffer_literal(out, "\"");
	}
	flat_put_text(out, "status_code", f, FLAT_ERROR);
	if (f->values[FLAT_CORDON_RULE].data && f->values[FLAT_CORDON_RULE].kind == PLAIN_OBJECT)
		put_rule(out, f);
	if (flat_text(f, FLAT_POLICY_NAME)) {
		open_object(out, "policy");
		flat_put_text(out, "name", f, FLAT_POLICY_NAME);
		flat_put_text(out, "uid", f, FLAT_POLICY_DIGEST);
		buffer_literal(out, "}");
	}
}

/* A denied name is the object of an access; a resolved name has its addresses. */
static void put_resolution(struct buffer *out, const struct flat_record *f,
			   const struct export_source *source)
{
	bool answered = flat_is(f, FLAT_EVENT_ACTION, "resolve") && flat_text(f, FLAT_QUESTION);
	enum flat_field asked = answered ? FLAT_QUESTION : FLAT_OBJECT_TEXT;
	struct plain_value address = {};

	/* The client is this host. */
	open_object(out, "src_endpoint");
	put_string(out, "hostname", source->host ? source->host : "localhost");
	buffer_literal(out, "}");
	if (flat_text(f, asked)) {
		open_object(out, "query");
		flat_put_text(out, "hostname", f, asked);
		buffer_literal(out, "}");
	}
	if (!answered)
		return;
	json_text_key(out, "answers");
	buffer_literal(out, "[");
	for (bool first = true; flat_next(f, FLAT_RESOLVED, &address); first = false) {
		if (!first)
			buffer_literal(out, ",");
		buffer_literal(out, "{\"rdata\":");
		flat_put(out, &address);
		buffer_literal(out, "}");
	}
	buffer_literal(out, "]");
}

/* "_in" and "_out" are relative to the destination: bytes sent by the source are its input. */
static void put_traffic(struct buffer *out, const struct flat_record *f)
{
	open_object(out, "traffic");
	put_number(out, "bytes_out", flat_number(f, FLAT_DESTINATION_BYTES));
	put_number(out, "bytes_in", flat_number(f, FLAT_SOURCE_BYTES));
	put_number(out, "packets_out", flat_number(f, FLAT_DESTINATION_PACKETS));
	put_number(out, "packets_in", flat_number(f, FLAT_SOURCE_PACKETS));
	buffer_literal(out, "}");
}

static int direction_of(const struct flat_record *f)
{
	enum { UNKNOWN = 0, INBOUND = 1, OUTBOUND = 2 };

	return flat_is(f, FLAT_DIRECTION, "inbound") ? INBOUND
	       : flat_is(f, FLAT_DIRECTION, "other") ? UNKNOWN
						     : OUTBOUND;
}

static void put_connection(struct buffer *out, const struct flat_record *f)
{
	open_object(out, "dst_endpoint");
	flat_put_text(out, "ip", f, FLAT_DESTINATION_IP);
	flat_put_text(out, "hostname", f, FLAT_DESTINATION_DOMAIN);
	put_its_number(out, "port", f, FLAT_DESTINATION_PORT);
	if (!flat_text(f, FLAT_DESTINATION_IP) && !flat_text(f, FLAT_DESTINATION_DOMAIN)) {
		if (flat_text(f, FLAT_OBJECT_TEXT))
			flat_put_text(out, "name", f, FLAT_OBJECT_TEXT);
		else
			put_string(out, "name", "?");
	}
	buffer_literal(out, "}");
	if (flat_text(f, FLAT_SOURCE_IP)) {
		open_object(out, "src_endpoint");
		flat_put_text(out, "ip", f, FLAT_SOURCE_IP);
		buffer_literal(out, "}");
	}
	open_object(out, "connection_info");
	flat_put_text(out, "protocol_name", f, FLAT_TRANSPORT);
	put_number(out, "direction_id", (uint64_t)direction_of(f));
	buffer_literal(out, "}");
	if (flat_is(f, FLAT_EVENT_ACTION, "traffic"))
		put_traffic(out, f);
}

static void put_object(struct buffer *out, const struct flat_record *f, enum ocsf_class class,
		       const struct export_source *source)
{
	switch (class) {
	case CLASS_FILE:
		put_file(out, f, FLAT_OBJECT_TEXT);
		break;
	case CLASS_PROCESS:
		put_process(out, f);
		put_its_number(out, "exit_code", f, FLAT_PROCESS_EXIT_CODE);
		break;
	case CLASS_NETWORK:
		put_connection(out, f);
		break;
	case CLASS_DNS:
		put_resolution(out, f, source);
		break;
	case CLASS_LIFECYCLE:
		buffer_literal(out, ",\"app\":{\"name\":\"cordon\",\"vendor_name\":\"cordon\"}");
		break;
	case CLASS_BASE:
		break;
	}
}

static uint64_t time_of(const struct flat_record *f)
{
	const struct plain_value *value = flat_text(f, FLAT_TIMESTAMP);
	char text[CLOCK_TEXT_SIZE + 16];

	if (!value || value->size >= sizeof(text))
		return 0;
	memcpy(text, value->data, value->size);
	text[value->size] = '\0';
	return view_time_of(text);
}

static void put_head(struct buffer *out, const struct flat_record *f, struct kind kind,
		     const struct export_source *source)
{
	put_number(out, "class_uid", kind.class);
	put_number(out, "category_uid", kind.class / 1000);
	put_number(out, "activity_id", (unsigned int)kind.activity);
	put_number(out, "type_uid", kind.class * 100 + (unsigned int)kind.activity);
	put_number(out, "severity_id", severity_of(f));
	put_number(out, "time", time_of(f) / NSEC_PER_MSEC);
	buffer_literal(out, ",\"metadata\":{\"version\":\"" EXPORT_OCSF_VERSION "\",\"product\":{"
			    "\"name\":\"cordon\",\"vendor_name\":\"cordon\"");
	put_string(out, "version", source->version);
	buffer_literal(out, "},\"profiles\":[\"host\",\"security_control\"],"
			    "\"log_name\":\"cordon.audit\"");
	put_number(out, "sequence", flat_number(f, FLAT_SEQ));
	flat_put_text(out, "correlation_uid", f, FLAT_EXECUTION);
	buffer_literal(out, "},\"device\":{");
	put_string(out, "hostname", source->host);
	buffer_literal(out, ",\"type_id\":0}");
	if (kind.activity == ACTIVITY_OTHER)
		flat_put_text(out, "activity_name", f,
			      flat_text(f, FLAT_OPERATION) ? FLAT_OPERATION : FLAT_EVENT_ACTION);
	if (!flat_text(f, FLAT_OPERATION)) {
		flat_put_text(out, "message", f, FLAT_EVENT_ACTION);
		return;
	}
	json_text_key(out, "message");
	flat_put_phrase(out, f);
}

void export_ocsf(struct buffer *out, const struct flat_record *f,
		 const struct export_source *source)
{
	struct kind kind = kind_of(f);

	buffer_literal(out, "{");
	put_head(out, f, kind, source);
	put_actor(out, f);
	put_verdict(out, f);
	put_object(out, f, kind.class, source);
	if (flat_number(f, FLAT_REPEATS) > 0)
		put_number(out, "count", flat_number(f, FLAT_REPEATS) + 1);
	if (flat_has_number(f, FLAT_EVENT_DURATION))
		put_number(out, "duration", flat_number(f, FLAT_EVENT_DURATION) / NSEC_PER_MSEC);
	/* Include the complete record. */
	json_text_key(out, "unmapped");
	buffer_add(out, f->line, f->size);
	buffer_literal(out, "}");
}
