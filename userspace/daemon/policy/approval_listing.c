/* SPDX-License-Identifier: Apache-2.0 */
/* Compares a policy with the approved one rule by rule, and hands the result over as lines. */
#include "daemon/policy/approval_listing.h"

#include <string.h>

#include "policy/ask/diff.h"
#include "policy/ask/widening.h"
#include "policy/source/diagnostic.h"

/* Half of what a command may take: it is the daemon's memory. */
#define TUPLES_MAX (POLICY_TUPLES_MAX / 2)
/* widening_list() has some hundreds of lines. */
#define LINES_MAX 4096
/* As many as widening_list() names. */
#define TEXTS_MAX 256

static bool is_same(struct compiled_policy *policy, const struct approval_entry *entry)
{
	if (strcmp(policy->digest_text, entry->digest) == 0)
		return true;
	return !policy->observe && compiled_policy_observe(policy) == 0 &&
	       strcmp(policy->digest_text, entry->digest) == 0;
}

/* *ret_written: NULL: the file says something else. The policy is the entry's. */
static int read_policy(const char *directory, struct approval_entry *entry,
		       const char *const *policies, struct policy_written **ret_written,
		       struct failure *failure)
{
	const struct policy_search search = {.directories = policies};
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(policy_written_freep) struct policy_written *written = NULL;
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = NULL;
	int r = entry->policy ? 0 : approval_entry_load_policy(directory, entry, failure);

	if (r < 0)
		return r;
	*ret_written = NULL;
	if (d && policy_check_written(entry->file, &search, d, &written, &policy) == 0 &&
	    is_same(policy, entry))
		*ret_written = TAKE_PTR(written);
	return 0;
}

int approval_listing_write(const char *directory, struct approval_entry *entry,
			   struct approval_entry *base, const char *const *policies, FILE *to,
			   struct failure *failure)
{
	_cleanup_(policy_written_freep) struct policy_written *written = NULL;
	char **lines = NULL;
	int r = read_policy(directory, entry, policies, &written, failure);

	if (r == 0 && base && !base->policy)
		r = approval_entry_load_policy(directory, base, failure);
	if (r < 0)
		return r;
	r = widening_list(base ? base->policy : NULL, entry->policy, written, TUPLES_MAX, &lines);
	if (r < 0)
		return failure_set(failure, r, "policy %s cannot be taken apart: %m", entry->name);
	for (char **line = lines; *line; line++)
		(void)fwrite(*line, 1, strlen(*line) + 1, to);
	widening_free(lines);
	return ferror(to) ? failure_set(failure, EIO, "%m") : 0;
}

int approval_listing_texts(const struct approval_entry *entry, char ***ret_lines)
{
	const struct compiled_policy *policy = entry->policy;
	char **list = calloc(policy->rule_count + 1, sizeof(*list));
	size_t taken = 0;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < policy->rule_count && taken < TEXTS_MAX; i++) {
		const struct policy_rule *rule = &policy->rules[i];

		if (strncmp(rule->text, "allow ", 6) != 0)
			continue;
		if (asprintf(&list[taken], "allowed by %s:%u: %s", rule->file, rule->line,
			     rule->text) < 0) {
			list[taken] = NULL;
			widening_free(list);
			return -ENOMEM;
		}
		taken++;
	}
	*ret_lines = list;
	return 0;
}

int approval_listing_read(const char *lines, size_t size, char ***ret_lines)
{
	size_t count = 0, taken = 0;
	char **list;

	if (size > 0 && lines[size - 1] != '\0')
		return -EPROTO;
	for (size_t i = 0; i < size; i++)
		count += lines[i] == '\0';
	if (count > LINES_MAX)
		return -EPROTO;
	list = calloc(count + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (const char *at = lines; at < lines + size; at += strlen(at) + 1) {
		list[taken] = strdup(at);
		if (!list[taken++]) {
			widening_free(list);
			return -ENOMEM;
		}
	}
	*ret_lines = list;
	return 0;
}
