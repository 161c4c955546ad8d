/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/ask/widening.h"

#include <string.h>

#include "policy/ask/diff.h"

void widening_free(char **lines)
{
	for (char **line = lines; line && *line; line++)
		free(*line);
	free(lines);
}

static int add(char ***lines, size_t *count, char *line)
{
	char **larger;

	if (!line)
		return -ENOMEM;
	larger = reallocarray(*lines, *count + 2, sizeof(*larger));
	if (!larger) {
		free(line);
		return -ENOMEM;
	}
	larger[(*count)++] = line;
	larger[*count] = NULL;
	*lines = larger;
	return 0;
}

static char *describe_right(const struct policy_difference *d, const struct compiled_policy *b)
{
	const struct policy_witness *w = &d->wider;
	const struct policy_rule *rule = w->allowing < b->rule_count ? &b->rules[w->allowing]
								     : NULL;
	char *line, where[512] = "";

	if (rule)
		snprintf(where, sizeof(where), ", allowed by %s:%u: %s", rule->file, rule->line,
			 rule->text);
	if (asprintf(&line, "%s %s %s%s%s%s%s", d->section, d->right, w->object,
		     *w->bindings ? " (" : "", w->bindings, *w->bindings ? ")" : "", where) < 0)
		return NULL;
	return line;
}

static int add_rights(const struct compiled_policy *a, const struct compiled_policy *b,
		      char ***lines, size_t *count)
{
	struct policy_difference differences[POLICY_DIFFERENCES];
	int r = policy_diff(a, b, differences);

	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < POLICY_DIFFERENCES; i++)
		if (differences[i].change & SETTING_WIDER)
			r = add(lines, count, describe_right(&differences[i], b));
	policy_diff_release(differences);
	return r;
}

static bool acts_at_launch(const char *setting)
{
	return strncmp(setting, "limits.", 7) == 0 || strncmp(setting, "environment.", 12) == 0 ||
	       strcmp(setting, "run_by") == 0;
}

static char *describe_setting(const struct compiled_policy *a, const struct compiled_policy *b,
			      size_t number)
{
	_cleanup_(freep) char *before = malloc(SETTING_TEXT), *after = malloc(SETTING_TEXT);
	char *line;

	if (!before || !after)
		return NULL;
	(void)setting_describe(a, number, before);
	(void)setting_describe(b, number, after);
	if (asprintf(&line, "%s: %s -> %s", setting_name(number), before, after) < 0)
		return NULL;
	return line;
}

static int describe(const struct compiled_policy *a, const struct compiled_policy *b, bool launch,
		    char ***ret_lines)
{
	char **lines = calloc(1, sizeof(*lines));
	size_t count = 0;
	int r = lines ? add_rights(a, b, &lines, &count) : -ENOMEM;

	for (size_t i = 0; r == 0 && setting_name(i); i++)
		if ((launch || !acts_at_launch(setting_name(i))) &&
		    setting_compare(a, b, i) & SETTING_WIDER)
			r = add(&lines, &count, describe_setting(a, b, i));
	if (r < 0) {
		widening_free(lines);
		return r;
	}
	*ret_lines = lines;
	return 0;
}

int widening_describe(const struct compiled_policy *a, const struct compiled_policy *b,
		      char ***ret_lines)
{
	return describe(a, b, false, ret_lines);
}

int widening_describe_all(const struct compiled_policy *a, const struct compiled_policy *b,
			  char ***ret_lines)
{
	return describe(a, b, true, ret_lines);
}
