/* SPDX-License-Identifier: Apache-2.0 */
/* Records of kernel events as the text that the log holds: what comes by the hundred thousand. */
#include "audit/record/event_text.h"

#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "audit/record/arguments.h"
#include "audit/record/decode.h"
#include "audit/record/fields.h"
#include "audit/text/json_text.h"
#include "audit/record/names.h"
#include "audit/record/object.h"
#include "audit/record/suggestion.h"
#include "audit/text/text.h"
#include "base/clock.h"
#include "base/sha256.h"

/* The one event that is being written. */
struct writing {
	struct buffer *out;
	struct buffer *scratch;
	struct event_parts *parts;
	const struct audit_execution *execution;
	struct decoded_event event;
	uint64_t boot_offset;
	size_t path, path_size; /* where a path stands in `out`; size 0: nowhere yet */
	bool failed;
	const struct event_domain *domain;
};

void event_text_release(struct event_text *text)
{
	buffer_free(&text->record);
	buffer_free(&text->scratch);
	event_parts_release(&text->parts);
}

/* A word of ours, which needs no escape; NULL: null. */
static void word(struct buffer *out, const char *text)
{
	if (!text) {
		buffer_literal(out, "null");
		return;
	}
	buffer_literal(out, "\"");
	buffer_string(out, text);
	buffer_literal(out, "\"");
}

/* Numbers are signed in JSON as jansson reads it. */
static void number(struct buffer *out, uint64_t value)
{
	buffer_number(out, value > INT64_MAX ? INT64_MAX : value);
}

/* Between the time and the process: one piece, for what comes by the hundred thousand. */
#define EVENT(kind, action, outcome)                                                               \
	"\",\"event\":{\"kind\":\"" kind "\",\"action\":\"" action "\",\"outcome\":\"" outcome     \
	"\"},\"process\":{"

/* The beginning, up to and into "process". `event`: an EVENT(). */
static void begin(struct writing *w, const char *event)
{
	buffer_literal(w->out, "{\"@timestamp\":\"");
	event_parts_time(w->parts, w->event.header.time + w->boot_offset, w->out);
	buffer_string(w->out, event);
	w->failed |= event_parts_process(w->parts, &w->event.header, w->out) < 0;
}

static void end_process(struct writing *w)
{
	buffer_literal(w->out, "}");
	w->failed |= event_parts_user(w->parts, w->out) < 0;
}

/* Readers compute times since the start, which must not jump with the wall clock. */
static void write_clock_step(const struct writing *w)
{
	int64_t step = audit_clock_step(w->execution, w->boot_offset);

	if (step != 0)
		buffer_print(w->out, ",\"clock_step_ns\":%" PRId64, step);
}

/* "cordon" with what every record of a kernel event says in it. It stays open. */
static void begin_cordon(struct writing *w)
{
	struct buffer *out = w->out;

	w->failed |= event_parts_execution(w->parts, w->execution, out) < 0;
	if (w->event.header.type != CORDON_EVENT_ATTEMPT) {
		buffer_literal(out, ",\"sequence\":");
		number(out, w->event.header.sequence);
	}
	write_clock_step(w);
	w->failed |= event_parts_policy(w->parts, w->execution->policy, out) < 0;
	buffer_literal(out, ",\"generation\":");
	buffer_number(out, CORDON_POLICY_GENERATION(w->event.header.policy));
	buffer_literal(out, "}");
}

static void end(struct writing *w)
{
	buffer_literal(w->out, "}}");
}

/* --- accesses ----------------------------------------------------------------------------- */

/*
 * A path stands in a record twice. What needs no exact bytes beside it is copied the second time.
 */
static void write_path(struct writing *w, const char *key, const struct decoded_access *access)
{
	struct buffer *out = w->out;
	size_t start;

	if (w->path_size > 0) {
		json_text_key(out, key);
		if (buffer_reserve(out, w->path_size))
			buffer_add(out, out->data + w->path, w->path_size);
		return;
	}
	start = out->size;
	json_text_key(out, key);
	w->path = out->size;
	if (access->object_length <= TEXT_MAX &&
	    json_text_string(out, (const char *)access->object, access->object_length)) {
		w->path_size = out->size - w->path;
		return;
	}
	out->size = start;
	json_text_member(out, key, (const char *)access->object, access->object_length);
}

