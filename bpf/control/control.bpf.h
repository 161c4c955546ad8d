/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Programs that the daemon runs on request. */
#ifndef CORDON_BPF_CONTROL_BPF_H
#define CORDON_BPF_CONTROL_BPF_H

#include "bpf/core/adopt.bpf.h"
#include "bpf/core/code.bpf.h"
#include "bpf/core/label.bpf.h"

/*
 * The identity of an open file or directory of the caller. No system call returns it: the device in
 * stat is not the superblock's on stacked and some other file systems.
 */
SEC("syscall")
int cordon_identify(struct cordon_identify *request)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 table = (__u64)read_task(task)->files->fdt;
	__u64 files = read_u64(FIELD(struct fdtable, table, fd));
	__u64 file, inode;

	request->error = -EBADF;
	if (request->fd < 0 ||
	    (__u32)request->fd >= read_u32(FIELD(struct fdtable, table, max_fds)))
		return 0;
	file = read_u64(files + 8ull * (__u32)request->fd);
	if (!file)
		return 0;
	inode = read_u64(FIELD(struct file, file, f_inode));
	request->directory = S_ISDIR(read_u32(FIELD(struct inode, inode, i_mode)) & 0xffff);
	read_file_state(inode, &request->file);
	request->anchor.inode = request->file.inode;
	request->anchor.address = inode;
	request->anchor.device = request->file.device;
	request->anchor.generation = request->file.generation;
	request->error = 0;
	return 0;
}

/* Labels each thread that the iterator visits. */
SEC("iter/task")
int cordon_label_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct cordon_label_request *request;
	struct cordon_execution *execution;
	const struct label *present;
	struct label label;
	__u32 key = 0;

	if (!task)
		return 0;
	request = bpf_map_lookup_elem(&label_request, &key);
	if (!request || request->error)
		return 0;
	label.slot = request->slot;
	label.generation = request->generation;
	key = label.slot;
	execution = bpf_map_lookup_elem(&executions, &key);
	if (!execution || execution->generation != label.generation) {
		request->error = -ENOMEM;
		return 0;
	}
	present = label_of_address((__u64)task);
	if (present) {
		request->error = -EBUSY;
		return 0;
	}
	note_reference(execution, task);
	if (label_task(task, &label)) {
		request->error = -ENOMEM;
		return 0;
	}
	request->labelled++;
	return 0;
}

/* The role that the request gives to a task; 0: none. */
static __always_inline enum cordon_role_kind role_for(const struct task_struct *task,
						      struct cordon_role_request *request)
{
	__u64 parent = (__u64)task->real_parent;
	const struct cordon_role *role;

	if ((__u32)task->tgid == request->pid) {
		if (!request->start)
			request->start = task->group_leader->start_boottime;
		if (task->group_leader->start_boottime == request->start)
			return CORDON_ROLE_EXECUTOR;
	}
	role = bpf_map_lookup_elem(&roles, &parent);
	if (role && role->owner == request->pid && role->start == request->start)
		return CORDON_ROLE_CHILD;
	return 0;
}

/*
 * Marks a running process as an executor, and its descendants as children. The daemon repeats this
 * until no task changes.
 */
SEC("iter/task")
int cordon_adopt_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct cordon_role_request *request;
	const struct cordon_role *present;
	struct cordon_role role = {};
	__u64 address = (__u64)task;
	__u32 key = 0;

	if (!task || task->exit_state)
		return 0;
	request = bpf_map_lookup_elem(&role_request, &key);
	if (!request || request->error)
		return 0;
	role.kind = role_for(task, request);
	if (!role.kind)
		return 0;
	present = bpf_map_lookup_elem(&roles, &address);
	if (present && present->owner == request->pid && present->start == request->start &&
	    (present->executor | 1) == (request->executor | 1))
		return 0;
	if (role.kind == CORDON_ROLE_EXECUTOR && (present || label_of_address(address))) {
		request->error = -EBUSY;
		return 0;
	}
	/* Another entry's or an execution's task. */
	if (present || label_of_address(address))
		return 0;
	role.executor = request->executor;
	role.owner = request->pid;
	role.start = request->start;
	role.mounts = (__u64)read_task(task)->nsproxy->mnt_ns;
	role.root = root_of(task);
	if (!set_role(address, &role, share_user_of(task))) {
		request->error = -ENOMEM;
		return 0;
	}
	if (role.kind == CORDON_ROLE_EXECUTOR)
		request->threads++;
	else
		request->children++;
	return 0;
}

/*
 * Removes the label of a zombie of an ended execution, so that a parent that never waits cannot
 * fill the map.
 */
static __always_inline void bury(const struct task_struct *task, const struct label *label)
{
	const struct cordon_execution *execution;
	__u32 key = label->slot;

	execution = bpf_map_lookup_elem(&executions, &key);
	if (!execution || execution->generation != label->generation)
		unlabel_task((__u64)task);
}

/* Writes a record for each labelled task. */
SEC("iter/task")
int cordon_list_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	const struct label *label;
	struct cordon_task_record record;

	if (!task)
		return 0;
	label = label_of_address((__u64)task);
	if (!label)
		return 0;
	/* A zombie can be neither killed nor freed: it waits for its parent. */
	if (task->exit_state) {
		bury(task, label);
		return 0;
	}
	record.tgid = task->tgid;
	record.tid = task->pid;
	record.slot = label->slot;
	record.generation = label->generation;
	record.exiting = !!(task->flags & PF_EXITING);
	record.reserved = 0;
	bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
	return 0;
}

#endif
