/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a policy file with all of its includes into one model. */
#ifndef CORDON_POLICY_LOAD_H
#define CORDON_POLICY_LOAD_H

#include "policy/source/model.h"

#define LOAD_DEPTH_MAX 8  /* nesting of includes */
#define LOAD_FILES_MAX 64 /* files included by one policy, at all levels together */

/*
 * Reads the root's text and its includes. Rules of included files come first, in the order of the
 * `include` list; each file is included once. *ret_model is only set without errors. -EINVAL:
 * reported; -ENOMEM.
 */
int load_model(struct arena *a, const struct source *root, const struct policy_search *search,
	       struct diagnostics *d, struct model **ret_model);

#endif
