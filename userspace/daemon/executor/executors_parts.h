/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that make up executors.h share. */
#ifndef CORDON_DAEMON_EXECUTORS_PARTS_H
#define CORDON_DAEMON_EXECUTORS_PARTS_H

#include "daemon/executor/executors.h"

struct executors {
	struct daemon *daemon;
	const char *path;
	struct adoption *adoption;
	struct executor_entry *entries[CORDON_MAX_EXECUTORS];
	uint64_t active;
	struct event *timer;
	/* For executors_reload(); NULL: nothing is compiled, compared, or kept. */
	struct compiling *reloading;
	struct comparing *comparing;
	struct keeping *keeping;
};

/*
 * An entry that stands in the kernel and is not in force yet. `is` and `config` must stay.
 * `itself`: that for the executor itself, or NULL. Caller frees.
 */
int executor_entry_make(struct executors *x, struct config *config,
			const struct config_executor *is, const struct executor_entry *itself,
			struct executor_entry **ret_entry, char **ret_message,
			struct failure *failure);
void executor_entry_free(struct executors *x, struct executor_entry *entry);

/* What is approved along with the policy of an entry; caller frees. NULL: no memory. */
char *executor_purpose(const struct config_executor *is);

/* Sets entry->waits; says and records when that begins. */
void executor_check_approval(struct executors *x, struct executor_entry *entry);

/* What the kernel compares with is what a name leads to. -errno of realpath(3); -ENAMETOOLONG. */
int executor_resolve(const char *path, const char *what, const struct config_executor *is,
		     char ret_path[PATH_MAX], struct failure *failure);

/* Executions that stand ready: withdraws those of an entry, and sees to it that enough do. */
void standby_give_back(struct executors *x, uint32_t index);
void standby_refill(struct executors *x, const struct executor_entry *entry);

#endif
