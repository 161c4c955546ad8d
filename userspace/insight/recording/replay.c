/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates a recorded access under a policy, with the same code as the kernel. */
#include "insight/recording/replay.h"

#include <string.h>

#include "base/temporary_directory.h"
#include "policy/ask/host_judge.h"

/* Returns the length of the directory if it contains the name, or POLICY_NO_ANCHOR. */
static size_t find_anchor(const struct recorded_access *a, const char *directory)
{
	size_t n = directory ? strlen(directory) : 0;

	if (!directory || a->size < n || memcmp(a->bytes, directory, n) != 0 ||
	    (a->bytes[n] && a->bytes[n] != '/'))
		return POLICY_NO_ANCHOR;
	return n;
}

/* True if the execution owned the file at that time, and the policy has a rule for that. */
static bool is_own_temporary(const struct compiled_policy *policy, const struct recorded_access *a)
{
	struct cordon_policy_header header;

	memcpy(&header, policy->tables, sizeof(header));
	return a->temporary && (header.flags & CORDON_POLICY_OWN_TEMPORARY) &&
	       temporary_directory(a->bytes, a->size) > 0;
}

/* Is it a terminal that the execution made, under a policy that grants these? */
static bool is_granted_terminal(const struct compiled_policy *policy,
				const struct recorded_access *a, const struct policy_answer *found)
{
	struct cordon_policy_header header;

	memcpy(&header, policy->tables, sizeof(header));
	return a->own_terminal && (header.flags & CORDON_POLICY_OWN_TERMINALS) &&
	       !(found->verdict.deny & found->missing);
}

static bool is_asked_by_name(const struct compiled_policy *policy, const struct recorded_access *a)
{
	struct policy_answer by_address;

	return a->named &&
	       policy_judge(policy->tables, policy->tables_size, CORDON_START_NET, a->bytes,
			    a->size, CORDON_RIGHT(CORDON_NET_CONNECT), &by_address) == 0 &&
	       host_asks_names(&by_address);
}

void replay_question(const struct compiled_policy *policy, const struct recorded_run *run,
		     const struct recorded_access *access, unsigned int right,
		     struct policy_question *ret_question)
{
	struct policy_question q = {
		.right = right,
		.start = access->kind == ACCESS_NET || access->kind == ACCESS_HOST
				 ? CORDON_START_NET
			 : access->kind == ACCESS_SOCKET   ? CORDON_START_SOCKET
			 : access->kind == ACCESS_ABSTRACT ? CORDON_START_ABSTRACT
							   : CORDON_START_PATH,
		/* Points to the access's bytes: never release it. */
		.bytes = (char *)access->bytes,
		.size = access->size,
	};

	if (is_asked_by_name(policy, access)) {
		q.bytes = (char *)access->named;
		q.size = access->named_size;
	}
	q.path = (struct policy_path){.name = access->bytes,
				      .size = access->size,
				      .listing = access->listing,
				      .case_insensitive = access->case_insensitive,
				      .link = access->operation == CORDON_OP_SYMLINK};
	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		q.path.anchors[i] =
			access->kind == ACCESS_PATH && policy->anchor_names[i]
				? find_anchor(access,
					      recorded_directory(run, policy->anchor_names[i]))
				: POLICY_NO_ANCHOR;
	if (is_own_temporary(policy, access) &&
	    q.path.anchors[CORDON_ANCHOR_TMP] == POLICY_NO_ANCHOR)
		q.path.anchors[CORDON_ANCHOR_TMP] =
			temporary_directory(access->bytes, access->size);
	*ret_question = q;
}

/* True for reasons that do not depend on the policy. */
static bool is_beyond_policies(const struct recorded_access *a)
{
	switch (a->reason) {
	case CORDON_REASON_DEFAULT:
	case CORDON_REASON_RULE:
	case CORDON_REASON_HOST:
	case RECORDING_NO_ANSWER:
		return a->kind == ACCESS_OTHER || a->partial;
	case CORDON_REASON_FOREIGN:
		return a->kind != ACCESS_SIGNAL && !(a->kind == ACCESS_TRACE && a->own);
	default:
		return true;
	}
}

