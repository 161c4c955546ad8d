/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an entry of cordon.yaml names, as this host has it: programs, directories, user, cgroup, and
 * what of it its policy has to have. The same for whoever puts the entry into force and for whoever
 * only checks the file.
 */
#ifndef CORDON_ADOPT_LOOKUP_H
#define CORDON_ADOPT_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "adopt/name_walk.h"
#include "base/cleanup.h"
#include "base/parcel.h"
#include "config/config.h"
#include "policy/core/compiled.h"

struct lookup_problem {
	int error;  /* negative errno */
	char *text; /* what of the entry, and what is wrong with it */
};

/*
 * Of what cannot be found there is a problem, and what comes nearest to it: an entry that goes by
 * that recognises no fewer than it should, and is to let none of them start anything.
 */
struct lookup {
	struct lookup_problem *problems;
	size_t problem_count;
	/* Called for each directory that a result depends on; NULL: nobody is. */
	const struct name_visitor *visitor;
	/*
	 * Lists are NULL-terminated, or NULL. A program that does not exist is stored by the path
	 * that it would have. `targets`: what the executor's name leads to; of a pattern, only what
	 * is not like it.
	 */
	char **targets;
	char *prefix;	/* of a pattern: its fixed part, links resolved; else NULL */
	char *note;	/* NULL, or what a person should know of the program */
	size_t matches; /* programs that the executor's name leads to now */
	char **programs, **except;
	char **under;	   /* directories, of those that are there */
	bool all_programs; /* each of `programs` is there */
	bool has_user;	   /* there is one, and it is known */
	uint32_t user;
	/* Ends with '/'. Of one that does not exist, the next above it that does. NULL: any. */
	char *cgroup;
	/* By the policy. */
	struct policy_limits limits;
	int directories[CORDON_MAX_ANCHORS]; /* open for reading; -1: none */
};

/* Programs that one pattern may lead to, beside those that are like it. */
#define LOOKUP_TARGETS_MAX 64u

/* For the others to add to; always to be released. */
void lookup_begin(struct lookup *l);
void lookup_release(struct lookup *l);

/* Everything that needs no policy. -ENOMEM. */
int lookup_names(struct lookup *l, const struct config_executor *is);

/*
 * Whether the entry can be used with this policy, on a host with these gaps (NULL-terminated, or
 * NULL: not known), and the directories that it binds. -ENOMEM.
 */
int lookup_policy(struct lookup *l, const struct config_executor *is,
		  const struct compiled_policy *policy, char *const *gaps);

/*
 * The values that may change while the entry is active, in lines "NAME is VALUE", to be compared.
 * Without `targets` and the cgroup, which the kernel compares by name. Caller frees; NULL: no
 * memory.
 */
char *lookup_text(const struct lookup *l, const struct config_executor *is);

/* For another process, without problems and descriptors. Check ferror(to). */
void lookup_put(const struct lookup *l, FILE *to);
/* Into what lookup_begin() made. -EPROTO; -ENOMEM. */
int lookup_take(struct lookup *l, struct parcel *from);

/* Adds what else is wrong. -ENOMEM. */
int lookup_add_problem(struct lookup *l, int error, const char *format, ...) _printf_(3, 4);

#endif
