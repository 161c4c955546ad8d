/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that widen, as `policy diff` and the approvals show them. */
#ifndef CORDON_CLI_WIDENING_VIEW_H
#define CORDON_CLI_WIDENING_VIEW_H

#include <jansson.h>
#include <stdio.h>

#include "insight/text/style.h"
#include "policy/ask/wider_rules.h"

/* {"file", "line", "text"}, or null where no rule has this number. A new reference. */
json_t *widening_view_rule(const struct compiled_policy *p, uint16_t number);

/* `refusing`: NULL: there is none. A new reference. */
json_t *widening_view_witness(const struct policy_witness *w,
			      const struct compiled_policy *allowing,
			      const struct compiled_policy *refusing);

/* An array, an object for each rule of `b`; `a` may be NULL. A new reference, or NULL. */
json_t *widening_view_json(const struct widenings *widenings, const struct compiled_policy *a,
			   const struct compiled_policy *b);

/* Each rule of `b`, what it lets in, and what must not be overlooked, behind so many columns. */
void widening_view_write(FILE *out, const struct style *style, const struct widenings *widenings,
			 const struct compiled_policy *b, unsigned int indent);

#endif
