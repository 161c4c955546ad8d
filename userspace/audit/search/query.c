/* SPDX-License-Identifier: Apache-2.0 */
/* Says of a record, or of its line, whether a query asks for it. */
#include "audit/search/query.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

#include "audit/storage/chain.h"
#include "base/cleanup.h"
#include "base/uuid.h"

/* A shorter text may be a name. */
#define DIGEST_DIGITS_MIN 8

static int parse_number(const char *text, unsigned long limit, unsigned long *ret)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end || errno || value > limit)
		return -EINVAL;
	*ret = value;
	return 0;
}

/* Takes the port off the end of `host`. */
static int split_port(char *host, struct audit_network *network)
{
	char *colon = strrchr(host, ':'), *close = strchr(host, ']');
	unsigned long port;

	network->port = -1;
	if (host[0] == '[') {
		if (!close || (close[1] && close[1] != ':'))
			return -EINVAL;
		colon = close[1] ? close + 1 : NULL;
		*close = '\0';
		memmove(host, host + 1, strlen(host + 1) + 1);
		if (!colon)
			return 0;
	} else if (!colon || strchr(host, ':') != colon) {
		/* None, or an IPv6 address. */
		return 0;
	}
	if (parse_number(colon + 1, 65535, &port) < 0)
		return -EINVAL;
	*colon = '\0';
	network->port = (int)port;
	return 0;
}

int audit_network_parse(const char *text, struct audit_network *ret_network)
{
	_cleanup_(freep) char *host = strdup(text);
	struct audit_network network = {0};
	unsigned long bits, widest;
	char *slash;

	if (!host)
		return -ENOMEM;
	if (split_port(host, &network) < 0)
		return -EINVAL;
	slash = strchr(host, '/');
	if (slash)
		*slash++ = '\0';
	network.family = strchr(host, ':') ? AF_INET6 : AF_INET;
	widest = network.family == AF_INET6 ? 128 : 32;
	if (inet_pton(network.family, host, network.bytes) != 1)
		return -EINVAL;
	bits = widest;
	if (slash && parse_number(slash, widest, &bits) < 0)
		return -EINVAL;
	network.bits = (unsigned int)bits;
	*ret_network = network;
	return 0;
}

bool audit_network_contains(const struct audit_network *network, const char *address, size_t size)
{
	unsigned char bytes[16], mask;
	char text[INET6_ADDRSTRLEN];
	size_t whole = network->bits / 8;

	if (size >= sizeof(text))
		return false;
	memcpy(text, address, size);
	text[size] = '\0';
	if (inet_pton(network->family, text, bytes) != 1 ||
	    memcmp(bytes, network->bytes, whole) != 0)
		return false;
	if (network->bits % 8 == 0)
		return true;
	mask = (unsigned char)(0xff << (8 - network->bits % 8));
	return ((bytes[whole] ^ network->bytes[whole]) & mask) == 0;
}

bool audit_verdict_has(enum audit_verdict verdict, const char *action, size_t size)
{
	static const struct {
		enum audit_verdict verdict;
		const char *action;
	} actions[] = {
		{AUDIT_VERDICT_DENIED, "denial"},
		{AUDIT_VERDICT_DENIED, "attempt"},
		{AUDIT_VERDICT_DENIED, "execution-refused"},
		{AUDIT_VERDICT_WOULD_DENY, "would-deny"},
		{AUDIT_VERDICT_ALLOWED, "open"},
		{AUDIT_VERDICT_ALLOWED, "change"},
		{AUDIT_VERDICT_ALLOWED, "connect"},
		{AUDIT_VERDICT_ALLOWED, "process-exec"},
	};

	if (verdict == AUDIT_VERDICT_ANY)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		if (actions[i].verdict == verdict && strlen(actions[i].action) == size &&
		    memcmp(actions[i].action, action, size) == 0)
			return true;
	return false;
}

bool audit_query_is_empty(const struct audit_query *q)
{
	return !q->since && !q->until && !q->execution && !q->session && !q->agent && !q->policy &&
	       !q->operation && !q->action && q->verdict == AUDIT_VERDICT_ANY && !q->path &&
	       !q->address && !q->text && !q->sequence;
}

struct view {
	const char *data[SKIM_FIELD_COUNT]; /* NULL: absent */
	size_t size[SKIM_FIELD_COUNT];
};

static bool is(const struct view *v, enum skim_field field, const char *wanted)
{
	return !wanted || (v->data[field] && v->size[field] == strlen(wanted) &&
			   memcmp(v->data[field], wanted, v->size[field]) == 0);
}

static bool begins(const struct view *v, enum skim_field field, const char *wanted)
{
	return !wanted || (v->data[field] && v->size[field] >= strlen(wanted) &&
			   memcmp(v->data[field], wanted, strlen(wanted)) == 0);
}

static bool is_named(const struct view *v, const char *execution)
{
	return !execution ||
	       (v->data[SKIM_EXECUTION] &&
		uuid_is_named(v->data[SKIM_EXECUTION], v->size[SKIM_EXECUTION], execution));
}

