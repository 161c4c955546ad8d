/* SPDX-License-Identifier: Apache-2.0 */
/* From policy files to a compiled policy. */
#ifndef CORDON_POLICY_COMPILE_H
#define CORDON_POLICY_COMPILE_H

#include <stddef.h>

#include "policy/core/compiled.h"
#include "policy/source/diagnostic.h"
#include "policy/source/search.h"

/*
 * Loads `name_or_path` (a path if it contains '/' or ends in ".yaml", else a name looked up as
 * NAME.yaml in the search directories; includes: relative to the including file's directory,
 * then in the search directories), with its includes, and compiles it. What is wrong is added to
 * `diagnostics`; warnings may be there on success, too. Caller releases with
 * compiled_policy_free().
 *
 * -EINVAL: the policy has errors, each in `diagnostics`; -ENOENT, -EACCES, -EISDIR, ...: the file
 * cannot be read (also in `diagnostics`); -E2BIG: a limit of the compiler or file size, with the
 * rules to blame in `diagnostics`; -ENOMEM.
 */
int policy_compile(const char *name_or_path, const struct policy_search *search,
		   struct diagnostics *diagnostics, struct compiled_policy **ret_policy);

/* The same from text in memory; `file` names it in diagnostics and resolves includes. */
int policy_compile_text(const char *text, size_t size, const char *file,
			const struct policy_search *search, struct diagnostics *diagnostics,
			struct compiled_policy **ret_policy);

/*
 * policy_compile() for those who only want to know whether a file is right: takes fragments, too,
 * which policy_compile() refuses with -EINVAL because nothing can run under one.
 */
int policy_check(const char *name_or_path, const struct policy_search *search,
		 struct diagnostics *diagnostics, struct compiled_policy **ret_policy);

/*
 * The same, with warnings and notes of names that mean something else on this host than they seem
 * to.
 */
int policy_check_host(const char *name_or_path, const struct policy_search *search,
		      struct diagnostics *diagnostics, struct compiled_policy **ret_policy);

/*
 * A policy as it is written, beside what it was compiled to: rules can be left out of it, so that
 * those show that allow the same.
 */
struct policy_written;

/* policy_check(), and what was compiled. Free that with policy_written_free(). */
int policy_check_written(const char *name_or_path, const struct policy_search *search,
			 struct diagnostics *diagnostics, struct policy_written **ret_written,
			 struct compiled_policy **ret_policy);
void policy_written_free(struct policy_written *written);
DEFINE_CLEANUP(struct policy_written *, policy_written_free, policy_written_freep)

/*
 * The policy without the rules whose flag is set (an array with one per rule); the others keep
 * their numbers.
 * -E2BIG: the rest is larger than the compiler's limits, as fewer rules may be; -ENOMEM.
 */
int policy_written_without(const struct policy_written *written, const bool *left_out,
			   struct compiled_policy **ret_policy);

/* Every rule's patterns, for policy_match_rules(). Free with nfa_free(). -E2BIG, -ENOMEM. */
struct nfa;
int policy_written_rules(const struct policy_written *written, struct nfa **ret_nfa);

/*
 * Turns it into one that only reports what it would refuse, as `mode: observe` does; its digest is
 * another one, too. -EIO: SHA-256 is not to be had.
 */
int compiled_policy_observe(struct compiled_policy *policy);

#endif
