/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles policy files. */
#ifndef CORDON_POLICY_COMPILE_H
#define CORDON_POLICY_COMPILE_H

#include <stddef.h>

#include "policy/core/compiled.h"
#include "policy/source/diagnostic.h"
#include "policy/source/search.h"

/*
 * Loads a policy with its includes and compiles it. `name_or_path` is a path if it contains '/' or
 * ends in ".yaml". Otherwise it is a name, and NAME.yaml is searched in the search directories. An
 * include is first searched relative to the including file's directory, then in the search
 * directories.
 *
 * Errors are added to `diagnostics`; warnings may also be added on success. Caller releases with
 * compiled_policy_free().
 *
 * -EINVAL: the policy has errors, each is in `diagnostics`. -ENOENT, -EACCES, -EISDIR, ...: the
 * file cannot be read (also in `diagnostics`). -E2BIG: a limit of the compiler or of the file size,
 * with the largest rules in `diagnostics`. -ENOMEM.
 */
int policy_compile(const char *name_or_path, const struct policy_search *search,
		   struct diagnostics *diagnostics, struct compiled_policy **ret_policy);

/*
 * The same from text in memory; `file` is its name in diagnostics, and includes are relative to it.
 */
int policy_compile_text(const char *text, size_t size, const char *file,
			const struct policy_search *search, struct diagnostics *diagnostics,
			struct compiled_policy **ret_policy);

/*
 * policy_compile() for callers that only check a file. It also accepts fragments; policy_compile()
 * returns -EINVAL for them, because nothing can run under a fragment.
 */
int policy_check(const char *name_or_path, const struct policy_search *search,
		 struct diagnostics *diagnostics, struct compiled_policy **ret_policy);

/*
 * The same, with warnings and notes about names that match other objects on this host than
 * expected.
 */
int policy_check_host(const char *name_or_path, const struct policy_search *search,
		      struct diagnostics *diagnostics, struct compiled_policy **ret_policy);

/*
 * A policy in its written form, next to the compiled one. Rules can be removed from it, to find
 * others that allow the same.
 */
struct policy_written;

/* policy_check() that also returns the written form. Free it with policy_written_free(). */
int policy_check_written(const char *name_or_path, const struct policy_search *search,
			 struct diagnostics *diagnostics, struct policy_written **ret_written,
			 struct compiled_policy **ret_policy);
void policy_written_free(struct policy_written *written);
DEFINE_CLEANUP(struct policy_written *, policy_written_free, policy_written_freep)

/*
 * Compiles the policy without the rules that are flagged in `left_out` (an array with one flag per
 * rule). The other rules keep their numbers. -E2BIG: the rest exceeds the compiler's limits, which
 * is possible with fewer rules; -ENOMEM.
 */
int policy_written_without(const struct policy_written *written, const bool *left_out,
			   struct compiled_policy **ret_policy);

/* All rules' patterns, for policy_match_rules(). Free with nfa_free(). -E2BIG, -ENOMEM. */
struct nfa;
int policy_written_rules(const struct policy_written *written, struct nfa **ret_nfa);

/*
 * Changes the policy so that it only reports denials, like `mode: observe`. Its digest changes,
 * too. -EIO: SHA-256 is not available.
 */
int compiled_policy_observe(struct compiled_policy *policy);

#endif
