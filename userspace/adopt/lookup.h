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

#include "base/cleanup.h"
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
	/*
	 * What a name for a program leads to; of what is not there, the place where it would be,
	 * links followed as far as they are there.
	 */
	char *program;
	char **programs, **except; /* NULL-terminated, or NULL */
	char **under;		   /* directories, of those that are there */
	bool all_programs;	   /* each of `programs` is there */
	bool has_user;		   /* there is one, and it is known */
	uint32_t user;
	bool has_cgroup; /* there is one; if it is not there, the next above it that is */
	uint64_t cgroup;
	uint32_t cgroup_level;
	/* By the policy. */
	struct policy_limits limits;
	int directories[CORDON_MAX_ANCHORS]; /* open for reading; -1: none */
};

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

/* Adds what else is wrong. -ENOMEM. */
int lookup_add_problem(struct lookup *l, int error, const char *format, ...) _printf_(3, 4);

#endif
