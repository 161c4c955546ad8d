/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * With whose credentials a labelled task acts: with its own, or with those that the kernel put in
 * their place for work of its own.
 *
 * A stacked file system reads and writes its layers in the task's context, under the credentials of
 * whoever mounted it (override_creds(), fs/overlayfs); name services of network file systems do
 * likewise. That is not the task's wish, whose own call has been judged, and a refusal there harms
 * everybody: overlayfs that may not read its own attributes takes a directory for one that is not
 * opaque, and remembers so for the whole host.
 *
 * Capability sets do not tell the two apart, as the task may hold every capability itself. Descent
 * does: whatever an execution's task acts with was copied from what it acted with before
 * (prepare_creds(), kernel/cred.c), from the credentials under which it was labelled on. io_uring,
 * access(2) and core dumps put such copies in force for a while. All copies are on record here as
 * long as they exist; what is neither the task's own nor on record is the kernel's.
 *
 * Fail closed: credentials that find no room are not made, and the call that wanted them fails.
 */
#ifndef CORDON_BPF_CREDENTIALS_BPF_H
#define CORDON_BPF_CREDENTIALS_BPF_H

#include "bpf/core/subject.bpf.h"

/*
 * Keyed by address, with the label under which they were made. Exact: the kernel tells of each end
 * (cred_free). Files that an execution has open hold those under which they were opened.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CREDENTIALS_ALL);
	__type(key, __u64);
	__type(value, struct owned);
} own_credentials SEC(".maps");

/*
 * Where no active security module keeps anything with credentials, the kernel does not tell of
 * their end (security_cred_free()), and nothing can be on record.
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

	/* Two words or one, by kernel: eight bytes either way. */
	bpf_probe_read_kernel(&set, sizeof(set), &cred->cap_permitted);
	return set;
}

/*
 * Does the current task, which is labelled, act with credentials that the kernel put in force for
 * itself?
 */
static __always_inline bool kernel_acts_for_itself(void)
{
	const struct task_struct *task = read_task(bpf_get_current_task_btf());
	const struct cred *cred = task->cred, *real = task->real_cred;

	if (cred == real)
		return false;
	if (tells_end(cred))
		return !is_on_record(cred);
	/*
	 * The next best: a stacked file system's permit what the task gave up, its own copies never
	 * do.
	 */
	return permitted_capabilities(cred) & ~permitted_capabilities(real);
}

static __always_inline struct cordon_execution *maker_of(const struct label *label)
{
	__u32 key = label->slot;
	struct cordon_execution *execution = bpf_map_lookup_elem(&executions, &key);

	return execution && execution->generation == label->generation ? execution : 0;
}

/* -ENOMEM: no room, or the execution has made too many. */
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