/* file, destination and network: the object in ECS terms. */
static void write_ecs_object(struct writing *w, const struct decoded_access *access)
{
	struct buffer *out = w->out;
	struct decoded_address address;
	char host[INET6_ADDRSTRLEN];
	const char *transport;

	if (access->object_kind == CORDON_OBJECT_PATH) {
		buffer_literal(out, ",\"file\":{");
		write_path(w, "path", access);
		buffer_literal(out, "}");
		return;
	}
	if (access->object_kind != CORDON_OBJECT_NET)
		return;
	decode_address(access, &address);
	object_format_address(&address, host);
	transport = name_of_protocol(address.protocol);
	buffer_literal(out, ",\"destination\":{\"ip\":");
	word(out, host);
	buffer_literal(out, ",\"port\":");
	buffer_number(out, address.port);
	if (w->domain)
		json_text_member_string(out, "domain", w->domain->name);
	buffer_literal(out, "},\"network\":{\"transport\":");
	if (transport)
		word(out, transport);
	else
		buffer_print(out, "\"%u\"", address.protocol);
	buffer_literal(out, ",\"type\":");
	word(out, address.family == 4 ? "ipv4" : "ipv6");
	buffer_literal(out, "}");
}

static void write_object(struct writing *w, const struct decoded_access *access)
{
	struct buffer *out = w->out;
	char text[OBJECT_TEXT_SIZE];

	buffer_literal(out, ",\"object\":{\"kind\":");
	word(out, name_of_object_kind(access->object_kind));
	switch (access->object_kind) {
	case CORDON_OBJECT_PATH:
		write_path(w, "text", access);
		break;
	case CORDON_OBJECT_SPECIAL:
	case CORDON_OBJECT_ABSTRACT:
	case CORDON_OBJECT_HOST:
		json_text_member(out, "text", (const char *)access->object, access->object_length);
		break;
	default:
		object_format(access, text);
		json_text_member_string(out, "text", text);
	}
	/* Cut by the kernel's event size: how long it really is. */
	if (access->object_total > access->object_length) {
		buffer_literal(out, ",\"length\":");
		buffer_number(out, access->object_total);
	}
	if (access->object_moved)
		buffer_literal(out, ",\"moved\":true");
	if (access->object_temporary)
		buffer_literal(out, ",\"temporary\":true");
	if (access->object_own_terminal)
		buffer_literal(out, ",\"own_terminal\":true");
	if (access->object_case_insensitive)
		buffer_literal(out, ",\"case_insensitive\":true");
	buffer_literal(out, "}");
}

static void write_rights(struct writing *w, uint32_t rights)
{
	struct buffer *out = w->out;
	bool first = true;

	buffer_literal(out, ",\"rights\":[");
	for (uint32_t right = 0; right < CORDON_RIGHT_COUNT; right++) {
		if (!(rights & CORDON_RIGHT(right)))
			continue;
		if (!first)
			buffer_literal(out, ",");
		word(out, name_of_right(right));
		first = false;
	}
	buffer_literal(out, "]");
}

/* All of an access record but its end. */
static void write_access(struct writing *w, const struct decoded_access *access)
{
	uint16_t rule = access->rule == CORDON_NO_RULE && w->domain ? w->domain->rule
								    : access->rule;

	end_process(w);
	write_ecs_object(w, access);
	begin_cordon(w);
	buffer_literal(w->out, ",\"operation\":");
	word(w->out, name_of_operation(access->operation));
	write_object(w, access);
	write_rights(w, access->rights);
	w->failed |= event_parts_rule(w->parts, w->execution->policy, rule, w->out) < 0;
}

