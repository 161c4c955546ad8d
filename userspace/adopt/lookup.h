/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks up the programs, directories, user and cgroup of an entry of cordon.yaml on this host, and
 * checks it against its policy. Used for applying the entry and for checking the file.
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
	char *text; /* the part of the entry, and the error */
};

/*
 * For each missing object the result has a problem, and the nearest substitute. An entry with
 * problems therefore matches no fewer processes than intended, and must not let them start
 * anything.
 */
struct lookup {
	struct lookup_problem *problems;
	size_t problem_count;
	/* Called for each directory that the result depends on; or NULL. */
	const struct name_visitor *visitor;
	/*
	 * Lists are NULL-terminated, or NULL. A missing program is stored by its future path.
	 * `targets`: the executor's real path; for a pattern only link targets that do not match
	 * it.
	 */
	char **targets;
	char *prefix;	/* of a pattern: its fixed part with links resolved; else NULL */
	char *note;	/* advice about the program, or NULL */
	size_t matches; /* programs that currently match the executor's name */
	char **programs, **except;
	char **under;	   /* existing directories */
	bool all_programs; /* all of `programs` exist */
	bool has_user;	   /* the entry has a user, which exists */
	uint32_t user;
	/* Ends with '/'. If the cgroup does not exist: its nearest existing ancestor. NULL: any. */
	char *cgroup;
	/* Of the policy. */
	struct policy_limits limits;
	int directories[CORDON_MAX_ANCHORS]; /* open for reading; -1: none */
};

/* Maximum of link targets that do not match their pattern. */
#define LOOKUP_TARGETS_MAX 64u

/* Initializes a lookup for the other functions; always release it. */
void lookup_begin(struct lookup *l);
void lookup_release(struct lookup *l);

/* Looks up everything that does not depend on the policy. Returns 0 or -ENOMEM. */
int lookup_names(struct lookup *l, const struct config_executor *is);

/*
 * Checks the entry against its policy and the host's coverage gaps (NULL-terminated; NULL:
 * unknown), and opens the bound directories. Returns 0 or -ENOMEM.
 */
int lookup_policy(struct lookup *l, const struct config_executor *is,
		  const struct compiled_policy *policy, char *const *gaps);

/*
 * Formats the values that may change while the entry is active, as lines "NAME is VALUE", for
 * comparisons. Excludes `targets` and the cgroup, which the kernel compares by name. The caller
 * frees the result; NULL if out of memory.
 */
char *lookup_text(const struct lookup *l, const struct config_executor *is);

/*
 * Fills in the executable's name as written, and nothing that would make the entry match fewer
 * processes. For an unresponsive file system. Returns 0, or -ENOMEM.
 */
int lookup_unresolved(struct lookup *l, const struct config_executor *is);

/* Moves all of `from` to `l`, behind the problems in `l`. Returns 0, or -ENOMEM. */
int lookup_join(struct lookup *l, struct lookup *from);

void lookup_put_problems(const struct lookup *l, FILE *to);
/* Returns 0, -EPROTO, or -ENOMEM. */
int lookup_take_problems(struct lookup *l, struct parcel *from);

/* Serializes the lookup for another process, without problems and descriptors. Check ferror(to). */
void lookup_put(const struct lookup *l, FILE *to);
/* Deserializes into a lookup after lookup_begin(). Returns 0, -EPROTO or -ENOMEM. */
int lookup_take(struct lookup *l, struct parcel *from);

/* Adds a problem. Returns 0 or -ENOMEM. */
int lookup_add_problem(struct lookup *l, int error, const char *format, ...) _printf_(3, 4);

#endif
