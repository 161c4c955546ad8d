/* SPDX-License-Identifier: Apache-2.0 */
/* A policy file with everything that it includes, as one model. */
#ifndef CORDON_POLICY_LOAD_H
#define CORDON_POLICY_LOAD_H

#include "policy/source/model.h"

#define LOAD_DEPTH_MAX 8  /* includes within includes */
#define LOAD_FILES_MAX 64 /* included by one policy, all levels together */

/*
 * Reads the root's text and its includes. Rules of included files come first, in the order of
 * the `include` list, each file once. *ret_model is written when nothing is wrong.
 * -EINVAL: reported; -ENOMEM.
 */
int load_model(struct arena *a, const struct source *root, const struct policy_search *search,
	       struct diagnostics *d, struct model **ret_model);

#endif
