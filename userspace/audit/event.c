/* SPDX-License-Identifier: Apache-2.0 */
/* Records of kernel events: audit_record_event(). */
#include <string.h>

#include "audit/arguments.h"
#include "audit/decode.h"
#include "audit/fields.h"
#include "audit/names.h"
#include "audit/object.h"
#include "audit/record.h"
#include "audit/suggestion.h"
#include "audit/text.h"
#include "base/sha256.h"

static json_t *entity_id(uint32_t pid, uint64_t start)
{
	return json_sprintf("%u-%llu", pid, (unsigned long long)start);
}

static json_t *add_process(struct fields *f, const struct decoded_event *event)
{
	const struct cordon_event *header = &event->header;
	json_t *process = fields_object(f, f->record, "process");
	json_t *parent;

	fields_number(f, process, "pid", header->tgid);
	fields_set(f, process, "entity_id", entity_id(header->tgid, header->process_start));
	fields_text(f, process, "name", header->comm, event->comm_length);
	parent = fields_object(f, process, "parent");
	fields_number(f, parent, "pid", header->parent_tgid);
	fields_set(f, parent, "entity_id", entity_id(header->parent_tgid, header->parent_start));
	fields_number(f, fields_object(f, process, "thread"), "id", header->tid);
	fields_user(f, header->uid, header->gid);
	return process;
}

/* What every record of a kernel event says. */
static json_t *begin(struct fields *f, const struct audit_execution *execution,
		     const struct decoded_event *event, uint64_t boot_offset, const char *kind,
		     const char *action, const char *outcome)
{
	fields_begin(f, event->header.time + boot_offset, kind, action, outcome);
	fields_execution(f, execution);
	fields_number(f, f->cordon, "sequence", event->header.sequence);
	fields_number(f, fields_policy(f, execution), "generation",
		      CORDON_POLICY_GENERATION(event->header.policy));
	return add_process(f, event);
}

static void add_rule(struct fields *f, const struct audit_execution *execution, uint16_t number)
{
	const struct policy_rule *rule;
	json_t *object;

	if (number == CORDON_NO_RULE) {
		fields_set(f, f->cordon, "rule", json_null());
		return;
	}
	object = fields_object(f, f->cordon, "rule");
	fields_number(f, object, "number", number);
	/* Rules of another policy than the one at hand: the number is all that is known. */
	if (number >= execution->policy->rule_count)
		return;
	rule = &execution->policy->rules[number];
	fields_string(f, object, "file", rule->file);
	fields_number(f, object, "line", rule->line);
	fields_string(f, object, "text", rule->text);
	fields_string(f, object, "message", rule->message);
	fields_string(f, object, "severity", rule->severity);
	fields_strings(f, object, "tags", rule->tags);
}

static void add_rights(struct fields *f, uint32_t rights)
{
	json_t *list = json_array();

	for (uint32_t right = 0; right < CORDON_RIGHT_COUNT; right++)
		if ((rights & CORDON_RIGHT(right)) &&
		    json_array_append_new(list, json_string(name_of_right(right))) < 0)
			f->failed = true;
	fields_set(f, f->cordon, "rights", list);
}

static void add_address(struct fields *f, const struct decoded_access *access)
{
	struct decoded_address address;
	char host[INET6_ADDRSTRLEN];
	const char *transport;
	json_t *object;

	decode_address(access, &address);
	object_format_address(&address, host);
	transport = name_of_protocol(address.protocol);
	object = fields_object(f, f->record, "destination");
	fields_set(f, object, "ip", json_string(host));
	fields_number(f, object, "port", address.port);
	object = fields_object(f, f->record, "network");
	fields_set(f, object, "transport",
		   transport ? json_string(transport) : json_sprintf("%u", address.protocol));
	fields_set(f, object, "type", json_string(address.family == 4 ? "ipv4" : "ipv6"));
}

