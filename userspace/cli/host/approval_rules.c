/* SPDX-License-Identifier: Apache-2.0 */
/* Compares what waits for approval with what was approved, as `cordon policy diff` would. */
#include "cli/host/approval_rules.h"

#include <string.h>

#include "audit/storage/policy_store.h"
#include "cli/policy/widening_view.h"
#include "cli/term/terminal.h"
#include "daemon/daemon.h"
#include "policy/compile/compile.h"
#include "policy/source/search.h"

static const char *text_of(const json_t *entry, const char *key)
{
	const char *text = json_string_value(json_object_get(entry, key));

	return text ? text : "";
}

/* Beside the approvals, where it is kept before it is ever in force, and beside the log. */
static const char *const stores[] = {DAEMON_DEFAULT_STATE "/approvals", DEFAULT_LOG_DIRECTORY};

/* The policy of an entry, and how its file has it if that still says the same. */
struct subject {
	struct compiled_policy *policy;
	struct policy_written *written; /* NULL: only what was kept is left */
};

static void subject_release(struct subject *s)
{
	if (s->policy)
		compiled_policy_free(s->policy);
	if (s->written)
		policy_written_free(s->written);
	*s = (struct subject){};
}

static bool is_same(struct compiled_policy *policy, const char *digest)
{
	if (strcmp(policy->digest_text, digest) == 0)
		return true;
	return !policy->observe && compiled_policy_observe(policy) == 0 &&
	       strcmp(policy->digest_text, digest) == 0;
}

/* False, with nothing in *ret_subject: it cannot be had as it is approved. */
static bool find_subject(const json_t *entry, struct subject *ret_subject)
{
	_cleanup_(policy_search_freep) char **directories = policy_search_own_directories();
	const struct policy_search search = {.directories = (const char *const *)directories};
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	const char *digest = text_of(entry, "tables");
	struct failure failure;

	*ret_subject = (struct subject){};
	if (directories && d &&
	    policy_check_written(text_of(entry, "file"), &search, d, &ret_subject->written,
				 &ret_subject->policy) == 0 &&
	    is_same(ret_subject->policy, digest))
		return true;
	subject_release(ret_subject);
	for (size_t i = 0; i < ARRAY_SIZE(stores); i++)
		if (policy_store_get(stores[i], digest, &ret_subject->policy, &failure) == 0)
			return true;
	return false;
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

/*
 * What it is compared with: nothing where it is the first of its name. False: that cannot be had.
 */
static bool find_both(const json_t *entries, const json_t *entry, struct subject *ret_base,
		      struct subject *ret_subject)
{
	const char *base = json_string_value(json_object_get(entry, "base"));
	const json_t *before = base ? find(entries, base) : NULL;

	*ret_base = (struct subject){};
	*ret_subject = (struct subject){};
	if (base && (!before || !find_subject(before, ret_base)))
		return false;
	return find_subject(entry, ret_subject);
}

/*
 * *ret_compared: with the base; false: with nothing, as it is the first, or since the two have too
 * little in common.
 */
static int find_rules(const struct subject *base, const struct subject *subject,
		      struct widenings *ret_found, bool *ret_compared)
{
	int r = widenings_find(base->policy, subject->policy, subject->written, POLICY_TUPLES_MAX,
			       ret_found);

	*ret_compared = base->policy && r != -E2BIG;
	if (r == -E2BIG && base->policy)
		r = widenings_find(NULL, subject->policy, subject->written, POLICY_TUPLES_MAX,
				   ret_found);
	return r;
}

bool approval_rules_write(FILE *out, const struct style *style, const json_t *entries,
			  const json_t *entry)
{
	_cleanup_(subject_release) struct subject base, subject = {};
	struct widenings found;
	bool compared;

	if (!find_both(entries, entry, &base, &subject) ||
	    find_rules(&base, &subject, &found, &compared) < 0)
		return false;
	if (base.policy && !compared)
		fputs("  it cannot be compared with the approved one; all of what it allows:\n",
		      out);
	if (found.count == 0 && !compared)
		fputs("  allows nothing\n", out);
	else if (found.count > 0)
		fprintf(out, "  %s, by %zu rule%s:\n",
			compared ? "allows what the approved one does not" : "allows", found.count,
			found.count == 1 ? "" : "s");
	widening_view_write(out, style, &found, subject.policy, 4);
	if (found.count > 0 && !found.complete)
		fputs("    " WIDENINGS_INCOMPLETE "\n", out);
	widenings_release(&found);
	return true;
}

void approval_rules_add(const json_t *entries, json_t *entry)
{
	_cleanup_(subject_release) struct subject base, subject = {};
	struct widenings found;
	bool compared;

	if (!find_both(entries, entry, &base, &subject) ||
	    find_rules(&base, &subject, &found, &compared) < 0) {
		json_object_set_new(entry, "wider_rules", json_null());
		return;
	}
	json_object_set_new(entry, "wider_rules",
			    widening_view_json(&found, compared ? base.policy : NULL,
					       subject.policy));
	json_object_set_new(entry, "complete", json_boolean(found.complete));
	widenings_release(&found);
}
