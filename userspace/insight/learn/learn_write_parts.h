/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that write a learned policy. */
#ifndef CORDON_INSIGHT_LEARN_WRITE_PARTS_H
#define CORDON_INSIGHT_LEARN_WRITE_PARTS_H

#include <stdio.h>

#include "insight/learn/learn_state.h"

/* One line of a rule. */
struct line {
	char *pattern;
	uint32_t rights;
	const struct evidence *evidence;
};

struct writer {
	FILE *out;
	const struct learning *l;
	struct line *lines;
	size_t count, capacity;
	bool failed; /* for lack of memory */
};

/* Ends the line, in a policy with a comment about the accesses that caused it. */
void learn_put_evidence(const struct writer *w, const struct evidence *e);

/* "[read, write]" */
void learn_put_rights(FILE *out, uint32_t rights);

/* The sections `files`, `exec` and `unix`. */
void learn_put_names(struct writer *w);

#endif