static bool matches_policy(const struct view *v, const char *policy)
{
	if (!policy || is(v, SKIM_POLICY, policy))
		return true;
	return strlen(policy) >= DIGEST_DIGITS_MIN && begins(v, SKIM_DIGEST, policy);
}

static bool matches_path(const struct view *v, const struct audit_glob *path)
{
	static const enum skim_field fields[] = {SKIM_PATH, SKIM_EXECUTABLE};

	for (size_t i = 0; path && i < ARRAY_SIZE(fields); i++)
		if (v->data[fields[i]] &&
		    audit_glob_matches(path, v->data[fields[i]], v->size[fields[i]]))
			return true;
	return !path;
}

static bool matches_time(const struct view *v, const struct audit_query *q)
{
	const char *time = v->data[SKIM_TIME];
	size_t size = v->size[SKIM_TIME];

	if (!q->since && !q->until)
		return true;
	if (!time)
		return false;
	return (!q->since || (size == strlen(q->since) && memcmp(time, q->since, size) >= 0)) &&
	       (!q->until || (size == strlen(q->until) && memcmp(time, q->until, size) <= 0));
}

/* All but the port and the text. */
static bool matches_view(const struct audit_query *q, const struct view *v)
{
	const char *action = v->data[SKIM_ACTION], *address = v->data[SKIM_ADDRESS];

	return is_named(v, q->execution) && is(v, SKIM_SESSION, q->session) &&
	       is(v, SKIM_AGENT, q->agent) && is(v, SKIM_OPERATION, q->operation) &&
	       is(v, SKIM_ACTION, q->action) && matches_policy(v, q->policy) &&
	       matches_time(v, q) &&
	       (q->verdict == AUDIT_VERDICT_ANY ||
		(action && audit_verdict_has(q->verdict, action, v->size[SKIM_ACTION]))) &&
	       (!q->address ||
		(address && audit_network_contains(q->address, address, v->size[SKIM_ADDRESS]))) &&
	       matches_path(v, q->path);
}

static bool has_text(const json_t *value, const char *text)
{
	const char *key;
	json_t *member;
	size_t i;

	if (json_is_string(value))
		return strstr(json_string_value(value), text) != NULL;
	json_array_foreach(value, i, member)
		if (has_text(member, text))
			return true;
	/* The iterator only reads. */
	json_object_foreach((json_t *)value, key, member)
		if (has_text(member, text))
			return true;
	return false;
}

/* "cordon.execution.id" in a record. */
static const json_t *find_field(const json_t *record, const char *name)
{
	while (record) {
		size_t length = strcspn(name, ".");

		record = json_object_getn(record, name, length);
		if (!name[length])
			break;
		name += length + 1;
	}
	return record;
}

bool audit_query_matches(const struct audit_query *query, const json_t *record)
{
	struct view view = {0};

	for (unsigned int i = 0; i < SKIM_FIELD_COUNT; i++) {
		const json_t *value = find_field(record, skim_field_name(i));

		view.data[i] = json_string_value(value);
		view.size[i] = json_string_length(value);
	}
	if (!matches_view(query, &view))
		return false;
	if (query->address && query->address->port >= 0 &&
	    json_integer_value(find_field(record, "destination.port")) != query->address->port)
		return false;
	if (query->sequence &&
	    json_integer_value(json_object_get(record, "seq")) != (json_int_t)query->sequence)
		return false;
	return !query->text || has_text(record, query->text);
}

/* Could the text stand in this line? It does as JSON writes it, ASCII only. */
static bool may_have_text(const char *text, const char *line, size_t size)
{
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f || *c == '"' ||
		    *c == '\\')
			return true;
	return memmem(line, size, text, strlen(text)) != NULL;
}

enum query_answer audit_query_ask_line(const struct audit_query *query, const char *line,
				       size_t size)
{
	char decoded[SKIM_FIELD_COUNT][512];
	struct view view = {0};
	struct skim skim;
	uint64_t sequence;

	if (query->sequence && chain_sequence(line, size, &sequence) == 0 &&
	    sequence != query->sequence)
		return QUERY_NO;
	if (skim_record(line, size, &skim) < 0)
		return QUERY_NO;
	for (unsigned int i = 0; i < SKIM_FIELD_COUNT; i++) {
		int r;

		if (!skim.values[i].data)
			continue;
		r = skim_decode(&skim.values[i], decoded[i], sizeof(decoded[i]), &view.data[i],
				&view.size[i]);
		if (r < 0)
			return QUERY_MAYBE;
	}
	if (!matches_view(query, &view) || (query->text && !may_have_text(query->text, line, size)))
		return QUERY_NO;
	/* What the view leaves out. */
	return query->text || query->sequence || (query->address && query->address->port >= 0)
		       ? QUERY_MAYBE
		       : QUERY_YES;
}
