/* SPDX-License-Identifier: Apache-2.0 */
/* Which records somebody wants to see. Pure: a record or its line goes in, yes or no comes out. */
#ifndef CORDON_AUDIT_QUERY_H
#define CORDON_AUDIT_QUERY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/search/glob.h"
#include "audit/search/skim.h"

/* An address or a network, with or without a port. */
struct audit_network {
	int family; /* AF_INET or AF_INET6 */
	unsigned char bytes[16];
	unsigned int bits; /* that count */
	int port;	   /* -1: any */
};

/*
 * "203.0.113.7", "203.0.113.0/24", "203.0.113.7:443", "2001:db8::/32", "[2001:db8::1]:53". -EINVAL
 */
int audit_network_parse(const char *text, struct audit_network *ret_network);

enum audit_verdict {
	AUDIT_VERDICT_ANY,
	AUDIT_VERDICT_DENIED,
	AUDIT_VERDICT_WOULD_DENY,
	AUDIT_VERDICT_ALLOWED, /* an access or exec on record that was let through */
};

/* All that is given must hold; zeros and NULL: not asked. Strings are borrowed. */
struct audit_query {
	const char *since, *until; /* as "@timestamp" writes them; both inclusive */
	const char *execution;	   /* as uuid_is_named() has it; lower case */
	const char *session, *agent;
	const char
		*policy; /* its name, or how the digest of its tables begins (8 digits or more) */
	const char *operation, *action;
	enum audit_verdict verdict;
	const struct audit_glob *path; /* of a file, a socket or a program */
	const struct audit_network *address;
	const char *text;  /* within any string of the record */
	uint64_t sequence; /* its seq in the log */
};

/* Does every record match? */
bool audit_query_is_empty(const struct audit_query *query);

bool audit_query_matches(const struct audit_query *query, const json_t *record);

enum query_answer {
	QUERY_NO,    /* the record does not match */
	QUERY_MAYBE, /* audit_query_matches() knows */
	QUERY_YES,   /* it does, if the line is a record at all */
};

/* The same from a line, without parsing it. */
enum query_answer audit_query_ask_line(const struct audit_query *query, const char *line,
				       size_t size);

/* Does the verdict that is asked for have this event.action? */
bool audit_verdict_has(enum audit_verdict verdict, const char *action, size_t size);

bool audit_network_contains(const struct audit_network *network, const char *address, size_t size);

#endif
