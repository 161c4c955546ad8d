/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the object in a record to the form of the kernel's policy check. */
#include <arpa/inet.h>
#include <limits.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <string.h>

#include "audit/record/names.h"
#include "insight/recording/recording_state.h"
#include "insight/text/view.h"
#include "policy/ask/host_judge.h"
#include "policy/source/units.h"
#include "policy/source/words.h"

/* For a looked-up name: a rule with any port permits the lookup. */
#define LIKELY_PORT 443u

const char *recording_copy(struct recording *r, const char *text)
{
	return text ? arena_copy(r->arena, text, strlen(text)) : "";
}

/* Returns an empty text for invalid Base64. */
static char *decode_base64(struct arena *a, const char *text, size_t *ret_size)
{
	size_t length = strlen(text), padding = 0;
	char *bytes = arena_alloc(a, length + 1);
	int size;

	if (!bytes)
		return NULL;
	while (padding < 2 && padding < length && text[length - 1 - padding] == '=')
		padding++;
	size = length > INT_MAX ? -1
				: EVP_DecodeBlock((unsigned char *)bytes,
						  (const unsigned char *)text, (int)length);
	*ret_size = size < (int)padding ? 0 : (size_t)size - padding;
	return bytes;
}

int recording_bytes(struct recording *r, const json_t *object, const char *key,
		    const char **ret_bytes, size_t *ret_size)
{
	const json_t *text = json_object_get(object, key);
	_cleanup_(freep) char *exact_key = NULL;
	const char *exact;

	if (asprintf(&exact_key, "%s_base64", key) < 0)
		return -ENOMEM;
	exact = json_string_value(json_object_get(object, exact_key));
	if (exact) {
		*ret_bytes = decode_base64(r->arena, exact, ret_size);
	} else {
		*ret_size = json_string_length(text);
		*ret_bytes = arena_copy(r->arena, text ? json_string_value(text) : "", *ret_size);
	}
	return *ret_bytes ? 0 : -ENOMEM;
}

uint32_t recording_find_name(const char *(*name_of)(uint32_t number), uint32_t count,
			     const char *name)
{
	for (uint32_t i = 0; name && i < count; i++)
		if (strcmp(name_of(i), name) == 0)
			return i;
	return count;
}

static size_t digits_at(const char *text)
{
	return strspn(text, "0123456789");
}

/* Replaces a pid below /proc by "self", as in rules, unless it belongs to another execution. */
static int spell_self(struct recording *r, struct recorded_access *a)
{
	static const char proc[] = "/proc/";
	size_t head = strlen(proc), digits, rest;
	char *spelled;

	if (a->size < head || memcmp(a->bytes, proc, head) != 0 ||
	    a->reason == CORDON_REASON_FOREIGN)
		return 0;
	digits = digits_at(a->bytes + head);
	if (!digits || (a->bytes[head + digits] && a->bytes[head + digits] != '/'))
		return 0;
	rest = a->size - head - digits;
	spelled = arena_alloc(r->arena, head + 4 + rest + 1);
	if (!spelled)
		return -ENOMEM;
	memcpy(spelled, "/proc/self", head + 4);
	memcpy(spelled + head + 4, a->bytes + head + digits, rest);
	a->bytes = spelled;
	a->size = head + 4 + rest;
	return 0;
}

static bool is_below(const char *path, size_t size, const char *directory, size_t n)
{
	return size >= n && memcmp(path, directory, n) == 0 && (size == n || path[n] == '/');
}

/*
 * The hooks for times and extended attributes have no mount, so that their names begin at the file
 * system's root. Searches the name below the policy's variables, because only these can permit it,
 * by comparing the ends of their paths. Returns false if it is below none.
 */
static bool place_unmounted(struct recording *r, const struct recorded_run *run,
			    struct recorded_access *a)
{
	const char *best = NULL, *best_end = NULL;

	for (size_t i = 0; i < run->directory_count; i++) {
		const char *path = run->directories[i].path, *end = path;

		if (is_below(a->bytes, a->size, path, strlen(path)))
			return true;
		while ((end = strchr(end + 1, '/'))) {
			if (!is_below(a->bytes, a->size, end, strlen(end)) ||
			    (best && strlen(end) < strlen(best_end)))
				continue;
			best = path;
			best_end = end;
		}
	}
	if (!best)
		return false;
	a->bytes = arena_printf(r->arena, "%.*s%s", (int)(best_end - best), best, a->bytes);
	a->size = a->bytes ? strlen(a->bytes) : 0;
	return a->bytes != NULL;
}

