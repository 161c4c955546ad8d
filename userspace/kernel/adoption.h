/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuration of the kernel programs for recognising executors and adopting their children.
 * Entries are numbered. A changed entry gets another number, as the successor of the old one, so
 * that one write changes the whole configuration: adoption_switch().
 */
#ifndef CORDON_KERNEL_ADOPTION_H
#define CORDON_KERNEL_ADOPTION_H

#include "kernel/enforcement.h"

struct adoption;

/*
 * Opens the pinned maps. Returns 0, or -errno. After adoption_close(), the kernel continues to
 * adopt.
 */
int adoption_open(struct adoption **ret_adoption, struct failure *failure);
void adoption_close(struct adoption *a);

/* The entry with this number, in mapped memory. Write it only while it is not active. */
struct cordon_executor *adoption_entry(struct adoption *a, uint32_t index);

/* The state shared with the kernel programs, which write `adopted`, `refused` and `unclean`. */
const struct cordon_adoption *adoption_state(const struct adoption *a);

/*
 * Adds a name. With `whole`, the text must match completely, otherwise as a prefix. `value` is 0
 * only for names that are exceptions to a shorter prefix. Returns 0, -ENAMETOOLONG or -ENOSPC.
 */
int adoption_add_name(struct adoption *a, enum cordon_adopt_question question, uint32_t executor,
		      const char *text, bool whole, uint64_t value);

/* The value of a name added with `whole`; 0: it does not exist. */
uint64_t adoption_whole_name(struct adoption *a, enum cordon_adopt_question question,
			     uint32_t executor, const char *text);

/* The same for a name added without `whole`. */
uint64_t adoption_prefix(struct adoption *a, enum cordon_adopt_question question, uint32_t executor,
			 const char *text);

/* Removes all entries except those in `active` from the values of executors' programs. */
void adoption_keep_executables(struct adoption *a, uint64_t active);

/* A process that runs an executor. */
struct adoption_executor {
	uint32_t pid;
	uint32_t executor;   /* index of its entry */
	uint64_t start_nsec; /* boot clock */
};

/*
 * All such processes, whether recognised or registered, each once per thread. Returns 0, -ENOMEM,
 * or -errno of the pinned map. The caller frees the list.
 */
int adoption_list_executors(struct adoption *a, struct adoption_executor **ret_list,
			    size_t *ret_count);

/* Removes all names of an entry, for example after it was replaced. */
void adoption_remove_names(struct adoption *a, uint32_t executor);

/* Names of programs apply only to processes with this root directory. */
void adoption_set_root(struct adoption *a, const struct cordon_anchor *root);

/* Activates exactly these entries, bit n for number n. */
void adoption_switch(struct adoption *a, uint64_t active);

/* The calling process counts as the running daemon until then (boot clock, ns). */
void adoption_renew(struct adoption *a, uint64_t until);

/* Offers a bound execution to an entry. False: the entry has the maximum. */
bool adoption_offer(struct adoption *a, uint32_t index, uint32_t slot, uint32_t generation);

/* Takes the offer back. False: the kernel programs have taken it. */
bool adoption_withdraw(struct adoption *a, uint32_t index, uint32_t slot, uint32_t generation);

/*
 * Makes the process behind the pidfd an executor of this entry, and the processes that it has
 * started its children. *ret_threads and *ret_children count their threads. -EBUSY: it has an
 * execution or another entry; -ESRCH: it has exited; -ENOMEM: the kernel's table is full; -errno of
 * the pinned program.
 */
int adoption_register(uint32_t index, pid_t pid, int pidfd, uint32_t *ret_threads,
		      uint32_t *ret_children);

#endif
