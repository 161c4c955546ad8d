/* SPDX-License-Identifier: Apache-2.0 */
/* Frees a compiled policy and its parts. */
#include "policy/core/compiled.h"

#include <stdlib.h>

void compiled_strings_free(char **strings)
{
	for (size_t i = 0; strings && strings[i]; i++)
		free(strings[i]);
	free(strings);
}

static void rule_clear(struct policy_rule *r)
{
	free(r->file);
	free(r->text);
	free(r->severity);
	free(r->message);
	compiled_strings_free(r->tags);
}

void compiled_policy_free(struct compiled_policy *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->rule_count; i++)
		rule_clear(&p->rules[i]);
	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		free(p->anchor_names[i]);
	compiled_strings_free(p->environment.keep);
	compiled_strings_free(p->environment.set_names);
	compiled_strings_free(p->environment.set_values);
	free(p->rules);
	free(p->tables);
	free(p->name);
	free(p->file);
	free(p->description);
	compiled_strings_free(p->run_by);
	free(p);
}

uint32_t compiled_policy_states(const struct compiled_policy *policy)
{
	return ((const struct cordon_policy_header *)policy->tables)->states_count;
}
