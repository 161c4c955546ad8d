/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From all denials of an execution to one proposal under which the job works: another policy that
 * allows all of them, or a file that amends the policy by a setting, fragments, and patterns.
 */
#ifndef CORDON_INSIGHT_AMEND_H
#define CORDON_INSIGHT_AMEND_H

#include "insight/recording/recording.h"
#include "insight/text/style.h"
#include "policy/source/search.h"

struct amend_options {
	const struct policy_search *search;
	const char *policy; /* that denied: a name, or a file; NULL: as the recording has it */
};

struct amendment {
	char *policy;	/* a policy under which none of the denials remains, or NULL */
	char *text;	/* YAML that amends the policy; NULL: there is nothing to add */
	json_t *denied; /* explicit denies: "what", "count", "file", "line", "text", "owner" */
	json_t *notes;	/* what else to know: strings */
	size_t denials; /* distinct ones in the log */
	size_t settled; /* of these: allowed by the text, each was checked */
};

/*
 * The recording holds one execution. Returns 0; -ENODATA if it has no denial; -EINVAL or -ENOENT if
 * the policy does not compile any more; -ENOMEM. The caller releases *ret_amendment.
 */
int amend_make(const struct recording *recording, const struct amend_options *options,
	       struct amendment *ret_amendment);

void amendment_release(struct amendment *amendment);

/* {"policy", "amendment", "denied", "notes", "denials", "settled"}. NULL: no memory. */
json_t *amendment_json(const struct amendment *amendment);

/* The same for people. */
void amendment_write(FILE *out, const struct style *style, const struct amendment *amendment);

#endif
