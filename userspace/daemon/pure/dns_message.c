/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes DNS messages (RFC 1035) as far as a stub needs them. */
#include "daemon/pure/dns_message.h"

#include <errno.h>
#include <string.h>

#define FLAG_ANSWER    0x8000u
#define FLAG_OPCODE    0x7800u
#define FLAG_TRUNCATED 0x0200u
#define FLAG_RECURSE   0x0100u
#define FLAG_RECURSES  0x0080u
#define CODE_MASK      0x000fu
#define CLASS_IN       1u
#define TYPE_OPT       41u
#define POINTERS_MAX   16

/* Reads on: `at` moves only where all was there. */
struct reading {
	const uint8_t *data;
	size_t size;
	size_t at;
};

static bool take(struct reading *r, unsigned int bytes, uint32_t *ret_number)
{
	uint32_t number = 0;

	if (r->size - r->at < bytes)
		return false;
	for (unsigned int i = 0; i < bytes; i++)
		number = number << 8 | r->data[r->at++];
	*ret_number = number;
	return true;
}

/*
 * A name, with pointers followed: these only lead backwards, so that none is met twice. A name that
 * is no host name comes back empty.
 */
static bool take_name(struct reading *r, char name[HOST_NAME_SIZE])
{
	char text[2 * HOST_NAME_SIZE];
	size_t at = r->at, end = 0, length = 0, limit = r->size;
	bool usable = true;

	for (int pointers = 0;;) {
		uint8_t size;

		if (at >= limit)
			return false;
		size = r->data[at++];
		if ((size & 0xc0) == 0xc0) {
			size_t target;

			if (at >= r->size || ++pointers > POINTERS_MAX)
				return false;
			target = (size_t)(size & 0x3f) << 8 | r->data[at++];
			if (!end)
				end = at;
			if (target >= at - 2)
				return false;
			limit = at - 2;
			at = target;
			continue;
		}
		if (size & 0xc0)
			return false;
		if (size == 0)
			break;
		if (limit - at < size || length + size + 1 > HOST_NAME_SIZE)
			return false;
		for (size_t i = 0; i < size; i++) {
			usable &= r->data[at + i] != '.' && r->data[at + i] != '\0';
			text[length++] = (char)r->data[at + i];
		}
		text[length++] = '.';
		at += size;
	}
	r->at = end ? end : at;
	text[length ? length - 1 : 0] = '\0';
	if (!usable || host_name_read(text, false, name) < 0)
		name[0] = '\0';
	return true;
}

int dns_query_read(const uint8_t *data, size_t size, struct dns_query *ret_query)
{
	struct reading r = {data, size, 0};
	uint32_t id, flags, questions, rest, type, class;
	struct dns_query query = {0};

	if (!take(&r, 2, &id) || !take(&r, 2, &flags) || (flags & FLAG_ANSWER) ||
	    !take(&r, 2, &questions) || !take(&r, 4, &rest) || !take(&r, 2, &rest))
		return -EBADMSG;
	query.id = (uint16_t)id;
	query.recursion = (flags & FLAG_RECURSE) != 0;
	*ret_query = query;
	if ((flags & FLAG_OPCODE) || questions != 1 || !take_name(&r, query.name) ||
	    !take(&r, 2, &type) || !take(&r, 2, &class))
		return -EINVAL;
	query.type = (uint16_t)type;
	*ret_query = query;
	return class == CLASS_IN && query.name[0] ? 0 : -EINVAL;
}

static bool is_host_name(const char name[HOST_NAME_SIZE])
{
	char again[HOST_NAME_SIZE];

	return memchr(name, '\0', HOST_NAME_SIZE) && host_name_read(name, false, again) == 0 &&
	       strcmp(name, again) == 0;
}

bool dns_query_is_possible(const struct dns_query *query)
{
	return query->recursion <= 1 && (query->name[0] == '\0' || is_host_name(query->name));
}

/* Writes on, as far as there is room; `full` says that there was not. */
struct writing {
	uint8_t *data;
	size_t size;
	size_t at;
	bool full;
};

static void put(struct writing *w, unsigned int bytes, uint32_t number)
{
	if (w->size - w->at < bytes) {
		w->full = true;
		return;
	}
	while (bytes--)
		w->data[w->at++] = (uint8_t)(number >> 8 * bytes);
}

