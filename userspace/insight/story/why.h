/* SPDX-License-Identifier: Apache-2.0 */
/* Explains denials afterwards, for people and for the agent that caused them. */
#ifndef CORDON_INSIGHT_WHY_H
#define CORDON_INSIGHT_WHY_H

#include <jansson.h>
#include <stdio.h>

#include "insight/text/style.h"

/* More distinct denials than this are only counted. */
#define WHY_DENIALS_MAX 1000u

/*
 * Returns {"denials": [...], "denials_omitted": n, "note": ...} for records; skips other records
 * than denials. Identical ones are one entry with a count. docs/audit.md describes it. NULL if out
 * of memory.
 */
json_t *why_build(json_t *const *records, size_t count);

/* The arguments for `cordon policy explain`: the right's word and the object, or NULL. */
struct why_question {
	const char *right;
	char *object;	       /* the caller frees it */
	bool case_insensitive; /* for struct policy_path */
};

/* Sets the arguments for the entry's first right. Returns false if no rule can decide it. */
bool why_question(const json_t *entry, struct why_question *ret_question);

/* Writes the same for people. */
void why_write(FILE *out, const struct style *style, const json_t *why);

#endif
