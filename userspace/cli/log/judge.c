/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about an access, put to the policies that an execution of the log was under. */
#include "cli/log/judge.h"

#include <string.h>

#include "audit/storage/policy_store.h"
#include "cli/term/message.h"
#include "insight/text/view.h"
#include "policy/ask/match.h"
#include "policy/source/search.h"

void judge_close(struct judge *judge)
{
	compiled_policy_free(judge->policy);
	policy_search_freep(&judge->search_directories);
}

static void bind_variables(struct judge *judge, const json_t *start)
{
	const json_t *directories = view_field(start, "cordon.execution.directories");

	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++) {
		const char *name = judge->policy->anchor_names[i];

		if (name)
			judge->directories[i] =
				json_string_value(json_object_get(directories, name));
	}
	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		if (judge->policy->anchor_names[i] && !judge->directories[i] &&
		    strcmp(judge->policy->anchor_names[i], "workdir") == 0)
			judge->directories[i] = view_workdir(start);
}

/* Is the source as it was? Then it compiles to the same rules. */
static bool is_source_unchanged(const struct judge *judge)
{
	const struct policy_search search = {
		.directories = (const char *const *)judge->search_directories};
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = NULL;

	if (!d || policy_check(judge->policy->file, &search, d, &p) < 0 ||
	    p->rule_count != judge->policy->rule_count)
		return false;
	for (size_t i = 0; i < p->rule_count; i++)
		if (p->rules[i].line != judge->policy->rules[i].line ||
		    strcmp(p->rules[i].text, judge->policy->rules[i].text) != 0)
			return false;
	return true;
}

int judge_open(const char *directory, const char *digest, const json_t *start,
	       struct judge *ret_judge)
{
	struct judge judge = {0};
	struct failure failure = {0};
	int r;

	r = policy_store_get(directory, digest, &judge.policy, &failure);
	if (r < 0) {
		message("%s", failure.text);
		return r;
	}
	bind_variables(&judge, start);
	judge.search_directories = policy_search_own_directories();
	judge.have_source = judge.search_directories && is_source_unchanged(&judge);
	*ret_judge = judge;
	return 0;
}

json_t *judge_rule(const struct judge *judge, uint32_t number)
{
	const struct policy_rule *rule;
	json_t *tags;

	if (number >= judge->policy->rule_count)
		return json_null();
	rule = &judge->policy->rules[number];
	tags = json_array();
	for (char **tag = rule->tags; tag && *tag; tag++)
		json_array_append_new(tags, json_string(*tag));
	return json_pack("{s:i, s:s, s:i, s:s, s:s?, s:s?, s:o}", "number", (int)number, "file",
			 rule->file, "line", (int)rule->line, "text", rule->text, "severity",
			 rule->severity, "message", rule->message, "tags", tags);
}

json_t *judge_others(const struct judge *judge, const struct policy_question *question,
		     uint32_t decides)
{
	const struct policy_search search = {
		.directories = (const char *const *)judge->search_directories};
	struct policy_matches matches = {0};
	json_t *others;

	if (!judge->have_source ||
	    policy_find_matches(judge->policy->file, &search, question, &matches) < 0)
		return json_null();
	others = json_array();
	for (size_t i = 0; i < matches.count; i++)
		if (matches.list[i].rule != decides)
			json_array_append_new(others, judge_rule(judge, matches.list[i].rule));
	policy_matches_release(&matches);
	return others;
}