static void put_bytes(struct writing *w, const void *bytes, size_t size)
{
	if (w->size - w->at < size) {
		w->full = true;
		return;
	}
	memcpy(w->data + w->at, bytes, size);
	w->at += size;
}

static void put_question(struct writing *w, const struct dns_query *query)
{
	const char *label = query->name;

	while (*label) {
		size_t size = strcspn(label, ".");

		put(w, 1, (uint32_t)size);
		put_bytes(w, label, size);
		label += size + (label[size] == '.');
	}
	put(w, 1, 0);
	put(w, 2, query->type);
	put(w, 2, CLASS_IN);
}

static void put_header(struct writing *w, uint16_t id, uint32_t flags, uint32_t questions,
		       uint32_t additional)
{
	put(w, 2, id);
	put(w, 2, flags);
	put(w, 2, questions);
	put(w, 4, 0);
	put(w, 2, additional);
}

size_t dns_query_write(const struct dns_query *query, uint8_t buffer[DNS_QUERY_MAX])
{
	struct writing w = {buffer, DNS_QUERY_MAX, 0, false};

	put_header(&w, query->id, FLAG_RECURSE, 1, 1);
	put_question(&w, query);
	/* EDNS: the root's name, how much may come, and no option. */
	put(&w, 1, 0);
	put(&w, 2, TYPE_OPT);
	put(&w, 2, DNS_ANSWER_MAX);
	put(&w, 4, 0);
	put(&w, 2, 0);
	return w.at;
}

struct resource {
	char name[HOST_NAME_SIZE];
	uint32_t type, class, ttl;
	size_t data; /* offset */
	uint32_t size;
};

static bool take_resource(struct reading *r, struct resource *ret)
{
	if (!take_name(r, ret->name) || !take(r, 2, &ret->type) || !take(r, 2, &ret->class) ||
	    !take(r, 4, &ret->ttl) || !take(r, 2, &ret->size) || r->size - r->at < ret->size)
		return false;
	ret->data = r->at;
	r->at += ret->size;
	return true;
}

/* Walks over the answers; `visit` returns false to stop. */
static int for_each_answer(const struct reading *start, uint32_t count,
			   bool (*visit)(const struct reading *r, const struct resource *resource,
					 void *context),
			   void *context)
{
	struct reading r = *start;

	for (uint32_t i = 0; i < count; i++) {
		struct resource resource;

		if (!take_resource(&r, &resource))
			return -EBADMSG;
		if (resource.class == CLASS_IN && !visit(&r, &resource, context))
			break;
	}
	return 0;
}

struct search {
	const char *name; /* that is looked for */
	uint16_t type;
	struct dns_answer *answer;
	char alias[HOST_NAME_SIZE]; /* that it leads to, or "" */
	bool malformed;
};

static void shorten(struct dns_answer *answer, uint32_t ttl)
{
	/* A set first bit means 0 (RFC 2181, section 8). */
	ttl = ttl >> 31 ? 0 : ttl;
	if (ttl < answer->ttl)
		answer->ttl = ttl;
}

static bool visit_alias(const struct reading *r, const struct resource *resource, void *context)
{
	struct search *s = context;
	struct reading name = {r->data, resource->data + resource->size, resource->data};

	if (resource->type != DNS_TYPE_CNAME || strcmp(resource->name, s->name) != 0)
		return true;
	s->malformed = !take_name(&name, s->alias) || !s->alias[0] ||
		       name.at != resource->data + resource->size;
	shorten(s->answer, resource->ttl);
	return false;
}

static bool visit_address(const struct reading *r, const struct resource *resource, void *context)
{
	struct search *s = context;
	struct dns_answer *answer = s->answer;
	uint32_t size = s->type == DNS_TYPE_A ? 4 : 16;
	struct dns_address *address = &answer->addresses[answer->address_count];

	if (resource->type != s->type || strcmp(resource->name, s->name) != 0)
		return true;
	if (resource->size != size) {
		s->malformed = true;
		return false;
	}
	if (answer->address_count == DNS_ADDRESSES_MAX)
		return false;
	address->family = size == 4 ? 4 : 6;
	memcpy(address->address, r->data + resource->data, size);
	answer->address_count++;
	shorten(answer, resource->ttl);
	return true;
}

