/* SPDX-License-Identifier: Apache-2.0 */
/* Serialises a compiled policy in one process, and reads it in another. */
#include "policy/core/compiled_parcel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Members of constant size; strings, lists, tables and rules follow. */
struct head {
	unsigned char digest[32];
	char digest_text[65];
	uint8_t keep_all, observe;
	uint32_t arguments;
	uint64_t tables_size, rule_count;
	struct policy_limits limits;
};

/* The minimum size of a rule: its line, and a length for each string and for the list. */
#define RULE_SIZE_MIN (6 * sizeof(uint32_t))

static void put_strings(FILE *to, char *const *strings)
{
	size_t count = 0;

	while (strings && strings[count])
		count++;
	parcel_put_list(to, strings, count);
}

static void put_rule(FILE *to, const struct policy_rule *rule)
{
	const uint32_t line = rule->line;

	(void)fwrite(&line, sizeof(line), 1, to);
	parcel_put_text(to, rule->file);
	parcel_put_text(to, rule->text);
	parcel_put_text(to, rule->severity);
	parcel_put_text(to, rule->message);
	put_strings(to, rule->tags);
}

void compiled_policy_put(FILE *to, const struct compiled_policy *policy)
{
	struct head head;

	/* The whole struct is written, also the padding between its members. */
	memset(&head, 0, sizeof(head));
	head.keep_all = policy->environment.keep_all;
	head.observe = policy->observe;
	head.arguments = policy->arguments;
	head.tables_size = policy->tables_size;
	head.rule_count = policy->rule_count;
	head.limits = policy->limits;
	memcpy(head.digest, policy->digest, sizeof(head.digest));
	memcpy(head.digest_text, policy->digest_text, sizeof(head.digest_text));
	(void)fwrite(&head, sizeof(head), 1, to);
	parcel_put_text(to, policy->name);
	parcel_put_text(to, policy->file);
	parcel_put_text(to, policy->description);
	put_strings(to, policy->environment.keep);
	put_strings(to, policy->environment.set_names);
	put_strings(to, policy->environment.set_values);
	put_strings(to, policy->run_by);
	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		parcel_put_text(to, policy->anchor_names[i]);
	for (size_t i = 0; i < policy->rule_count; i++)
		put_rule(to, &policy->rules[i]);
	(void)fwrite(policy->tables, 1, policy->tables_size, to);
}

/* --- reading ------------------------------------------------------------------------------ */

static int take_head(struct parcel *from, struct head *head, struct compiled_policy *policy)
{
	const void *at = parcel_take(from, sizeof(*head));

	if (!at)
		return -EPROTO;
	memcpy(head, at, sizeof(*head));
	if (head->digest_text[sizeof(head->digest_text) - 1] != '\0' ||
	    head->arguments > POLICY_ARGUMENTS_FULL || head->tables_size > from->left ||
	    head->tables_size < sizeof(struct cordon_policy_header) ||
	    head->tables_size % CORDON_PAGE_SIZE != 0 ||
	    head->rule_count > from->left / RULE_SIZE_MIN)
		return -EPROTO;
	memcpy(policy->digest, head->digest, sizeof(policy->digest));
	memcpy(policy->digest_text, head->digest_text, sizeof(policy->digest_text));
	policy->environment.keep_all = head->keep_all;
	policy->observe = head->observe;
	policy->arguments = (enum policy_arguments)head->arguments;
	policy->limits = head->limits;
	return 0;
}

static int take_texts(struct parcel *from, struct compiled_policy *policy)
{
	struct policy_environment *environment = &policy->environment;
	size_t names = 0, values = 0, count;
	int r;

	(void)((r = parcel_take_text(from, &policy->name)) < 0 ||
	       (r = parcel_take_text(from, &policy->file)) < 0 ||
	       (r = parcel_take_text(from, &policy->description)) < 0 ||
	       (r = parcel_take_list(from, &environment->keep, &count)) < 0 ||
	       (r = parcel_take_list(from, &environment->set_names, &names)) < 0 ||
	       (r = parcel_take_list(from, &environment->set_values, &values)) < 0 ||
	       (r = parcel_take_list(from, &policy->run_by, &count)) < 0);
	for (size_t i = 0; r == 0 && i < CORDON_MAX_ANCHORS; i++)
		r = parcel_take_text(from, &policy->anchor_names[i]);
	if (r < 0)
		return r;
	return policy->name && policy->file && environment->keep && environment->set_names &&
			       environment->set_values && names == values
		       ? 0
		       : -EPROTO;
}

static int take_rule(struct parcel *from, struct policy_rule *rule)
{
	const void *at = parcel_take(from, sizeof(uint32_t));
	uint32_t line;
	size_t count;
	int r;

	if (!at)
		return -EPROTO;
	memcpy(&line, at, sizeof(line));
	rule->line = line;
	(void)((r = parcel_take_text(from, &rule->file)) < 0 ||
	       (r = parcel_take_text(from, &rule->text)) < 0 ||
	       (r = parcel_take_text(from, &rule->severity)) < 0 ||
	       (r = parcel_take_text(from, &rule->message)) < 0 ||
	       (r = parcel_take_list(from, &rule->tags, &count)) < 0);
	return r < 0 ? r : rule->file && rule->text ? 0 : -EPROTO;
}

static int take_rules(struct parcel *from, size_t count, struct compiled_policy *policy)
{
	int r = 0;

	policy->rules = calloc(count + 1, sizeof(*policy->rules));
	if (!policy->rules)
		return -ENOMEM;
	while (r == 0 && policy->rule_count < count)
		r = take_rule(from, &policy->rules[policy->rule_count++]);
	return r;
}

static int take_tables(struct parcel *from, size_t size, struct compiled_policy *policy)
{
	const void *at = parcel_take(from, size);

	if (!at)
		return -EPROTO;
	policy->tables = malloc(size);
	if (!policy->tables)
		return -ENOMEM;
	memcpy(policy->tables, at, size);
	policy->tables_size = size;
	return 0;
}

int compiled_policy_take(struct parcel *from, struct compiled_policy **ret_policy)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy =
		calloc(1, sizeof(*policy));
	struct head head;
	int r;

	if (!policy)
		return -ENOMEM;
	(void)((r = take_head(from, &head, policy)) < 0 || (r = take_texts(from, policy)) < 0 ||
	       (r = take_rules(from, head.rule_count, policy)) < 0 ||
	       (r = take_tables(from, head.tables_size, policy)) < 0);
	if (r < 0)
		return r;
	*ret_policy = TAKE_PTR(policy);
	return 0;
}
