/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first use of an entry of cordon.yaml waits for approval, as does any change of whom it
 * matches, what it confines and where; its policy may get narrower.
 */
#include "daemon/execution/approval_check.h"
#include "daemon/executor/executors_parts.h"

static json_t *list_of(const char *const *texts)
{
	json_t *list = json_array();

	for (; list && texts && *texts; texts++)
		json_array_append_new(list, json_string(*texts));
	return list;
}

/* The policy itself has a digest of its own, and bounds limits. */
char *executor_purpose(const struct config_executor *is)
{
	_cleanup_(json_decrefp) json_t *use = json_pack(
		"{s:s,s:s,s:s?,s:s?,s:s?,s:o,s:o,s:s?,s:s,s:o,s:o,s:o,s:o,s:s,s:b,s:b,s:o*,s:s*}",
		"executor", is->name, "executable", is->executable, "arguments", is->arguments,
		"user", is->user, "cgroup", is->cgroup, "programs", list_of(is->programs), "except",
		list_of(is->except), "child_arguments", is->child_arguments, "kind",
		config_kind_name(is->kind), "workdir_under", list_of(is->workdir_under), "volumes",
		list_of(is->volumes), "binds", list_of(is->binds), "gate",
		list_of((const char *const *)is->gate), "stage", config_stage_name(is->stage),
		"deny_away", is->away == CONFIG_AWAY_DENY, "hold", is->hold,
		/* It may be longer than the policy's limit. */
		"lifetime_ns",
		is->has_lifetime ? json_integer((json_int_t)is->lifetime_nsec) : NULL,
		/* Without it, the executor itself would be confined no more. */
		"itself", is->itself ? is->itself->policy : NULL);

	return use ? json_dumps(use, JSON_COMPACT) : NULL;
}

void executor_check_approval(struct executors *x, struct executor_entry *entry)
{
	_cleanup_(freep) char *use = NULL;
	_cleanup_(freep) char *message = NULL;
	struct failure failure = {};
	bool waited = entry->waits;
	int r;

	if (entry->why)
		return;
	if (!approvals_required(x->daemon)) {
		entry->waits = false;
		return;
	}
	use = executor_purpose(entry->is);
	r = use ? approval_check(x->daemon, entry->policy->policy, use, 0, &message, &failure)
		: failure_set(&failure, ENOMEM, "%m");
	entry->waits = r < 0;
	if (!entry->waits || waited)
		return;
	if (message && *message)
		failure_replace(&failure, r, "%s", message);
	daemon_say(x->daemon, "executor %s: %s", entry->is->name, failure.text);
	daemon_record(x->daemon, "executor-waits",
		      json_pack("{s:s,s:s,s:s}", "executor", entry->is->name, "policy",
				entry->policy->policy->name, "error", failure.text));
}

void executors_check_approvals(struct executors *x)
{
	if (!x || !x->daemon->approvals)
		return;
	for (uint32_t i = 0; i < CORDON_MAX_EXECUTORS; i++) {
		struct executor_entry *entry = (x->active >> i) & 1 ? x->entries[i] : NULL;

		if (!entry)
			continue;
		executor_check_approval(x, entry);
		if (entry->waits)
			standby_give_back(x, i);
	}
	executors_look_after(x);
}
