/* SPDX-License-Identifier: Apache-2.0 */
/* Groups identical denial records, and describes them in words. */
#ifndef CORDON_INSIGHT_DENIALS_H
#define CORDON_INSIGHT_DENIALS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct denial_group {
	const json_t *first; /* the first record, not owned */
	uint64_t count;	     /* denied accesses, with merged ones */
	uint64_t records;
};

struct denial_groups {
	struct denial_group *items; /* in the order of their first records */
	size_t count, capacity;
	json_t *index; /* from a denial's identity to its index in items */
};

/* Zero-initialise groups before the first call. */
void denial_groups_free(struct denial_groups *groups);

/*
 * Adds a record. Records are identical if they have the same operation, object, rights, rule,
 * reason, error and action. *ret_index: its group; *ret_new: the group is new. Returns 0 or
 * -ENOMEM.
 */
int denial_groups_add(struct denial_groups *groups, const json_t *record, size_t *ret_index,
		      int *ret_new);

/*
 * Formats "read of /etc/shadow was denied" or "connection to 203.0.113.7:443 would have been
 * refused". Contains untrusted text unescaped. The caller frees it; NULL if out of memory.
 */
char *denial_phrase(const json_t *record);

/* The same, for another object. */
char *denial_phrase_of(const json_t *record, const char *object);

/* Returns the reason without a rule: "no rule allows it". Never NULL. */
const char *denial_reason_phrase(const json_t *record);

/*
 * Return the words for a right ("read of"), for an operation without rights, and for a reason. The
 * names need no NUL. NULL for unknown names, except that the last never returns NULL.
 */
const char *denial_right_words(const char *right, size_t size);
const char *denial_operation_words(const char *operation, size_t size);
/* `socket`: the kind of socket for an operation that creates one; else empty. */
const char *denial_reason_words(const char *reason, size_t size, const char *socket,
				size_t socket_size);

#endif
