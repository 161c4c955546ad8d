/* SPDX-License-Identifier: Apache-2.0 */
/* Search directories for policies that are named without a path. */
#ifndef CORDON_POLICY_SEARCH_H
#define CORDON_POLICY_SEARCH_H

#include <stddef.h>

#include "base/cleanup.h"
#include "policy/core/arena.h"

struct policy_inputs;

/* The search for policies that are named without a path. */
struct policy_search {
	const char *const *directories; /* NULL-terminated; the first match is used */
	struct policy_inputs
		*inputs; /* looked-up files and names are added there; NULL: not recorded */
};

/*
 * The search directories for a program with the file `executable`. First the directories of the
 * host, last the policies that come with the program. The latter are PREFIX/share/cordon/policies
 * for PREFIX/bin/cordon, or `policies` in the source tree of the program's build directory.
 *
 * NULL-terminated; each string and the array must be freed. NULL: no memory.
 */
char **policy_search_directories(const char *executable);

/* The same for the running program. */
char **policy_search_own_directories(void);

void policy_search_free(char **directories);
DEFINE_CLEANUP(char **, policy_search_free, policy_search_freep)

/*
 * The names of the policies in all directories, sorted and without duplicates. Fragments are in
 * subdirectories and are not listed. The arena owns everything. -ENOMEM.
 */
int policy_search_list(struct arena *a, const struct policy_search *search,
		       const char *const **ret_names, size_t *ret_count);

/* The fragments in the directories `runtime` there, sorted, NULL-terminated. As above. -ENOMEM. */
int policy_search_fragments(struct arena *a, const struct policy_search *search,
			    const char *const **ret_names);

/*
 * The policy or fragment ("runtime/linux") with the most similar name. NULL: none is similar, or no
 * memory. The arena owns the string.
 */
const char *policy_search_near(struct arena *a, const struct policy_search *search,
			       const char *name);

#endif
