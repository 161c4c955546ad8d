/* SPDX-License-Identifier: Apache-2.0 */
/* Denial records, the identical ones merged, and what they say in words. */
#ifndef CORDON_INSIGHT_DENIALS_H
#define CORDON_INSIGHT_DENIALS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct denial_group {
	const json_t *first; /* the first of the records, borrowed */
	uint64_t count;	     /* accesses refused, those that the kernel merged included */
	uint64_t records;
};

struct denial_groups {
	struct denial_group *items; /* in the order of their first records */
	size_t count, capacity;
	json_t *index; /* from what makes denials identical to the place in items */
};

/* Zero-initialise groups before the first call. */
void denial_groups_free(struct denial_groups *groups);

/*
 * Adds a record; identical are those with the same operation, object, rights, rule, reason, error
 * and action. *ret_index: its group; *ret_new: it is the group's first. -ENOMEM.
 */
int denial_groups_add(struct denial_groups *groups, const json_t *record, size_t *ret_index,
		      int *ret_new);

/*
 * "read of /etc/shadow was refused", "connection to 203.0.113.7:443 would have been refused".
 * Untrusted text is in it as it is. NULL without memory. Caller frees.
 */
char *denial_phrase(const json_t *record);

/* The same, of another object. */
char *denial_phrase_of(const json_t *record, const char *object);

/* Why, without a rule: "no rule allows it". Never NULL. */
const char *denial_reason_phrase(const json_t *record);

/*
 * The words of a right ("read of"), of an operation without rights, and of a reason, whose names
 * need no NUL behind them. NULL, but for the last: it has none but its name.
 */
const char *denial_right_words(const char *right, size_t size);
const char *denial_operation_words(const char *operation, size_t size);
/* `socket`: which kind was to be made, of that operation; else empty. */
const char *denial_reason_words(const char *reason, size_t size, const char *socket,
				size_t socket_size);

#endif
