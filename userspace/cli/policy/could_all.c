/* SPDX-License-Identifier: Apache-2.0 */
/* All that an execution of the log could have done by a policy that it was under. */
#include "cli/policy/could_all.h"

#include <string.h>

#include "cli/log/judge.h"
#include "cli/term/message.h"
#include "insight/text/view.h"
#include "policy/ask/wider_rules.h"

static json_t *rule_json(const struct judge *judge, const struct widening *w)
{
	_cleanup_(freep) char *phrase = widening_phrase(w);

	return json_pack("{s:s?, s:s?, s:b, s:o}", "what", phrase, "alarm", w->alarm.text,
			 "unbounded", w->by.unbounded, "rule", judge_rule(judge, w->by.rule));
}

json_t *could_all(const char *directory, const char *digest, const json_t *start)
{
	json_t *variables = json_object(), *rules = json_array(), *all = NULL;
	struct widenings found = {};
	struct judge judge;
	int r = judge_open(directory, digest, start, &judge);

	if (r == 0) {
		r = widenings_find(NULL, judge.policy, NULL, POLICY_TUPLES_MAX, &found);
		if (r < 0)
			message("cannot take policy %s apart: %s", judge.policy->name,
				strerror(-r));
		for (size_t i = 0; i < found.count; i++)
			json_array_append_new(rules, rule_json(&judge, &found.list[i]));
		for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
			if (judge.policy->anchor_names[i] && judge.directories[i])
				json_object_set_new(variables, judge.policy->anchor_names[i],
						    json_string(judge.directories[i]));
		if (r == 0)
			all = json_pack("{s:s, s:s, s:s, s:b, s:O, s:O}", "policy",
					judge.policy->name, "file", judge.policy->file, "digest",
					judge.policy->digest_text, "observe", judge.policy->observe,
					"variables", variables, "rules", rules);
		widenings_release(&found);
		judge_close(&judge);
	}
	json_decref(variables);
	json_decref(rules);
	return all;
}

static void print_rule(const struct style *style, const json_t *entry)
{
	const char *what = view_text(entry, "what"), *file = view_text(entry, "rule.file");
	const char *text = view_text(entry, "rule.text");

	fputs("  + ", stdout);
	style_text_in(stdout, style, view_text(entry, "alarm") ? STYLE_BAD : STYLE_PLAIN,
		      what ? what : "?", 0);
	fputs("\n      by ", stdout);
	style_text_in(stdout, style, STYLE_NAME, file ? file : "built in", 0);
	if (file)
		printf(":%llu  ", (unsigned long long)view_number(entry, "rule.line"));
	style_text_in(stdout, style, STYLE_DIM, text ? text : "", 0);
	putchar('\n');
}

void could_all_print(const struct style *style, const json_t *all)
{
	const json_t *rules = json_object_get(all, "rules"), *entry;
	const char *name;
	json_t *directory;
	size_t i;

	fputs("By policy ", stdout);
	style_text_in(stdout, style, STYLE_NAME, view_text(all, "policy"), 0);
	fputs(" (", stdout);
	style_text(stdout, style, view_text(all, "file"));
	printf("), sha256 %.16s..., it could:\n", view_text(all, "digest"));
	if (json_is_true(json_object_get(all, "observe")))
		puts("  do anything: the policy only observes. What it allows:");
	json_object_foreach(json_object_get(all, "variables"), name, directory) {
		printf("  ${%s} was ", name);
		style_text(stdout, style, json_string_value(directory));
		putchar('\n');
	}
	json_array_foreach(rules, i, entry)
		print_rule(style, entry);
	if (json_array_size(rules) == 0)
		puts("  nothing: no rule allows anything");
}