static void add_object(struct fields *f, const struct decoded_access *access)
{
	json_t *object = fields_object(f, f->cordon, "object");
	const char *bytes = (const char *)access->object;
	size_t size = access->object_length;
	char text[OBJECT_TEXT_SIZE];

	fields_set(f, object, "kind", json_string(name_of_object_kind(access->object_kind)));
	switch (access->object_kind) {
	case CORDON_OBJECT_PATH:
		fields_text(f, fields_object(f, f->record, "file"), "path", bytes, size);
		fields_text(f, object, "text", bytes, size);
		break;
	case CORDON_OBJECT_SPECIAL:
	case CORDON_OBJECT_ABSTRACT:
		fields_text(f, object, "text", bytes, size);
		break;
	case CORDON_OBJECT_NET:
		add_address(f, access);
		/* fall through */
	default:
		object_format(access, text);
		fields_set(f, object, "text", json_string(text));
	}
	/* Cut by the kernel's event size: how long it really is. */
	if (access->object_total > size)
		fields_number(f, object, "length", access->object_total);
}

static void add_access(struct fields *f, const struct audit_execution *execution,
		       const struct decoded_access *access)
{
	fields_set(f, f->cordon, "operation", json_string(name_of_operation(access->operation)));
	add_object(f, access);
	add_rights(f, access->rights);
	add_rule(f, execution, access->rule);
}

static void add_suggestion(struct fields *f, const struct audit_execution *execution,
			   const struct decoded_event *event)
{
	json_t *object = fields_object(f, f->cordon, "suggestion");
	struct suggestion suggestion;

	if (suggestion_make(execution, &event->denial.access, event->denial.reason, &suggestion) <
	    0) {
		f->failed = true;
		return;
	}
	fields_string(f, object, "rule", suggestion.rule);
	fields_string(f, object, "why", suggestion.why);
	suggestion_free(&suggestion);
}

static void denial(struct fields *f, const struct audit_execution *execution,
		   const struct decoded_event *event, uint64_t boot_offset)
{
	begin(f, execution, event, boot_offset, "alert",
	      event->denial.would ? "would-deny" : "denial",
	      event->denial.would ? "success" : "failure");
	add_access(f, execution, &event->denial.access);
	fields_set(f, f->cordon, "error", json_string(name_of_error(event->denial.error)));
	fields_set(f, f->cordon, "reason", json_string(name_of_reason(event->denial.reason)));
	fields_number(f, f->cordon, "repeats", event->denial.repeats);
	add_suggestion(f, execution, event);
}

/* Cuts the captured bytes into strings. They end in a NUL that is not theirs. */
static size_t split_arguments(char *bytes, size_t size, const char **argv)
{
	size_t count = 0;

	for (size_t at = 0; at < size; at += strlen(bytes + at) + 1)
		argv[count++] = bytes + at;
	return count;
}

/* Marks what carries code, also where argv[0] hides which interpreter runs. */
static int mark_code(const char **argv, size_t count, const char *path, size_t path_length,
		     bool *carries)
{
	_cleanup_(freep) bool *by_path = calloc(count, sizeof(*by_path));
	_cleanup_(freep) char *program = strndup(path, path_length);
	const char *called;

	if (!by_path || !program)
		return -ENOMEM;
	arguments_mark_code(count, argv, carries);
	called = argv[0];
	argv[0] = program;
	arguments_mark_code(count, argv, by_path);
	argv[0] = called;
	for (size_t i = 0; i < count; i++)
		carries[i] |= by_path[i];
	return 0;
}