/* Evaluates settings of the section `process`. */
static bool setting_allows(const struct compiled_policy *p, const struct recorded_access *a)
{
	struct cordon_policy_header header;

	memcpy(&header, p->tables, sizeof(header));
	switch (a->kind) {
	case ACCESS_CAPABILITY:
		return header.capabilities >> a->number & 1;
	case ACCESS_SIGNAL:
		return header.flags & CORDON_POLICY_SIGNAL_ANY;
	case ACCESS_TRACE:
		return header.flags & CORDON_POLICY_TRACE_OWN;
	default:
		return header.flags & CORDON_POLICY_NAMESPACES;
	}
}

/* Returns the rights that the policy checks. */
static uint32_t asked_rights(const struct compiled_policy *p, const struct recorded_access *a)
{
	struct cordon_policy_header header;

	memcpy(&header, p->tables, sizeof(header));
	return header.flags & CORDON_POLICY_SPECIAL ? a->rights
						    : a->rights & ~CORDON_RIGHT(CORDON_SPECIAL);
}

/*
 * True if an object that redirects or blocks other users would be created directly in a shared
 * temporary directory (refuse_led_away(), bpf/hooks/names.bpf.h).
 */
static bool leads_away(const struct compiled_policy *policy, const struct recorded_access *a)
{
	return is_own_temporary(policy, a) && (a->rights & CORDON_RIGHT(CORDON_SPECIAL)) &&
	       is_directly_temporary(a->bytes, a->size);
}

static int judge_rights(const struct compiled_policy *p, const struct recorded_run *run,
			const struct recorded_access *a, struct replay_answer *answer)
{
	uint32_t rights = asked_rights(p, a);
	struct policy_question q;
	struct policy_answer found;
	int r;

	if (a->reason == CORDON_REASON_HOST)
		rights |= CORDON_RIGHT(CORDON_NET_HOST);
	replay_question(p, run, a, 0, &q);
	if (a->kind == ACCESS_HOST)
		r = host_judge(p, a->text, &found);
	else
		r = q.start == CORDON_START_PATH
			    ? policy_judge_path(p->tables, p->tables_size, &q.path, rights, &found)
			    : policy_judge(p->tables, p->tables_size, q.start, q.bytes, q.size,
					   rights, &found);
	if (r < 0)
		return r;
	if (!found.missing && leads_away(p, a))
		found.missing = CORDON_RIGHT(CORDON_SPECIAL);
	if (found.missing && is_granted_terminal(p, a, &found)) {
		found.verdict.allow |= found.missing;
		found.missing = 0;
	}
	/* A program's loader only needs MAP (decide_open(), bpf/hooks/open.bpf.h). */
	if (a->operation == CORDON_OP_EXEC && a->outcome == ACCESS_ALLOWED &&
	    !verdict_missing(&found.verdict, CORDON_RIGHT(CORDON_MAP)) &&
	    found.missing == CORDON_RIGHT(CORDON_RUN)) {
		rights = CORDON_RIGHT(CORDON_MAP);
		found.missing = 0;
	}
	answer->asked = rights;
	answer->missing = found.missing;
	answer->allowed = !found.missing;
	answer->granted = verdict_granted(&found.verdict);
	answer->right = 0;
	/*
	 * Report the rule for the first missing right, or for the first right if none is missing.
	 */
	while (answer->right < CORDON_RIGHT_COUNT &&
	       !((found.missing ? found.missing : rights) & CORDON_RIGHT(answer->right)))
		answer->right++;
	answer->rule = answer->right < CORDON_RIGHT_COUNT ? found.rule[answer->right]
							  : CORDON_NO_RULE;
	return 0;
}

int replay_judge(const struct compiled_policy *policy, const struct recorded_run *run,
		 const struct recorded_access *access, struct replay_answer *ret_answer)
{
	struct replay_answer answer = {
		.right = CORDON_RIGHT_COUNT, .rule = CORDON_NO_RULE, .decided = true};
	int r = 0;

	if (is_beyond_policies(access)) {
		answer.decided = false;
		answer.allowed = access->outcome != ACCESS_REFUSED;
	} else if (access->kind >= ACCESS_CAPABILITY) {
		answer.allowed = setting_allows(policy, access);
	} else {
		r = judge_rights(policy, run, access, &answer);
	}
	if (r < 0)
		return r;
	*ret_answer = answer;
	return 0;
}
