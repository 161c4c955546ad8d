/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the rule that says why an attempt which permissions refused is worth a record. */
#include "daemon/execution/attempt.h"

#include <string.h>

#include "audit/record/decode.h"
#include "policy/ask/question.h"

/*
 * Takes out empty components, "." and, with what stands before it, ".."; a '/' at the end, too. In
 * place.
 */
static void make_plain(char *name)
{
	char *end = name;

	for (const char *at = name; *at;) {
		size_t length = strcspn(at, "/");

		if (length == 2 && memcmp(at, "..", 2) == 0) {
			*end = '\0';
			end = strrchr(name, '/');
			end = end ? end : name;
		} else if (length > 0 && !(length == 1 && *at == '.')) {
			*end++ = '/';
			/* What was written is never longer than what was read: there was a '/'. */
			memmove(end, at, length);
			end += length;
		}
		at += length;
		at += strspn(at, "/");
	}
	if (end == name)
		*end++ = '/';
	*end = '\0';
}

static void find_directories(const struct audit_execution *execution,
			     const char *directories[CORDON_MAX_ANCHORS])
{
	const struct compiled_policy *policy = execution->policy;

	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++) {
		const char *name = policy->anchor_names[i];

		directories[i] = NULL;
		if (!name)
			continue;
		if (strcmp(name, "workdir") == 0)
			directories[i] = execution->workdir;
		for (char *const *d = execution->directories; d && d[0] && d[1]; d += 2)
			if (strcmp(d[0], name) == 0)
				directories[i] = d[1];
	}
}

static bool is_marked(const struct compiled_policy *policy, uint16_t number)
{
	const struct policy_rule *rule = number < policy->rule_count ? &policy->rules[number]
								     : NULL;

	return rule && (rule->severity || (rule->tags && rule->tags[0]));
}

/* CORDON_NO_RULE: none. */
static int find_marking(const struct compiled_policy *policy, const struct policy_question *q,
			uint16_t *ret_rule)
{
	struct policy_answer answer;
	int r = question_judge(policy, q, &answer);

	*ret_rule = CORDON_NO_RULE;
	for (unsigned int right = 0; r == 0 && right < CORDON_RIGHT_COUNT; right++)
		if (verdict_denied(&answer.verdict) & CORDON_RIGHT(right) &&
		    is_marked(policy, answer.rule[right])) {
			*ret_rule = answer.rule[right];
			return 0;
		}
	return r;
}

/* By its name, or by that of the list of what is in it. */
static int judge(const struct audit_execution *execution, const char *name, uint16_t *ret_rule)
{
	static const char *const rights[] = {"read", "list"};
	const char *directories[CORDON_MAX_ANCHORS];
	int r = 0;

	*ret_rule = CORDON_NO_RULE;
	find_directories(execution, directories);
	for (size_t i = 0; i < ARRAY_SIZE(rights) && r == 0 && *ret_rule == CORDON_NO_RULE; i++) {
		struct policy_question q = {};
		char error[QUESTION_ERROR_TEXT];

		r = question_read(execution->policy, rights[i], name, directories, &q, error);
		if (r == 0)
			r = find_marking(execution->policy, &q, ret_rule);
		question_release(&q);
	}
	return r;
}

int attempt_mark(const struct audit_execution *execution, const void *event, size_t size,
		 void **ret_event, size_t *ret_size)
{
	const struct decoded_access *access;
	struct cordon_denial_event *marked;
	struct decoded_event decoded;
	_cleanup_(freep) char *bytes = NULL;
	uint16_t rule;
	char *name;
	int r;

	/* Of an execution that another daemon left, the tables may not be kept. */
	if (!execution->policy || !execution->policy->tables)
		return -ENODATA;
	r = decode_event(event, size, &decoded);
	if (r < 0)
		return r;
	access = &decoded.denial.access;
	if (decoded.header.type != CORDON_EVENT_ATTEMPT ||
	    access->object_kind != CORDON_OBJECT_PATH || access->object_length == 0 ||
	    access->object[0] != '/' || memchr(access->object, '\0', access->object_length))
		return -EBADMSG;
	bytes = calloc(1, sizeof(*marked) + access->object_length + 1);
	if (!bytes)
		return -ENOMEM;
	marked = (void *)bytes;
	memcpy(marked, event, sizeof(*marked) + access->object_length);
	name = (char *)marked->object;
	make_plain(name);
	r = judge(execution, name, &rule);
	/* A component that is longer than names can be is of no file. */
	if (r == -EINVAL || (r == 0 && rule == CORDON_NO_RULE))
		return -ENODATA;
	if (r < 0)
		return r;
	marked->rule = rule;
	marked->object_length = marked->object_total = (uint32_t)strlen(name);
	marked->event.size = (uint32_t)(sizeof(*marked) + marked->object_length);
	*ret_size = marked->event.size;
	*ret_event = TAKE_PTR(bytes);
	return 0;
}
