/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel must know to recognise executors and to turn their children into executions.
 * Entries are numbered; a changed one gets a new number and is named as the successor of the old,
 * so that one write, adoption_switch(), changes the whole configuration.
 */
#ifndef CORDON_KERNEL_ADOPTION_H
#define CORDON_KERNEL_ADOPTION_H

#include "kernel/enforcement.h"

struct adoption;

/* Opens the pinned maps. -errno. Closed with adoption_close(); the kernel goes on adopting. */
int adoption_open(struct adoption **ret_adoption, struct failure *failure);
void adoption_close(struct adoption *a);

/* The entry with this number, mapped memory; to be filled while it is not active. */
struct cordon_executor *adoption_entry(struct adoption *a, uint32_t index);

/* The state that is shared with the kernel; `adopted`, `refused` and `unclean` are the kernel's. */
const struct cordon_adoption *adoption_state(const struct adoption *a);

/*
 * Adds a name. `whole`: the text must match to its end; otherwise whatever begins with it does.
 * `value` is never 0 but for names that are excepted from a shorter one. -ENAMETOOLONG; -ENOSPC.
 */
int adoption_add_name(struct adoption *a, enum cordon_adopt_question question, uint32_t executor,
		      const char *text, bool whole, uint64_t value);

/* The value of a name that is to match as a whole; 0: it is not there. */
uint64_t adoption_whole_name(struct adoption *a, enum cordon_adopt_question question,
			     uint32_t executor, const char *text);

/* The same of one that is not to match as a whole. */
uint64_t adoption_prefix(struct adoption *a, enum cordon_adopt_question question, uint32_t executor,
			 const char *text);

/* Of names of executors' programs: what they say of entries that are not among these is gone. */
void adoption_keep_executables(struct adoption *a, uint64_t active);

/* A process that runs an executor. */
struct adoption_executor {
	uint32_t pid;
	uint32_t executor;   /* index of its entry */
	uint64_t start_nsec; /* boot clock */
};

/*
 * All of them, each as often as it has threads: those that were recognised, and those that were
 * registered. Caller frees. -ENOMEM; -errno of the pinned map.
 */
int adoption_list_executors(struct adoption *a, struct adoption_executor **ret_list,
			    size_t *ret_count);

/* Removes all names of an entry, as after it was replaced. */
void adoption_remove_names(struct adoption *a, uint32_t executor);

/* Names of programs count only for processes whose root directory is this one. */
void adoption_set_root(struct adoption *a, const struct cordon_anchor *root);

/* From here on these entries are in force, bit n for number n, and no others. */
void adoption_switch(struct adoption *a, uint64_t active);

/* Says until when (boot clock, ns) the calling process counts as there. */
void adoption_renew(struct adoption *a, uint64_t until);

/* An execution that is bound stands ready for an entry. False: the entry has as many as it may. */
bool adoption_offer(struct adoption *a, uint32_t index, uint32_t slot, uint32_t generation);

/* Takes it back. False: the kernel has taken it. */
bool adoption_withdraw(struct adoption *a, uint32_t index, uint32_t slot, uint32_t generation);

/*
 * The process behind the pidfd is an executor of this entry from here on, and what it has started
 * its children.
 * *ret_threads: its own, that are; *ret_children: theirs. -EBUSY: it is an execution, or another
 * entry's;
 * -ESRCH: it is gone; -ENOMEM: the kernel's table is full; -errno of the pinned program.
 */
int adoption_register(uint32_t index, pid_t pid, int pidfd, uint32_t *ret_threads,
		      uint32_t *ret_children);

#endif
