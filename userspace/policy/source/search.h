/* SPDX-License-Identifier: Apache-2.0 */
/* Where policies are looked for that are named without a path. */
#ifndef CORDON_POLICY_SEARCH_H
#define CORDON_POLICY_SEARCH_H

#include <stddef.h>

#include "base/cleanup.h"
#include "policy/core/arena.h"

struct policy_inputs;

/* Where policies named without a path are looked for. */
struct policy_search {
	const char *const *directories; /* NULL-terminated; first hit wins */
	struct policy_inputs *inputs;	/* what is looked at is added there; NULL: nowhere */
};

/*
 * The directories for a program whose file is `executable`: those of the host, and last what came
 * with the program: PREFIX/share/cordon/policies for PREFIX/bin/cordon, or the source tree's
 * `policies` beside the build directory that the program lies in. NULL-terminated, each string and
 * the array to be freed. NULL without memory.
 */
char **policy_search_directories(const char *executable);

/* The same for the running program. */
char **policy_search_own_directories(void);

void policy_search_free(char **directories);
DEFINE_CLEANUP(char **, policy_search_free, policy_search_freep)

/*
 * The names of the policies in all directories, sorted, each once; fragments lie in directories
 * below and are not listed. Everything belongs to the arena. -ENOMEM.
 */
int policy_search_list(struct arena *a, const struct policy_search *search,
		       const char *const **ret_names, size_t *ret_count);

/* The fragments in the directories `runtime` there, sorted, NULL-terminated. As above. -ENOMEM. */
int policy_search_fragments(struct arena *a, const struct policy_search *search,
			    const char *const **ret_names);

/*
 * The policy or fragment ("runtime/linux") whose name is nearest; NULL: none is near, or no memory.
 * Belongs to the arena.
 */
const char *policy_search_near(struct arena *a, const struct policy_search *search,
			       const char *name);

#endif