/*
 * True for files in a file system that the execution mounted for itself: rules do not cover these.
 */
static bool is_in_own_memory(const struct recorded_access *a)
{
	const size_t n = strlen(CORDON_OWN_FILES);

	return a->size >= n && memcmp(a->bytes, CORDON_OWN_FILES, n) == 0 &&
	       (a->bytes[n] == '/' || a->bytes[n] == '\0');
}

static int take_path(struct recording *r, const struct recorded_run *run, const json_t *object,
		     struct recorded_access *a)
{
	int result = recording_bytes(r, object, "text", &a->bytes, &a->size);
	bool unmounted = a->operation == CORDON_OP_SETATTR || a->operation == CORDON_OP_SETXATTR;

	if (result < 0)
		return result;
	a->text = recording_copy(r, json_string_value(json_object_get(object, "text")));
	a->kind = a->size && a->bytes[0] == '/' ? ACCESS_PATH : ACCESS_OTHER;
	if (is_in_own_memory(a))
		a->kind = ACCESS_OTHER;
	a->temporary = json_is_true(json_object_get(object, "temporary"));
	a->own_terminal = json_is_true(json_object_get(object, "own_terminal"));
	a->case_insensitive = json_is_true(json_object_get(object, "case_insensitive"));
	a->partial = json_object_get(object, "length") || json_object_get(object, "text_length") ||
		     json_is_true(json_object_get(object, "moved")) ||
		     /* Read during a rename: no object has this name. */
		     (a->size > 0 && memchr(a->bytes, '\0', a->size));
	if (a->size > 1 && a->bytes[a->size - 1] == '/') {
		a->bytes = arena_copy(r->arena, a->bytes, --a->size);
		a->listing = true;
	}
	if (!a->bytes || !a->text)
		return -ENOMEM;
	if (unmounted && !place_unmounted(r, run, a))
		a->partial = true;
	return a->bytes ? spell_self(r, a) : -ENOMEM;
}

static const char *set_bytes(struct recording *r, struct recorded_access *a, const void *bytes,
			     size_t size)
{
	a->size = size;
	a->bytes = arena_copy(r->arena, bytes, size);
	return a->bytes;
}

static uint32_t protocol_number(const char *name)
{
	for (uint32_t i = 0; name && i < 256; i++)
		if (name_of_protocol(i) && strcmp(name_of_protocol(i), name) == 0)
			return i;
	return name ? (uint32_t)strtoul(name, NULL, 10) : 0;
}

/* Reads the name that granted the access, or a name of the address. */
static int take_domain(struct recording *r, const json_t *record, struct recorded_access *a)
{
	const char *domain = view_text(record, "destination.domain");
	unsigned char bytes[CORDON_HOST_QUESTION_SIZE];
	char name[HOST_NAME_SIZE];

	if (!domain || host_name_read(domain, false, name) < 0)
		return 0;
	a->named_size = host_question_at(name, (uint8_t)a->bytes[1],
					 (uint16_t)view_number(record, "destination.port"), bytes);
	if (a->named_size == 0)
		return 0;
	a->named = arena_copy(r->arena, (const char *)bytes, a->named_size);
	a->domain = recording_copy(r, name);
	return a->named && a->domain ? 0 : -ENOMEM;
}

static int take_net(struct recording *r, const json_t *record, struct recorded_access *a)
{
	const char *ip = view_text(record, "destination.ip");
	const char *transport = view_text(record, "network.transport");
	uint64_t port = view_number(record, "destination.port");
	unsigned char bytes[20] = {0}, address[16];
	size_t n;

	a->kind = ACCESS_OTHER;
	if (!ip)
		return 0;
	n = strchr(ip, ':') ? 16 : 4;
	if (inet_pton(n == 4 ? AF_INET : AF_INET6, ip, address) != 1)
		return 0;
	bytes[0] = n == 4 ? 4 : 6;
	bytes[1] = (unsigned char)protocol_number(transport);
	memcpy(bytes + 2, address, n);
	bytes[2 + n] = (unsigned char)(port >> 8);
	bytes[3 + n] = (unsigned char)port;
	a->kind = ACCESS_NET;
	a->text = arena_printf(r->arena, n == 4 ? "%s:%s:%llu" : "%s:[%s]:%llu",
			       transport ? transport : "?", ip, (unsigned long long)port);
	return a->text && set_bytes(r, a, bytes, n + 4) ? take_domain(r, record, a) : -ENOMEM;
}

