/* SPDX-License-Identifier: Apache-2.0 */
/* Describes the additional accesses of a wider policy in lines, for messages and records. */
#include "policy/ask/widening.h"

#include <string.h>

#include "policy/ask/wider_rules.h"

#define LISTED_MAX    256u
#define LINE_SIZE_MAX 2048u

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
		      size_t tuples_max, char ***lines, size_t *count)
{
	struct policy_difference differences[POLICY_DIFFERENCES];
	int r = policy_diff_within(a, b, tuples_max, differences);

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

static int add_settings(const struct compiled_policy *a, const struct compiled_policy *b,
			bool launch, char ***lines, size_t *count)
{
	int r = 0;

	for (size_t i = 0; r == 0 && setting_name(i); i++)
		if ((launch || !acts_at_launch(setting_name(i))) &&
		    setting_compare(a, b, i) & SETTING_WIDER)
			r = add(lines, count, describe_setting(a, b, i));
	return r;
}

static int describe(const struct compiled_policy *a, const struct compiled_policy *b,
		    size_t tuples_max, bool launch, char ***ret_lines)
{
	char **lines = calloc(1, sizeof(*lines));
	size_t count = 0;
	int r = lines ? add_rights(a, b, tuples_max, &lines, &count) : -ENOMEM;

	if (r == 0)
		r = add_settings(a, b, launch, &lines, &count);
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
	return describe(a, b, WIDENING_TUPLES_LOOP, false, ret_lines);
}

int widening_describe_all(const struct compiled_policy *a, const struct compiled_policy *b,
			  size_t tuples_max, char ***ret_lines)
{
	return describe(a, b, tuples_max, true, ret_lines);
}

/* Cuts a line to a length that a person may still read, at a character boundary. */
static char *cut(char *line)
{
	size_t end = LINE_SIZE_MAX;

	if (!line || strlen(line) <= LINE_SIZE_MAX)
		return line;
	while (end > 0 && ((unsigned char)line[end] & 0xc0) == 0x80)
		end--;
	memcpy(line + end, "...", 4);
	return line;
}

static int add_rules(const struct widenings *found, const struct compiled_policy *b, char ***lines,
		     size_t *count)
{
	char *more;
	int r = 0;

	for (size_t i = 0; r == 0 && i < found->count && i < LISTED_MAX; i++)
		r = add(lines, count, cut(widening_line(&found->list[i], b)));
	if (r == 0 && found->count > LISTED_MAX)
		r = asprintf(&more, "and %zu more rules", found->count - LISTED_MAX) < 0
			    ? -ENOMEM
			    : add(lines, count, more);
	if (r == 0 && found->count > 0 && !found->complete)
		r = add(lines, count, strdup(WIDENINGS_INCOMPLETE));
	return r;
}

int widening_list(const struct compiled_policy *a, const struct compiled_policy *b,
		  const struct policy_written *written, size_t tuples_max, char ***ret_lines)
{
	char **lines = calloc(1, sizeof(*lines));
	struct widenings found = {};
	size_t count = 0;
	int r = lines ? widenings_find(a, b, written, tuples_max, &found) : -ENOMEM;

	if (r == -E2BIG && a) {
		r = add(&lines, &count, strdup(WIDENING_INCOMPARABLE));
		if (r == 0)
			r = widenings_find(NULL, b, written, tuples_max, &found);
	}
	if (r == 0)
		r = add_rules(&found, b, &lines, &count);
	if (r == 0 && a)
		r = add_settings(a, b, true, &lines, &count);
	widenings_release(&found);
	if (r < 0) {
		widening_free(lines);
		return r;
	}
	*ret_lines = lines;
	return 0;
}