static int follow(const struct reading *answers, uint32_t count, const struct dns_query *query,
		  struct dns_answer *answer)
{
	struct search s = {.name = query->name, .type = query->type, .answer = answer};

	for (;;) {
		if (for_each_answer(answers, count, visit_address, &s) < 0 || s.malformed)
			return -EBADMSG;
		if (answer->address_count > 0)
			return 0;
		s.alias[0] = '\0';
		if (for_each_answer(answers, count, visit_alias, &s) < 0 || s.malformed)
			return -EBADMSG;
		if (!s.alias[0])
			return 0;
		if (answer->alias_count == DNS_ALIASES_MAX)
			return -ELOOP;
		memcpy(answer->aliases[answer->alias_count], s.alias, HOST_NAME_SIZE);
		s.name = answer->aliases[answer->alias_count++];
	}
}

int dns_answer_read(const uint8_t *data, size_t size, const struct dns_query *query,
		    struct dns_answer *ret_answer)
{
	struct reading r = {data, size, 0};
	uint32_t id, flags, questions, answers, rest, type, class;
	struct dns_answer answer = {.ttl = UINT32_MAX};
	char name[HOST_NAME_SIZE];
	int e;

	if (!take(&r, 2, &id) || id != query->id || !take(&r, 2, &flags) ||
	    !(flags & FLAG_ANSWER) || (flags & FLAG_OPCODE) || !take(&r, 2, &questions) ||
	    questions != 1 || !take(&r, 2, &answers) || !take(&r, 4, &rest) ||
	    !take_name(&r, name) || !take(&r, 2, &type) || !take(&r, 2, &class) ||
	    type != query->type || class != CLASS_IN || strcmp(name, query->name) != 0)
		return -EBADMSG;
	answer.code = (enum dns_code)(flags & CODE_MASK);
	answer.truncated = (flags & FLAG_TRUNCATED) != 0;
	/* What is missing behind the cut is no error. */
	e = answer.truncated ? 0 : follow(&r, answers, query, &answer);
	if (e < 0)
		return e;
	if (answer.ttl == UINT32_MAX)
		answer.ttl = 0;
	*ret_answer = answer;
	return 0;
}

bool dns_answer_is_possible(const struct dns_answer *answer, const struct dns_query *query)
{
	uint8_t family = query->type == DNS_TYPE_A ? 4 : 6;

	if ((unsigned int)answer->code > CODE_MASK || answer->truncated > 1 ||
	    answer->address_count > DNS_ADDRESSES_MAX || answer->alias_count > DNS_ALIASES_MAX)
		return false;
	for (size_t i = 0; i < answer->address_count; i++)
		if (answer->addresses[i].family != family)
			return false;
	for (size_t i = 0; i < answer->alias_count; i++)
		if (!is_host_name(answer->aliases[i]))
			return false;
	return true;
}

size_t dns_answer_write(const struct dns_query *query, const struct dns_answer *answer,
			uint8_t *buffer, size_t size)
{
	struct writing w = {buffer, size, 0, false};
	uint32_t flags = FLAG_ANSWER | FLAG_RECURSES | (query->recursion ? FLAG_RECURSE : 0);
	uint32_t count = 0;

	put_header(&w, query->id, flags | (uint32_t)answer->code, query->name[0] ? 1 : 0, 0);
	if (query->name[0])
		put_question(&w, query);
	for (size_t i = 0; i < answer->address_count && query->name[0]; i++) {
		const struct dns_address *address = &answer->addresses[i];
		uint32_t bytes = address->family == 4 ? 4 : 16;

		if (w.size - w.at < 12 + bytes)
			break;
		/* The name: as in the question. */
		put(&w, 2, 0xc000 | DNS_HEADER_SIZE);
		put(&w, 2, address->family == 4 ? DNS_TYPE_A : DNS_TYPE_AAAA);
		put(&w, 2, CLASS_IN);
		put(&w, 4, answer->ttl);
		put(&w, 2, bytes);
		put_bytes(&w, address->address, bytes);
		count++;
	}
	if (w.full)
		return 0;
	buffer[7] = (uint8_t)count;
	return w.at;
}