static void write_suggestion(struct writing *w)
{
	struct buffer *out = w->out;
	const char *why;

	w->scratch->size = 0;
	why = suggestion_write(w->execution, &w->event.denial.access, w->event.denial.reason,
			       w->scratch);
	w->failed |= w->scratch->failed;
	buffer_literal(out, ",\"suggestion\":{");
	json_text_member(out, "rule", why ? NULL : w->scratch->data, why ? 0 : w->scratch->size);
	json_text_member_string(out, "why", why);
	buffer_literal(out, "}");
}

/* All of a record of what was refused but its suggestion and its end. */
static void write_refused(struct writing *w)
{
	struct buffer *out = w->out;

	write_access(w, &w->event.denial.access);
	buffer_literal(out, ",\"error\":");
	word(out, name_of_error(w->event.denial.error));
	buffer_literal(out, ",\"reason\":");
	word(out, name_of_reason(w->event.denial.reason));
	buffer_literal(out, ",\"repeats\":");
	buffer_number(out, w->event.denial.repeats);
}

static void write_denial(struct writing *w)
{
	begin(w, w->event.denial.would ? EVENT("alert", "would-deny", "success")
				       : EVENT("alert", "denial", "failure"));
	write_refused(w);
	write_suggestion(w);
	end(w);
}

/* No rule would change that the host's permissions refuse it. */
static void write_attempt(struct writing *w)
{
	begin(w, EVENT("alert", "attempt", "failure"));
	write_refused(w);
	end(w);
}

/* --- processes ---------------------------------------------------------------------------- */

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

/* An execution's arguments, as far as the kernel captured them. */
struct argument_list {
	const char **argv;
	bool *carries; /* which carry code */
	size_t count;
};

/* The digest of each argument that carries code, whose text is then no more to be shown. */
static void write_code(struct writing *w, struct argument_list *list)
{
	struct buffer *out = w->out;
	bool first = true;

	buffer_literal(out, ",\"code\":[");
	for (size_t i = 0; i < list->count; i++) {
		unsigned char digest[SHA256_SIZE];
		size_t length;

		if (!list->carries[i])
			continue;
		length = strlen(list->argv[i]);
		if (sha256_of(list->argv[i], length, digest) < 0) {
			w->failed = true;
			break;
		}
		if (!first)
			buffer_literal(out, ",");
		first = false;
		buffer_literal(out, "{\"index\":");
		buffer_number(out, i);
		buffer_literal(out, ",\"sha256\":\"");
		buffer_hex(out, digest, sizeof(digest));
		buffer_literal(out, "\",\"length\":");
		buffer_number(out, length);
		buffer_literal(out, "}");
	}
	buffer_literal(out, "]");
}

/* The texts of the others, as members of "process". */
static void write_texts(struct writing *w, const struct argument_list *list)
{
	_cleanup_(freep) const char **shown = calloc(list->count + 1, sizeof(*shown));

	if (!shown) {
		w->failed = true;
		return;
	}
	for (size_t i = 0; i < list->count; i++)
		shown[i] = list->carries[i] ? NULL : list->argv[i];
	json_text_member_list(w->out, "args", list->count, shown);
}

static void write_exec_with(struct writing *w, struct argument_list *list)
{
	const struct decoded_event *event = &w->event;
	size_t size = event->exec.arguments_length;
	unsigned char digest[SHA256_SIZE];
	struct buffer *out = w->out;

	begin(w, EVENT("event", "process-exec", "success"));
	json_text_member(out, "executable", event->exec.path, event->exec.path_length);
	buffer_literal(out, ",\"args_count\":");
	buffer_number(out, list->count);
	if (w->execution->policy->arguments == POLICY_ARGUMENTS_FULL)
		write_texts(w, list);
	end_process(w);
	begin_cordon(w);
	w->failed |= sha256_of(event->exec.arguments, size, digest) < 0;
	buffer_literal(out, ",\"arguments\":{\"sha256\":\"");
	buffer_hex(out, digest, sizeof(digest));
	buffer_literal(out, "\",\"length\":");
	buffer_number(out, event->exec.arguments_total);
	buffer_literal(out, ",\"truncated\":");
	buffer_string(out, event->exec.arguments_total > size ? "true" : "false");
	write_code(w, list);
	buffer_literal(out, "}");
	end(w);
}

