/* SPDX-License-Identifier: Apache-2.0 */
/* Groups identical denial records, and describes them in words. */
#include "insight/story/denials.h"

#include <string.h>

#include "base/cleanup.h"
#include "insight/text/view.h"

DEFINE_CLEANUP(json_t *, json_decref, denials_json_decrefp)

void denial_groups_free(struct denial_groups *groups)
{
	free(groups->items);
	json_decref(groups->index);
	memset(groups, 0, sizeof(*groups));
}

static json_t *same_or_null(const json_t *record, const char *name)
{
	const json_t *value = view_field(record, name);

	/* A reference count is not part of the value. */
	return value ? json_incref((json_t *)value) : json_null();
}

/* Returns a text that is equal for identical denials. */
static char *identity(const json_t *record)
{
	static const char *const names[] = {
		"event.action",	      "cordon.operation", "cordon.object.kind",
		"cordon.object.text", "cordon.rights",	  "cordon.object.text_base64",
		"cordon.rule.number", "cordon.reason",	  "cordon.error",
		"network.transport",  "cordon.damaged",
	};
	_cleanup_(denials_json_decrefp) json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (json_array_append_new(list, same_or_null(record, names[i])) < 0)
			return NULL;
	return json_dumps(list, JSON_COMPACT);
}

static int grow(struct denial_groups *groups)
{
	size_t capacity = groups->capacity ? groups->capacity * 2 : 16;
	struct denial_group *items;

	if (groups->count < groups->capacity)
		return 0;
	items = reallocarray(groups->items, capacity, sizeof(*items));
	if (!items)
		return -ENOMEM;
	groups->items = items;
	groups->capacity = capacity;
	return 0;
}

int denial_groups_add(struct denial_groups *groups, const json_t *record, size_t *ret_index,
		      int *ret_new)
{
	_cleanup_(freep) char *key = identity(record);
	uint64_t count = 1 + view_number(record, "cordon.repeats");
	const json_t *known;

	if (!groups->index)
		groups->index = json_object();
	if (!key || !groups->index || grow(groups) < 0)
		return -ENOMEM;
	known = json_object_get(groups->index, key);
	if (known) {
		*ret_index = (size_t)json_integer_value(known);
		*ret_new = 0;
		groups->items[*ret_index].count += count;
		groups->items[*ret_index].records++;
		return 0;
	}
	if (json_object_set_new(groups->index, key, json_integer((json_int_t)groups->count)) < 0)
		return -ENOMEM;
	groups->items[groups->count] = (struct denial_group){record, count, 1};
	*ret_index = groups->count++;
	*ret_new = 1;
	return 0;
}

struct words {
	const char *word, *phrase;
};

/* Returns NULL for an unknown word. */
static const char *find_words(const struct words *all, size_t count, const char *word, size_t size)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(all[i].word, word, size) == 0 && all[i].word[size] == '\0')
			return all[i].phrase;
	return NULL;
}

const char *denial_right_words(const char *right, size_t size)
{
	static const struct words phrases[] = {
		{"read", "read of"},
		{"write", "write to"},
		{"create", "creation of"},
		{"delete", "deletion of"},
		{"metadata", "look at the attributes of"},
		{"run", "execution of"},
		{"map", "loading as code of"},
		{"unix-connect", "connection to"},
		{"unix-bind", "binding to"},
		{"connect", "connection to"},
		{"bind", "binding to"},
		{"listen", "listening on"},
		{"socket", "creation of the socket"},
	};

	return find_words(phrases, ARRAY_SIZE(phrases), right, size);
}

const char *denial_operation_words(const char *operation, size_t size)
{
	static const struct words phrases[] = {
		{"capable", "use of"},
		{"signal", "signal to"},
		{"trace", "tracing of"},
		{"ioctl", "ioctl"},
		{"fork", "fork"},
		{"setexec", "gain of privilege by exec of"},
		{"packet", "packet to"},
		{"resolve", "looking up the address of"},
		{"lookup", "looking for"},
		{"userns", "making a user namespace"},
		{"system-call", "system call"},
	};

	return find_words(phrases, ARRAY_SIZE(phrases), operation, size);
}

static const char *right_phrase(const char *right)
{
	const char *words = denial_right_words(right, strlen(right));

	return words ? words : right;
}

static const char *operation_phrase(const char *operation)
{
	const char *words = denial_operation_words(operation, strlen(operation));

	return words ? words : operation;
}

char *denial_phrase(const json_t *record)
{
	return denial_phrase_of(record, view_text(record, "cordon.object.text"));
}

char *denial_phrase_of(const json_t *record, const char *object)
{
	const char *operation = view_text(record, "cordon.operation");
	const json_t *rights = view_field(record, "cordon.rights");
	const char *outcome = view_is_refused(record) ? "was denied" : "would have been denied";
	size_t count = json_array_size(rights), size;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		const char *right = json_string_value(json_array_get(rights, i));

		fprintf(out, "%s%s", i == 0 ? "" : " and ", right_phrase(right ? right : "?"));
	}
	if (count == 0)
		fputs(operation_phrase(operation ? operation : "?"), out);
	if (object && object[0])
		fprintf(out, " %s", object);
	if (view_is_denial(record))
		fprintf(out, " %s", outcome);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

/*
 * True if the socket was denied before it had a destination, because no rule permits any
 * destination of such sockets.
 */
static bool is_for_destination(const char *socket, size_t size)
{
	static const char *const kinds[] = {"inet/stream/", "inet6/stream/", "inet/dgram/",
					    "inet6/dgram/"};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (size >= strlen(kinds[i]) && memcmp(socket, kinds[i], strlen(kinds[i])) == 0)
			return true;
	return false;
}

const char *denial_reason_words(const char *reason, size_t size, const char *socket,
				size_t socket_size)
{
	static const struct words phrases[] = {
		{"default", "no rule allows it"},
		{"rule", "a rule denies it"},
		{"widens",
		 "the new name would grant more, or names below it may not be created there"},
		{"unresolved", "the object has no name that a rule could match"},
		{"unknown", "the process belongs to no execution that is alive"},
		{"builtin", "no policy can allow this"},
		{"foreign", "it belongs to another execution or to the host"},
		{"ending", "the execution was being ended"},
		{"host", "the address is the host's own, and no rule names it"},
		{"changed", "the code does not match the recorded digest"},
		{"permissions", "the host's own permissions deny it, and a rule denies it, too"},
	};
	const char *words = find_words(phrases, ARRAY_SIZE(phrases), reason, size);

	/* the first phrase */
	if (words == phrases[0].phrase && is_for_destination(socket, socket_size))
		return "no rule allows it, and its destination is not known yet: `network: record` "
		       "logs the destination";
	return words ? words : "for an unknown reason";
}

const char *denial_reason_phrase(const json_t *record)
{
	const char *reason = view_text(record, "cordon.reason");
	const char *operation = view_text(record, "cordon.operation");
	const char *object = view_text(record, "cordon.object.text");

	if (!reason)
		reason = "";
	if (!object || !operation || strcmp(operation, "socket") != 0)
		object = "";
	return denial_reason_words(reason, strlen(reason), object, strlen(object));
}
