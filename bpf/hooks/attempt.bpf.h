/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Logs DAC denials. LSM hooks do not see them, because the kernel checks modes and access control
 * lists first (inode_permission(), fs/namei.c). It then checks whether a capability overrides them.
 * commoncap runs before cordon, so that lsm/capable is not called for tasks without the capability.
 * This program is therefore attached at the end of that check.
 *
 * It decides nothing, and reports every name: userspace knows which ones to log. It is attached for
 * the first policy that requires such logs.
 */
#ifndef CORDON_BPF_HOOK_ATTEMPT_BPF_H
#define CORDON_BPF_HOOK_ATTEMPT_BPF_H

#include "bpf/core/credentials.bpf.h"
#include "bpf/core/decide.bpf.h"
#include "bpf/core/kernel.bpf.h"

/* Most bytes of a relative name, and of the directory where it starts. */
#define ATTEMPT_PART (CORDON_EVENT_LARGE / 2)

/* Directory where a relative name starts, as a struct path; 0: it cannot be read. */
static __always_inline __u64 start_of_name(const struct task_struct *current, __u64 names)
{
	const struct task_struct *task = read_task(current);
	__s32 fd = (__s32)read_u32(FIELD(struct nameidata, names, dfd));
	__u64 table, file;

	if (fd == AT_FDCWD)
		return FIELD(struct fs_struct, task->fs, pwd);
	table = read_u64(FIELD(struct files_struct, task->files, fdt));
	if (fd < 0 || (__u32)fd >= read_u32(FIELD(struct fdtable, table, max_fds)))
		return 0;
	file = read_u64(read_u64(FIELD(struct fdtable, table, fd)) + 8ull * (__u32)fd);
	return file ? FIELD(struct file, file, f_path) : 0;
}

static __always_inline void climb_path(const struct subject *s, __u64 path)
{
	put_question(s->walk, read_u64(FIELD(struct path, path, dentry)),
		     read_u64(FIELD(struct path, path, mnt)), NAME_QUESTION(0, NAME_SPELLED));
	begin_attempts(s->walk);
	s->walk->leaf.directory = 0;
	ask(s);
}

/*
 * Writes the denied name to `data`: the path in `walk`, if there is one, followed by `name`, if
 * there is one. Returns its length; 0: not known.
 */
static __noinline __u32 spell_asked(struct walk *walk, __u64 name, __u8 *data)
{
	__u32 at, total = 0;
	long length;

	if (!walk) {
		length = bpf_probe_read_kernel_str(data, CORDON_EVENT_LARGE, (const void *)name);
		return length > 1 ? length - 1 : 0;
	}
	if (walk->reason)
		return 0;
	at = spell_path(walk, data, &total);
	if (!name)
		return at < CORDON_EVENT_LARGE ? at : 0;
	if (at >= ATTEMPT_PART)
		return 0;
	at &= ATTEMPT_PART - 1;
	data[at] = '/';
	length = bpf_probe_read_kernel_str(data + at + 1, ATTEMPT_PART, (const void *)name);
	return length > 1 ? at + length : 0;
}

struct hashing {
	const __u8 *data;
	__u64 hash;
};

static long hash_word(__u32 index, void *context)
{
	struct hashing *hashing = context;

	hashing->hash = mix(
		hashing->hash,
		*(const __u64 *)(hashing->data + (((__u64)index * 8) & (CORDON_EVENT_LARGE - 1))));
	return 0;
}

static __always_inline __u64 hash_text(__u8 *data, __u32 length, __u64 seed)
{
	struct hashing hashing = {.data = data, .hash = seed};

	/* Clear the bytes after the text in its last word: they are another event's. */
	*(__u64 *)(data + length) = 0;
	bpf_loop((length + 7) / 8, hash_word, &hashing, 0);
	return hashing.hash;
}

/*
 * Like report_denial(), for a DAC denial. `walk` holds the path where the name is or starts; NULL:
 * `name` is absolute. A name of no interest to the policy is no loss, and repeats are not counted
 * as coalesced.
 */
__noinline int report_attempt(struct walk *walk, struct cordon_execution *execution, __u64 name,
			      __u64 policy, __u64 subject)
{
	struct label label = {.slot = (__u32)subject, .generation = subject >> 32};
	__u64 now = bpf_ktime_get_boot_ns(), key;
	struct cordon_denial_event *event;
	struct shared_scratch *shared;
	struct event_scratch *scratch;
	__u32 repeats, length;

	if (!execution)
		return 0;
	scratch = take_scratch_or_drop(execution, &shared);
	if (!scratch)
		return 0;
	length = spell_asked(walk, name, scratch->data) & (CORDON_EVENT_LARGE - 1);
	if (!length)
		goto out;
	key = hash_text(scratch->data, length, mix(subject, policy));
	if (is_repeated(key, now, &repeats) ||
	    !has_budget(execution, false, now, CORDON_BUDGET_ATTEMPT))
		goto out;
	event = (struct cordon_denial_event *)scratch->header;
	fill_process(&event->event);
	fill_unnumbered(&event->event, &label, policy, CORDON_EVENT_ATTEMPT,
			sizeof(*event) + length, now);
	event->operation = CORDON_OP_LOOKUP;
	event->rights = 0;
	event->error = -EACCES;
	event->rule = CORDON_NO_RULE;
	event->reason = CORDON_REASON_PERMISSIONS;
	event->would = 0;
	event->object_kind = CORDON_OBJECT_PATH;
	event->object_flags = 0;
	event->object_length = length;
	event->object_total = length;
	event->repeats = repeats;
	charge_bytes(execution, CORDON_BUDGET_ATTEMPT, sizeof(*event) + length);
	if (bpf_ringbuf_output(&critical, scratch, sizeof(*event) + length, 0)) {
		__sync_fetch_and_add(&execution->dropped, 1);
		count(CORDON_COUNTER_CRITICAL_DROPPED);
	}
out:
	put_scratch(shared);
	return 0;
}

/*
 * A directory that may not be searched, or a file that may not be opened. For a directory the rest
 * of the name need not exist, so there is no dentry to walk from: report the requested name.
 */
static __always_inline void tell_attempt(struct subject *s, const struct inode *inode, __u64 names)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 name = 0, path = FIELD(struct nameidata, names, path);

	if (S_ISDIR(inode->i_mode)) {
		name = read_u64(FIELD(struct nameidata, names, name));
		name = read_u64(FIELD(struct filename, name, name));
		if (!name)
			return;
		path = (read_u32(name) & 0xff) == '/' ? 0 : start_of_name(task, names);
		if (!path && (read_u32(name) & 0xff) != '/')
			return;
	}
	if (path) {
		if (!subject_need_walk(s))
			return;
		climb_path(s, path);
	}
	report_attempt(path ? s->walk : 0, s->execution, name, s->policy_ref, subject_number(s));
}

/* Only the lowest byte of the bool `granted` is defined. */
SEC("?fexit/capable_wrt_inode_uidgid")
int BPF_PROG(cordon_attempt, const void *mapping, const struct inode *inode, int cap, __u8 granted)
{
	struct subject s;
	__u64 names;

	/* generic_permission() checks CAP_DAC_OVERRIDE last. */
	if (granted || cap != CAP_DAC_OVERRIDE)
		return 0;
	if (subject_get(&s) != SUBJECT_EXECUTION)
		return 0;
	if ((s.policy->flags & CORDON_POLICY_ATTEMPTS) && !kernel_acts_for_itself()) {
		names = name_walked(bpf_get_current_task_btf());
		if (names)
			tell_attempt(&s, inode, names);
	}
	subject_put(&s);
	return 0;
}

#endif
