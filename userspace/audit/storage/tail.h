/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a log ends with: for a writer that took over from one that crashed, and is given again what
 * that one had not confirmed, but may have written.
 */
#ifndef CORDON_AUDIT_TAIL_H
#define CORDON_AUDIT_TAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/text/buffer.h"

struct tail {
	struct buffer lines; /* the last ones, in order */
	size_t at;	     /* the next one to look at */
};

/*
 * Takes the lines behind number `after` of the log in `directory`, whose writer the caller is: all
 * that are in the growing segment, or in that and the one before. -errno as the file system says;
 * -ENOMEM.
 */
int tail_read(const char *directory, uint64_t after, struct tail *ret_tail);
void tail_free(struct tail *tail);

/*
 * Is this record's text there? Asked in the order in which they were appended; lines between them
 * are the writer's own. After the first that is not, none is.
 */
bool tail_has(struct tail *tail, const char *record, size_t size);

#endif
