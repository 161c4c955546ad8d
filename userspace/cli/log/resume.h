/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a log on from where one was: what --after, --cursor and --follow of `cordon events` and
 * `cordon log export` have in common.
 */
#ifndef CORDON_CLI_RESUME_H
#define CORDON_CLI_RESUME_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct resume {
	const char *directory;
	const char *cursor; /* the file that says where; NULL: none */
	bool from;	    /* --after was given */
	uint64_t after;
	bool follow;
	bool begun; /* nothing was read before: heads of tables are to be written */
	unsigned long long problems;
};

/* For --help. */
extern const char resume_help[];

/* A number for --after. -EINVAL: it was said why. */
int resume_take_after(struct resume *resume, const char *text);

/* Is any of the options given? */
static inline bool resume_is_wanted(const struct resume *resume)
{
	return resume->cursor || resume->from;
}

/*
 * Reads what there is behind the place, and with `follow` what comes until a signal ends that.
 * `visit` gets each record, damaged ones too; less than 0 ends the reading. The cursor is moved
 * once what was printed is written out. Where standard output is a file, what stands in it behind
 * the last cursor is cut off first: it comes again. Returns the exit status; what failed was said
 * on standard error.
 */
int resume_run(struct resume *resume, int (*begin)(void *data),
	       int (*visit)(void *data, json_t *record), void *data);

#endif