static int take_host(struct recording *r, struct recorded_access *a)
{
	unsigned char bytes[CORDON_HOST_QUESTION_SIZE];
	char name[HOST_NAME_SIZE];
	size_t size;

	if (host_name_read(a->text, false, name) < 0)
		return 0;
	size = host_question_at(name, IPPROTO_TCP, LIKELY_PORT, bytes);
	if (size == 0)
		return 0;
	a->kind = ACCESS_HOST;
	return set_bytes(r, a, bytes, size) ? 0 : -ENOMEM;
}

/* Parses a word of a table, or a number. */
static uint64_t word_or_number(const struct word *words, const char *text, size_t size)
{
	char copied[32] = "";
	const struct word *found;
	uint64_t number = 0;

	if (size < sizeof(copied))
		memcpy(copied, text, size);
	found = words_find(words, copied);
	if (found)
		return found->value;
	return units_number(copied, &number) == 0 ? number : protocol_number(copied);
}

static int take_socket(struct recording *r, struct recorded_access *a)
{
	const char *type = strchr(a->text, '/'), *protocol = type ? strchr(type + 1, '/') : NULL;
	unsigned char bytes[4];
	uint64_t number;

	a->kind = ACCESS_OTHER;
	if (!protocol)
		return 0;
	bytes[0] = (unsigned char)word_or_number(words_socket_families, a->text,
						 (size_t)(type - a->text));
	bytes[1] = (unsigned char)word_or_number(words_socket_types, type + 1,
						 (size_t)(protocol - type - 1));
	number = word_or_number(words_socket_protocols, protocol + 1, strlen(protocol + 1));
	bytes[2] = (unsigned char)(number >> 8);
	bytes[3] = (unsigned char)number;
	a->kind = ACCESS_SOCKET;
	return set_bytes(r, a, bytes, sizeof(bytes)) ? 0 : -ENOMEM;
}

static void take_number(struct recorded_access *a)
{
	a->kind = ACCESS_OTHER;
	if (a->reason == CORDON_REASON_BUILTIN)
		return;
	if (a->operation == CORDON_OP_USERNS)
		a->kind = ACCESS_USERNS;
	if (a->operation != CORDON_OP_CAPABLE)
		return;
	for (uint64_t number = 0; number < 64; number++) {
		const char *name = name_of_capability(number);

		if (!name || strcmp(name, a->text) != 0)
			continue;
		a->kind = ACCESS_CAPABILITY;
		a->number = number;
	}
}

static void take_process(const struct recording *r, const struct recorded_run *run,
			 struct recorded_access *a)
{
	const char *pid = a->text + strcspn(a->text, "0123456789");
	char key[96];

	snprintf(key, sizeof(key), "%s %.*s", run->id, (int)digits_at(pid), pid);
	a->own = json_object_get(r->pids, key) != NULL;
	a->kind = a->operation == CORDON_OP_SIGNAL  ? ACCESS_SIGNAL
		  : a->operation == CORDON_OP_TRACE ? ACCESS_TRACE
						    : ACCESS_OTHER;
}

int recording_object(struct recording *r, const struct recorded_run *run, const json_t *record,
		     struct recorded_access *a)
{
	const json_t *object = view_field(record, "cordon.object");
	const char *kind = view_text(record, "cordon.object.kind");

	a->kind = ACCESS_OTHER;
	a->text = recording_copy(r, view_text(record, "cordon.object.text"));
	if (!a->text)
		return -ENOMEM;
	switch (recording_find_name(name_of_object_kind, CORDON_OBJECT_COUNT, kind)) {
	case CORDON_OBJECT_PATH:
		return take_path(r, run, object, a);
	case CORDON_OBJECT_SPECIAL:
		a->kind = ACCESS_SPECIAL;
		return set_bytes(r, a, a->text, strlen(a->text)) ? 0 : -ENOMEM;
	case CORDON_OBJECT_ABSTRACT:
		a->kind = ACCESS_ABSTRACT;
		return recording_bytes(r, object, "text", &a->bytes, &a->size);
	case CORDON_OBJECT_NET:
		return take_net(r, record, a);
	case CORDON_OBJECT_HOST:
		return take_host(r, a);
	case CORDON_OBJECT_SOCKET:
		return take_socket(r, a);
	case CORDON_OBJECT_NUMBER:
		take_number(a);
		break;
	case CORDON_OBJECT_PROCESS:
		take_process(r, run, a);
		break;
	default:
		break;
	}
	return a->bytes || set_bytes(r, a, a->text, strlen(a->text)) ? 0 : -ENOMEM;
}
