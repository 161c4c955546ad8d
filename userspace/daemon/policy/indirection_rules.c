/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for what protected names of one work directory lead to. */
#include "daemon/policy/indirection_rules.h"

#include <stdio.h>
#include <string.h>

#include "base/listed.h"
#include "launch/indirections.h"
#include "policy/ask/evaluate.h"

static const struct {
	unsigned int right;
	const char *word;
} rights[] = {
	{CORDON_READ, "read"},
	{CORDON_WRITE, "write"},
	{CORDON_CREATE, "create"},
	{CORDON_DELETE, "delete"},
};

/*
 * What the policy's rules deny at a name that begins with a variable. The variable stands for a
 * directory of its own name, so that rules about other directories say nothing.
 */
static int denied_at(const struct compiled_policy *policy, const char *name, uint32_t *ret_rights)
{
	struct policy_path path = {};
	struct policy_answer answer;
	char absolute[1100];
	uint32_t wanted = 0;
	int r;

	path.size = (size_t)snprintf(absolute, sizeof(absolute), "/%s", name);
	if (path.size >= sizeof(absolute))
		return -EINVAL;
	path.name = absolute;
	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		path.anchors[i] = POLICY_NO_ANCHOR;
	path.anchors[strncmp(name, "${home}", 7) == 0 ? CORDON_ANCHOR_HOME
						      : CORDON_ANCHOR_WORKDIR] =
		strcspn(absolute, "}") + 1;
	for (size_t i = 0; i < ARRAY_SIZE(rights); i++)
		wanted |= CORDON_RIGHT(rights[i].right);
	r = policy_judge_path(policy->tables, policy->tables_size, &path, wanted, &answer);
	if (r == 0)
		*ret_rights = verdict_denied(&answer.verdict) & wanted;
	return r;
}

/* Between double quotes of YAML. */
static void put_quoted(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
}

/* The same of a pattern that matches the text alone. */
static void put_pattern(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("*?[]{}\\", *text))
			fputs(*text == '\\' ? "\\\\\\" : "\\\\", out);
		if (*text == '"')
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void put_rule(FILE *out, uint32_t denied, char *const *texts)
{
	const char *name = strchr(texts[0], '/') + 1, *separator = "";

	fputs("  - deny: [", out);
	for (size_t i = 0; i < ARRAY_SIZE(rights); i++) {
		if (!(denied & CORDON_RIGHT(rights[i].right)))
			continue;
		fprintf(out, "%s%s", separator, rights[i].word);
		separator = ", ";
	}
	fputs("]\n    paths: [\"${workdir}/", out);
	put_pattern(out, texts[1]);
	fputs("\"]\n    severity: high\n    tags: [indirection]\n    message: \"Programs outside "
	      "the sandbox obey this file as ",
	      out);
	put_quoted(out, strncmp(texts[0], "${home}/", 8) == 0 ? "~/" : "");
	put_quoted(out, name);
	fputs(" (", out);
	put_quoted(out, texts[2]);
	fputs("). Ask the person you work for.\"\n", out);
}

static int add_texts(char ***list, char *const *texts)
{
	size_t count = list_length(*list);
	char **larger = reallocarray(*list, count + INDIRECTIONS_TEXTS + 1, sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	*list = larger;
	for (size_t i = 0; i < INDIRECTIONS_TEXTS; i++) {
		larger[count + i] = strdup(texts[i]);
		larger[count + i + 1] = NULL;
		if (!larger[count + i])
			return -ENOMEM;
	}
	return 0;
}

int indirection_rules(const struct compiled_policy *policy, char *const *texts, char **ret_rules,
		      char ***ret_texts)
{
	_cleanup_(freep) char *rules = NULL;
	_cleanup_(fclosep) FILE *out = NULL;
	char **active = NULL;
	size_t size = 0;
	int r = 0;

	*ret_rules = NULL;
	*ret_texts = NULL;
	if (!texts || !texts[0])
		return 0;
	if (!indirections_are_valid(texts, NULL))
		return -EINVAL;
	out = open_memstream(&rules, &size);
	if (!out)
		return -ENOMEM;
	for (; r == 0 && *texts; texts += INDIRECTIONS_TEXTS) {
		uint32_t denied = 0;

		r = denied_at(policy, texts[0], &denied);
		/* A link on the way is to stay; what it says may be read. */
		if (strlen(texts[1]) > 2 && strcmp(texts[1] + strlen(texts[1]) - 2, "/.") == 0)
			denied &= ~CORDON_RIGHT(CORDON_READ);
		if (r < 0 || !denied)
			continue;
		put_rule(out, denied, texts);
		r = add_texts(&active, texts);
	}
	if (fclose(TAKE_PTR(out)) != 0)
		r = -ENOMEM;
	if (r < 0) {
		compiled_strings_free(active);
		return r;
	}
	*ret_texts = active;
	*ret_rules = active ? TAKE_PTR(rules) : NULL;
	return 0;
}
