/* SPDX-License-Identifier: Apache-2.0 */
/* Executions that a command line names, and what the log recorded of them. */
#ifndef CORDON_CLI_RECORDED_H
#define CORDON_CLI_RECORDED_H

#include <stdbool.h>

#include "base/clock.h"
#include "insight/recording/recording.h"

struct recorded_choice {
	const char *directory; /* of the log */
	bool have_since;
	char since
		[CLOCK_TEXT_SIZE]; /* as records write it: executions whose first record is no older */
	char *const *words;	   /* ids, beginnings of ids, or "last" */
	size_t word_count;	   /* 0: all of them */
};

/* Takes what follows --since. -EINVAL: it was said what is wrong. */
int recorded_since(struct recorded_choice *choice, const char *text);

/*
 * Reads the log. -ENOENT: none of that name, or no log; -EINVAL: a name is ambiguous or no id; or
 * as reading. It was said why. Damaged lines are left out, which is said, too.
 */
int recorded_load(const struct recorded_choice *choice, struct recording **ret_recording);

/*
 * The record with this number, a new reference, with the start of its execution. Errors as above.
 */
int recorded_find(const char *directory, uint64_t number, json_t **ret_record,
		  struct recording **ret_recording);

#endif
