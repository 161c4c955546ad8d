/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Watching files (inotify, fanotify): checks on the watched file, and a limit on the instances and
 * watches of one execution. The kernel counts both per user. Without the limit, an execution could
 * use up the user's share, and the user's programs outside could watch nothing.
 */
#ifndef CORDON_BPF_HOOK_WATCH_BPF_H
#define CORDON_BPF_HOOK_WATCH_BPF_H

#include "bpf/hooks/descriptor.bpf.h"

/*
 * Creator of a group, the kernel's object behind inotify_init(2) and fanotify_init(2). Deleted with
 * the group.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WATCHERS_ALL);
	__type(key, __u64);
	__type(value, struct owned);
} watchers SEC(".maps");

static __always_inline bool record_group(__u64 group, const struct label *label,
					 struct cordon_execution *execution)
{
	struct owned owned = {.label = *label, .user = execution->user};
	__u32 held = __sync_fetch_and_add(&execution->watchers, 1);

	if (held < WATCHERS_EACH &&
	    share_take(owned.user, CORDON_SHARE_WATCHERS, WATCHERS_ALL, held)) {
		if (bpf_map_update_elem(&watchers, &group, &owned, BPF_NOEXIST) == 0)
			return true;
		share_give_back(owned.user, CORDON_SHARE_WATCHERS);
	}
	__sync_fetch_and_add(&execution->watchers, -1);
	return false;
}

/*
 * Kills the caller if it has too many groups, because no LSM hook runs here and this program cannot
 * make the call fail. The task then never returns from the call. The kernel frees its groups, the
 * new one included.
 */
SEC("?fexit/fsnotify_alloc_group")
int BPF_PROG(cordon_group_alloc, const void *operations, int flags, struct fsnotify_group *group)
{
	struct subject s;

	if (IS_ERR_VALUE((__u64)group))
		return 0;
	switch (subject_get(&s)) {
	case SUBJECT_OUTSIDE:
		return 0;
	case SUBJECT_UNKNOWN:
		bpf_send_signal(SIGKILL);
		return 0;
	default:
		break;
	}
	if (!record_group((__u64)group, &s.label, s.execution) &&
	    deny_number_at_exit(&s, CORDON_OP_OPEN, CORDON_MAX_WATCHERS, CORDON_REASON_BUILTIN,
				-EMFILE))
		bpf_send_signal(SIGKILL);
	subject_put(&s);
	return 0;
}

/* `current` is the task that drops the last reference, and is unrelated. */
SEC("?fentry/fsnotify_destroy_group")
int BPF_PROG(cordon_group_destroy, struct fsnotify_group *group)
{
	__u64 key = (__u64)group;
	const struct owned *found = bpf_map_lookup_elem(&watchers, &key);
	struct cordon_execution *execution;
	struct owned owned;

	if (!found)
		return 0;
	owned = *found;
	if (bpf_map_delete_elem(&watchers, &key))
		return 0;
	share_give_back(owned.user, CORDON_SHARE_WATCHERS);
	execution = execution_of(&owned.label);
	if (execution)
		__sync_fetch_and_add(&execution->watchers, -1);
	return 0;
}

/*
 * Has the user used more than three quarters of this resource, in any user namespace that counts
 * it?
 */
static __always_inline bool is_short_of(__u32 kind)
{
	const struct task_struct *task = read_task(bpf_get_current_task_btf());
	__u64 counts = (__u64)task->cred->ucounts, namespace, used, most;

	for (int i = 0; i < USER_NAMESPACES_MAX && counts; i++) {
		namespace = read_u64(FIELD(struct ucounts, counts, ns));
		used = read_u64(FIELD(struct ucounts, counts, ucount) + 8ull * kind);
		most = read_u64(FIELD(struct user_namespace, namespace, ucount_max) + 8ull * kind);
		if (used >= most - most / 4)
			return true;
		counts = read_u64(FIELD(struct user_namespace, namespace, ucounts));
	}
	return false;
}

/*
 * Watching reports opens, creations and renames. For a directory this discloses as much as listing
 * it repeatedly, so it requires READ. Watching whole mounts or file systems, and events that wait
 * for the watcher's permission, are always denied. So is the last quarter of the watches that the
 * kernel grants to a user.
 */
SEC("lsm/path_notify")
int BPF_PROG(cordon_path_notify, const struct path *path, __u64 mask, unsigned int type, int ret)
{
	struct subject s;

	ENTER(&s, ret);
	if (type != FSNOTIFY_INODE || (mask & FAN_PERMISSION_EVENTS))
		return LEAVE(&s,
			     deny_number(&s, CORDON_OP_OPEN, mask, CORDON_REASON_BUILTIN, -EPERM));
	if (is_short_of(bpf_core_enum_value(enum ucount_type, UCOUNT_INOTIFY_WATCHES)) ||
	    is_short_of(bpf_core_enum_value(enum ucount_type, UCOUNT_FANOTIFY_MARKS)))
		return LEAVE(&s,
			     deny_number(&s, CORDON_OP_OPEN, mask, CORDON_REASON_BUILTIN, -ENOSPC));
	return LEAVE(&s, judge_handling(&s, path, CORDON_OP_OPEN, CORDON_READ));
}

#endif
