/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The credentials of a labelled task: its own, or credentials that the kernel uses temporarily for
 * its own work.
 *
 * A stacked file system accesses its layers in the task's context, with the credentials of the
 * process that mounted it (override_creds(), fs/overlayfs). Name services of network file systems
 * do likewise. The task did not request these accesses, and its own call was checked. Denying them
 * harms all users. For example, overlayfs that may not read its own attributes treats a directory
 * as not opaque, and caches that for the whole host.
 *
 * Capability sets do not distinguish the two, because the task may hold every capability itself.
 * Their origin does. All credentials of an execution are copies of earlier ones of its tasks
 * (prepare_creds(), kernel/cred.c), starting with the credentials under which it was labelled.
 * io_uring, access(2) and core dumps use such copies temporarily. All copies are recorded here
 * while they exist. Credentials that are neither the task's real ones nor recorded belong to the
 * kernel.
 *
 * Fail closed: if there is no room for a record, the credentials are not made, and the call fails.
 */
#ifndef CORDON_BPF_CREDENTIALS_BPF_H
#define CORDON_BPF_CREDENTIALS_BPF_H

#include "bpf/core/subject.bpf.h"

/*
 * By address, with the label under which they were made. Exact, because the kernel reports the end
 * of credentials (cred_free). Open files of an execution hold the credentials that opened them.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CREDENTIALS_ALL);
	__type(key, __u64);
	__type(value, struct owned);
} own_credentials SEC(".maps");

/*
 * If no active security module stores data with credentials, the kernel does not report their end
 * (security_cred_free()). They can then not be recorded.
 */
static __always_inline bool tells_end(const struct cred *cred)
{
	return cred->security;
}

static __always_inline bool is_on_record(const struct cred *cred)
{
	__u64 address = (__u64)cred;

	return bpf_map_lookup_elem(&own_credentials, &address);
}

static __always_inline __u64 permitted_capabilities(const struct cred *cred)
{
	__u64 set = ~0ull;

	/* One or two words, depending on the kernel; always eight bytes. */
	bpf_probe_read_kernel(&set, sizeof(set), &cred->cap_permitted);
	return set;
}

/* Does the current task, which is labelled, act with credentials of the kernel? */
static __always_inline bool kernel_acts_for_itself(void)
{
	const struct task_struct *task = read_task(bpf_get_current_task_btf());
	const struct cred *cred = task->cred, *real = task->real_cred;

	if (cred == real)
		return false;
	if (tells_end(cred))
		return !is_on_record(cred);
	/*
	 * Fallback without records: credentials of a stacked file system permit capabilities that
	 * the task lacks. Copies of the task's own never do.
	 */
	return permitted_capabilities(cred) & ~permitted_capabilities(real);
}

static __always_inline struct cordon_execution *maker_of(const struct label *label)
{
	__u32 key = label->slot;
	struct cordon_execution *execution = bpf_map_lookup_elem(&executions, &key);

	return execution && execution->generation == label->generation ? execution : 0;
}

/* Returns 0, or -ENOMEM if there is no room, or if the execution has made too many. */
static __always_inline int record_credentials(const struct cred *cred, const struct label *label)
{
	struct cordon_execution *execution = maker_of(label);
	struct owned owned = {.label = *label};
	__u64 address = (__u64)cred;

	if (is_on_record(cred))
		return 0;
	if (!execution || execution->credentials >= CREDENTIALS_EACH)
		goto exhausted;
	owned.user = execution->user;
	if (!share_take(owned.user, CORDON_SHARE_CREDENTIALS, CREDENTIALS_ALL,
			execution->credentials))
		goto exhausted;
	if (bpf_map_update_elem(&own_credentials, &address, &owned, BPF_NOEXIST)) {
		share_give_back(owned.user, CORDON_SHARE_CREDENTIALS);
		goto exhausted;
	}
	__sync_fetch_and_add(&execution->credentials, 1);
	return 0;
exhausted:
	count(CORDON_COUNTER_CREDENTIALS_EXHAUSTED);
	return -ENOMEM;
}

static __always_inline void forget_credentials(const struct cred *cred)
{
	__u64 address = (__u64)cred;
	const struct owned *found = bpf_map_lookup_elem(&own_credentials, &address);
	struct cordon_execution *execution;
	struct owned owned;

	if (!found)
		return;
	owned = *found;
	if (bpf_map_delete_elem(&own_credentials, &address))
		return;
	share_give_back(owned.user, CORDON_SHARE_CREDENTIALS);
	execution = maker_of(&owned.label);
	if (execution)
		__sync_fetch_and_add(&execution->credentials, -1);
}

#endif
