/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/host/approval_rules.h"

#include <string.h>

#include "audit/storage/policy_store.h"
#include "cli/term/terminal.h"
#include "policy/ask/wider_rules.h"
#include "policy/compile/compile.h"
#include "policy/source/search.h"

static const char *text_of(const json_t *entry, const char *key)
{
	const char *text = json_string_value(json_object_get(entry, key));

	return text ? text : "";
}

/* The policy of an entry: from its file, if that still says the same, or as it was when it was in force. */
static struct compiled_policy *policy_of(const json_t *entry)
{
	_cleanup_(policy_search_freep) char **directories = policy_search_own_directories();
	const struct policy_search search = {.directories = (const char *const *)directories};
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	const char *digest = text_of(entry, "tables");
	struct compiled_policy *policy = NULL;
	struct failure failure;

	if (directories && d && policy_compile(text_of(entry, "file"), &search, d, &policy) == 0) {
		if (strcmp(policy->digest_text, digest) == 0)
			return policy;
		compiled_policy_free(policy);
		policy = NULL;
	}
	return policy_store_get(DEFAULT_LOG_DIRECTORY, digest, &policy, &failure) == 0 ? policy
										       : NULL;
}

static const json_t *find(const json_t *entries, const char *identity)
{
	const json_t *entry;
	size_t i;

	json_array_foreach(entries, i, entry)
		if (strcmp(text_of(entry, "digest"), identity) == 0)
			return entry;
	return NULL;
}

bool approval_rules_write(FILE *out, const struct style *style, const json_t *entries,
			  const json_t *entry)
{
	const char *base = json_string_value(json_object_get(entry, "base"));
	const json_t *before = base ? find(entries, base) : NULL;
	_cleanup_(compiled_policy_freep) struct compiled_policy *a = before ? policy_of(before)
									    : NULL;
	_cleanup_(compiled_policy_freep) struct compiled_policy *b = policy_of(entry);
	struct widening *widenings;
	size_t count;

	if (!b || (base && !a) || widenings_find(a, b, &widenings, &count) < 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		_cleanup_(freep) char *line = widening_line(&widenings[i], b);

		fputs(base ? "  wider: " : "  allows: ", out);
		style_text_in(out, style, widenings[i].alarm ? STYLE_BAD : STYLE_PLAIN,
			      line ? line : "?", 0);
		putc('\n', out);
	}
	widenings_free(widenings, count);
	return true;
}