static void write_exec(struct writing *w)
{
	const struct decoded_event *event = &w->event;
	size_t size = event->exec.arguments_length;
	_cleanup_(freep) const char **argv = calloc(size + 1, sizeof(*argv));
	_cleanup_(freep) bool *carries = calloc(size + 1, sizeof(*carries));
	_cleanup_(freep) char *bytes = malloc(size + 1);
	struct argument_list list = {.argv = argv, .carries = carries};

	if (!argv || !carries || !bytes) {
		w->failed = true;
		return;
	}
	memcpy(bytes, event->exec.arguments, size);
	bytes[size] = '\0';
	list.count = split_arguments(bytes, size, argv);
	if (list.count > 0 &&
	    mark_code(argv, list.count, event->exec.path, event->exec.path_length, carries) < 0) {
		w->failed = true;
		return;
	}
	write_exec_with(w, &list);
}

static void write_exit(struct writing *w)
{
	int status = w->event.exit.status;
	struct buffer *out = w->out;

	begin(w, status == 0 ? EVENT("event", "process-exit", "success")
			     : EVENT("event", "process-exit", "failure"));
	if (WIFEXITED(status)) {
		buffer_print(out, ",\"exit_code\":%d,\"signal\":null", WEXITSTATUS(status));
	} else {
		const char *name = name_of_signal(WTERMSIG(status));

		buffer_literal(out, ",\"exit_code\":null,\"signal\":");
		if (name)
			word(out, name);
		else
			buffer_print(out, "\"%d\"", WTERMSIG(status));
	}
	end_process(w);
	begin_cordon(w);
	buffer_literal(out, ",\"cpu\":{\"user_ns\":");
	number(out, w->event.exit.user_nsec);
	buffer_literal(out, ",\"system_ns\":");
	number(out, w->event.exit.system_nsec);
	buffer_literal(out, "}");
	end(w);
}

int event_text_write(struct event_text *text, const struct audit_execution *execution,
		     const void *data, size_t size, uint64_t boot_offset)
{
	struct writing w = {
		.out = &text->record,
		.scratch = &text->scratch,
		.parts = &text->parts,
		.domain = text->domain,
		.execution = execution,
		.boot_offset = boot_offset,
	};
	int r = decode_event(data, size, &w.event);

	if (r < 0)
		return r;
	text->record.size = 0;
	text->record.failed = text->scratch.failed = false;
	switch (w.event.header.type) {
	case CORDON_EVENT_DENIAL:
		write_denial(&w);
		break;
	case CORDON_EVENT_ATTEMPT:
		write_attempt(&w);
		break;
	case CORDON_EVENT_EXEC:
		write_exec(&w);
		break;
	case CORDON_EVENT_EXIT:
		write_exit(&w);
		break;
	case CORDON_EVENT_OPEN:
		begin(&w, EVENT("event", "open", "success"));
		write_access(&w, &w.event.access);
		end(&w);
		break;
	case CORDON_EVENT_CHANGE:
		begin(&w, EVENT("event", "change", "success"));
		write_access(&w, &w.event.access);
		end(&w);
		break;
	case CORDON_EVENT_CONNECT:
		begin(&w, EVENT("event", "connect", "success"));
		write_access(&w, &w.event.access);
		end(&w);
		break;
	default:
		return -ENODATA;
	}
	return w.failed || text->record.failed ? -ENOMEM : 0;
}

int audit_record_event(const struct audit_execution *execution, const void *data, size_t size,
		       uint64_t boot_offset, json_t **ret_record)
{
	struct event_text text = {};
	json_t *record = NULL;
	int r = event_text_write(&text, execution, data, size, boot_offset);

	if (r == 0) {
		record = json_loadb(text.record.data, text.record.size, JSON_REJECT_DUPLICATES,
				    NULL);
		r = record ? 0 : -ENOMEM;
	}
	event_text_release(&text);
	if (r == 0)
		*ret_record = record;
	return r;
}