/* The digest of each argument that carries code; with `full`, the text of all others. */
static void add_argument_texts(struct fields *f, json_t *process, json_t *arguments,
			       const char **argv, size_t count, const bool *carries, bool full)
{
	json_t *code = json_array();

	for (size_t i = 0; i < count; i++) {
		unsigned char digest[SHA256_SIZE];
		json_t *entry;

		if (!carries[i])
			continue;
		entry = json_object();
		if (json_array_append_new(code, entry) < 0 ||
		    sha256_of(argv[i], strlen(argv[i]), digest) < 0) {
			f->failed = true;
			break;
		}
		fields_number(f, entry, "index", i);
		fields_digest(f, entry, "sha256", digest);
		fields_number(f, entry, "length", strlen(argv[i]));
		argv[i] = NULL;
	}
	fields_set(f, arguments, "code", code);
	if (full && text_set_list(process, "args", count, argv) < 0)
		f->failed = true;
}

static void add_arguments(struct fields *f, json_t *process,
			  const struct audit_execution *execution,
			  const struct decoded_event *event)
{
	size_t size = event->exec.arguments_length, count;
	bool truncated = event->exec.arguments_total > size;
	json_t *arguments = fields_object(f, f->cordon, "arguments");
	_cleanup_(freep) const char **argv = calloc(size + 1, sizeof(*argv));
	_cleanup_(freep) bool *carries = calloc(size + 1, sizeof(*carries));
	_cleanup_(freep) char *bytes = malloc(size + 1);
	unsigned char digest[SHA256_SIZE];

	if (!argv || !carries || !bytes || sha256_of(event->exec.arguments, size, digest) < 0) {
		f->failed = true;
		return;
	}
	memcpy(bytes, event->exec.arguments, size);
	bytes[size] = '\0';
	count = split_arguments(bytes, size, argv);
	if (count > 0 &&
	    mark_code(argv, count, event->exec.path, event->exec.path_length, carries) < 0) {
		f->failed = true;
		return;
	}
	fields_number(f, process, "args_count", count);
	fields_digest(f, arguments, "sha256", digest);
	fields_number(f, arguments, "length", event->exec.arguments_total);
	fields_set(f, arguments, "truncated", json_boolean(truncated));
	add_argument_texts(f, process, arguments, argv, count, carries,
			   execution->policy->arguments == POLICY_ARGUMENTS_FULL);
}

static void exec(struct fields *f, const struct audit_execution *execution,
		 const struct decoded_event *event, uint64_t boot_offset)
{
	json_t *process =
		begin(f, execution, event, boot_offset, "event", "process-exec", "success");

	fields_text(f, process, "executable", event->exec.path, event->exec.path_length);
	add_arguments(f, process, execution, event);
}

static void exited(struct fields *f, const struct audit_execution *execution,
		   const struct decoded_event *event, uint64_t boot_offset)
{
	json_t *process = begin(f, execution, event, boot_offset, "event", "process-exit",
				event->exit.status == 0 ? "success" : "failure");
	json_t *cpu = fields_object(f, f->cordon, "cpu");

	fields_status(f, process, event->exit.status);
	fields_number(f, cpu, "user_ns", event->exit.user_nsec);
	fields_number(f, cpu, "system_ns", event->exit.system_nsec);
}

int audit_record_event(const struct audit_execution *execution, const void *data, size_t size,
		       uint64_t boot_offset, json_t **ret_record)
{
	struct decoded_event event;
	struct fields f;
	json_t *record;
	int r;

	r = decode_event(data, size, &event);
	if (r < 0)
		return r;
	switch (event.header.type) {
	case CORDON_EVENT_DENIAL:
		denial(&f, execution, &event, boot_offset);
		break;
	case CORDON_EVENT_EXEC:
		exec(&f, execution, &event, boot_offset);
		break;
	case CORDON_EVENT_EXIT:
		exited(&f, execution, &event, boot_offset);
		break;
	case CORDON_EVENT_OPEN:
	case CORDON_EVENT_CONNECT:
		begin(&f, execution, &event, boot_offset, "event",
		      event.header.type == CORDON_EVENT_OPEN ? "open" : "connect", "success");
		add_access(&f, execution, &event.access);
		break;
	default:
		return -ENODATA;
	}
	record = fields_end(&f);
	if (!record)
		return -ENOMEM;
	*ret_record = record;
	return 0;
}
