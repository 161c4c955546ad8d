/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What executions were refused, as rules that would allow it: of those that live, and of the last
 * that have ended, so that whoever ran them can ask for more. Nobody can ask for anything but what
 * the kernel has refused.
 */
#ifndef CORDON_DAEMON_REFUSED_H
#define CORDON_DAEMON_REFUSED_H

#include <jansson.h>

#include "daemon/execution/execution.h"

/* Executions that have ended and can still be asked about. */
#define REFUSED_KEPT 128u
/* Rules of one, and bytes of all of them. */
#define REFUSED_RULES_MAX 64u
#define REFUSED_BYTES_MAX 16384u

struct refused {
	char id[UUID_TEXT_SIZE];
	uid_t uid; /* who may ask, besides root */
	bool member;
	bool live;
	char *policy; /* name */
	char *file;   /* of the policy */
	char *session;
	json_t *rules;	 /* an object whose keys they are: texts of YAML as suggestion.h has them */
	json_t *denials; /* an array: the first denial for each rule, for recording_add() */
	json_t *start;	 /* the execution's, for recording_add(); NULL: unknown */
	size_t settings; /* further refusals that no rule allows, but a word in `process` */
	size_t denied;	 /* further refusals by deny rules, which no further rule takes back */
	size_t omitted;	 /* further rules */
};

struct refused_list;

void refused_list_free(struct refused_list *list);

/* It has ended; of one to which nothing was refused nothing is kept. Without memory, neither. */
void refused_keep(const struct execution *e);

/*
 * The one execution whose id begins so, live or ended. Release it. -ENOENT: none, -ENOTUNIQ:
 * several; -ENOMEM. `peer`: who asks, and sees no others' than its own unless it is root.
 */
int refused_find(const struct daemon *daemon, const char *id, const struct peer *peer,
		 struct refused *ret_refused);
void refused_release(struct refused *refused);

/* The same of one that lives, and of these records alone. -ENOENT: it has no policy; -ENOMEM. */
int refused_of(const struct execution *e, const struct reported *reported,
	       struct refused *ret_refused);

/* The rules of such records, by kind. For refused_find(), and for tests. -ENOMEM. */
int refused_gather(const struct reported *reported, struct refused *refused);

/* A file that amends the policy by these rules. NULL without memory; caller frees. */
char *refused_policy_text(const struct refused *refused);

#endif
