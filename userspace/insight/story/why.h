/* SPDX-License-Identifier: Apache-2.0 */
/* Denials explained after the fact, for people and for the agent that ran into them. */
#ifndef CORDON_INSIGHT_WHY_H
#define CORDON_INSIGHT_WHY_H

#include <jansson.h>
#include <stdio.h>

#include "insight/text/style.h"

/* More different denials than this are counted, not explained. */
#define WHY_DENIALS_MAX 1000u

/*
 * {"denials": [...], "denials_omitted": n, "note": ...} from records, others than denials are
 * passed over; identical ones are one entry with a count. docs/audit.md describes it. NULL without
 * memory.
 */
json_t *why_build(json_t *const *records, size_t count);

/*
 * What `cordon policy explain` would be asked: the right's word and the object, NULL if it has
 * none.
 */
struct why_question {
	const char *right;
	char *object; /* caller frees */
};

/* For the entry's first right. False: nothing that a rule could speak of. */
bool why_question(const json_t *entry, struct why_question *ret_question);

/* The same for people. */
void why_write(FILE *out, const struct style *style, const json_t *why);

#endif
