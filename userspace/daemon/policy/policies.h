/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled policies in use. A policy is compiled anew when anything has changed that it was
 * compiled from (policy/source/inputs.h); what compiles to the same is held once, in memory and in
 * the kernel, where it stays for a while after its last use, because putting it there costs a grace
 * period.
 */
#ifndef CORDON_DAEMON_POLICIES_H
#define CORDON_DAEMON_POLICIES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/queue.h>

#include "base/failure.h"
#include "base/parcel.h"
#include "kernel/enforcement.h"
#include "policy/compile/compile.h"

struct policies;

struct policy_use {
	const struct compiled_policy *policy;
	uint64_t ref;  /* in the kernel */
	int filter_fd; /* seccomp filter for its executions; -1: none */
};

/*
 * `directories` (NULL-terminated) is searched for policies named without a path, and must stay.
 * `notes_fd` is a directory where each resident policy is noted, for the next daemon to remove: see
 * policies_remove_stale().
 */
int policies_new(struct enforcement *e, const char *const *directories, int notes_fd,
		 struct policies **ret_policies);

/* Removes all that no execution uses. Those in use stay in the kernel. */
void policies_free(struct policies *policies);

/*
 * From here on policies_get() opens no file that it would have to wait for. The daemon's loop calls
 * it: what a request needs is compiled before, by a process of its own (compiling.h).
 */
void policies_never_wait(struct policies *policies);

/*
 * Compiles `name_or_path` and has it resident; with `observe`, as a policy that only reports. After
 * policies_never_wait() it uses what was given (below) or what is resident and unchanged, and
 * returns -ETIMEDOUT if there is neither. *ret_message: diagnostics as text when the policy is at
 * fault (-EINVAL, -ENOENT, -E2BIG ...), else NULL; caller frees.
 */
int policies_get(struct policies *policies, const char *name_or_path, bool observe,
		 const struct policy_use **ret_use, char **ret_message, struct failure *failure);

/* The same of a file in the daemon's own state directory, which it may wait for. */
int policies_get_own(struct policies *policies, const char *path, const struct policy_use **ret_use,
		     char **ret_message, struct failure *failure);

/*
 * A policy that was compiled, or found unchanged, for a request that is served now: policies_get()
 * uses it without another look at its files. The caller owns it, name and use included, and
 * withdraws it.
 */
struct policies_given {
	LIST_ENTRY(policies_given) link;
	const char *name_or_path;
	bool observe;
	const struct policy_use *use;
};
void policies_give(struct policies *policies, struct policies_given *given);
void policies_withdraw(struct policies_given *given);

/*
 * What compiling this gave the last time, and whether its files are as they were: the second waits
 * for their file systems, so a process of its own calls it. policies_last() returns a reference, or
 * NULL.
 */
const struct policy_use *policies_last(struct policies *policies, const char *name_or_path,
				       bool observe);
bool policies_is_unchanged(const struct policy_use *use, const char *name_or_path, bool observe);
/* That process has found it unchanged. */
void policies_note_unchanged(const struct policy_use *use, const char *name_or_path, bool observe);

/*
 * As policies_get(), of what is resident and, as far as the kernel's caches show it, unchanged.
 * NULL: its files have to be read.
 */
const struct policy_use *policies_find(struct policies *policies, const char *name_or_path,
				       bool observe);

/*
 * Compiles it in a process of its own, which may take a second, and writes it for policies_take();
 * on failure, as policies_get(), its message as a parcel's text.
 */
int policies_prepare(struct policies *policies, const char *name_or_path, bool observe, FILE *to,
		     struct failure *failure);

/*
 * Has resident what that process has written, as policies_get() would have found it. -EPROTO: that
 * is no policy; -ENOMEM; -errno of the kernel.
 */
int policies_take(struct policies *policies, const char *name_or_path, bool observe,
		  struct parcel *from, const struct policy_use **ret_use, struct failure *failure);

/*
 * For an execution that an earlier daemon began: what is in the kernel by this reference already,
 * of which `compiled` has tables and rules at least. Takes it over on success.
 */
int policies_resume(struct policies *policies, struct compiled_policy *compiled, uint64_t ref,
		    const struct policy_use **ret_use);

/*
 * The policy that policies_resume() has taken over by this reference already, if it has these
 * names: each policy is compiled once, however many executions it has. The reference is the
 * caller's; NULL: there is none.
 */
const struct policy_use *policies_resumed(struct policies *policies, uint64_t ref,
					  const unsigned char digest[32], const char *name,
					  const char *file);

/* Another user of the same. */
void policies_share(struct policies *policies, const struct policy_use *use);
void policies_put(struct policies *policies, const struct policy_use *use);

/* Only compiles: what an earlier daemon's execution ran under, for its records. -errno. */
int policies_compile(struct policies *policies, const char *name_or_path, bool observe,
		     struct compiled_policy **ret_policy);

/* Removes from the kernel what an earlier daemon left there, but for what was resumed. */
void policies_remove_stale(struct policies *policies);

/*
 * Those that executions are under now, as [{"name", "digest"}], the `max` that were asked for last;
 * *ret_omitted: how many more there are. New reference, or NULL without memory.
 */
json_t *policies_in_use(const struct policies *policies, size_t max, size_t *ret_omitted);

/* Where they are looked for. */
const char *const *policies_directories(const struct policies *policies);

size_t policies_count(const struct policies *policies);

#endif
