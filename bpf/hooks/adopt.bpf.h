/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Turns an executor's child into an execution at its exec. This happens before the program is
 * checked, so that all hooks of the exec apply the execution's policy. It happens before the point
 * of no return, so that the executor gets an error if the launch is rejected.
 *
 * A child whose exec fails afterwards keeps the label: it was forked to run agent code, and has no
 * other purpose.
 */
#ifndef CORDON_BPF_HOOK_ADOPT_BPF_H
#define CORDON_BPF_HOOK_ADOPT_BPF_H

#include "bpf/core/adopt.bpf.h"
#include "bpf/core/credentials.bpf.h"
#include "bpf/core/decide.bpf.h"
#include "bpf/core/terminal.bpf.h"

/* Data of one adoption. The scratch for events holds the directory's path, then the program's. */
struct adopt_question {
	struct cordon_adoption *adoption;
	struct cordon_executor *executor;
	struct linux_binprm *bprm;
	struct event_scratch *scratch;
	__u64 mounts; /* mount namespace of the child */
	__u32 index;
	__u32 workdir; /* length of its path */
	struct cordon_role role;
};

#define ADOPT_PROGRAM_MAX CORDON_NAME_MAX
#define ADOPT_NOT	  0xffffffffu /* no agent code: it stays as it is */

static __noinline void send_adopt_event(const struct adopt_question *q, const struct label *label,
					struct cordon_execution *execution, __u32 reason)
{
	struct cordon_adopt_event *event = adopt_event(q->scratch);
	__u32 workdir = q->workdir, size;
	long program;

	if (workdir > CORDON_EVENT_LARGE - ADOPT_PROGRAM_MAX)
		workdir = CORDON_EVENT_LARGE - ADOPT_PROGRAM_MAX;
	program = bpf_probe_read_kernel_str(q->scratch->data + workdir, ADOPT_PROGRAM_MAX,
					    q->bprm->filename);
	program = program > 0 ? program - 1 : 0;
	size = sizeof(*event) + workdir + program;
	fill_process(&event->event);
	if (execution) {
		fill_event(&event->event, label, execution, CORDON_EVENT_ADOPT, size,
			   bpf_ktime_get_boot_ns());
	} else {
		event->event.type = CORDON_EVENT_REFUSED;
		event->event.size = size;
		event->event.slot = 0xffffffffu;
		event->event.generation = 0;
		event->event.sequence = 0;
		event->event.time = bpf_ktime_get_boot_ns();
		event->event.policy = 0;
		event->event.reserved = 0;
	}
	event->executor = q->index;
	event->reason = reason;
	event->workdir_length = workdir;
	event->program_length = program;
	event->variables = 0;
	event->begun = 0;
	if (size > sizeof(*event) + CORDON_EVENT_LARGE)
		size = sizeof(*event) + CORDON_EVENT_LARGE;
	if (execution)
		note_sent(execution, bpf_ringbuf_output(&critical, event, size, 0),
			  CORDON_COUNTER_CRITICAL_DROPPED);
	else if (bpf_ringbuf_output(&critical, event, size, 0))
		count(CORDON_COUNTER_CRITICAL_DROPPED);
}

static __always_inline int refuse_adoption(struct adopt_question *q, __u32 reason, int error)
{
	__sync_fetch_and_add(&q->adoption->refused, 1);
	send_adopt_event(q, 0, 0, reason);
	return error;
}

/* Does the entry apply to this child? If this cannot be determined, it does. */
static __always_inline bool is_agent_code(struct adopt_question *q, struct adopt_scratch *scratch)
{
	__u32 flags = q->executor->flags;
	bool listed;

	if (flags & (CORDON_EXECUTOR_ONLY | CORDON_EXECUTOR_EXCEPT)) {
		if (bpf_d_path(&q->bprm->file->f_path, scratch->key.text, CORDON_ADOPT_TEXT) <= 0)
			listed = flags & CORDON_EXECUTOR_ONLY;
		else
			listed = adopt_lookup(scratch, CORDON_ADOPT_PROGRAM, q->index);
		if (listed != !!(flags & CORDON_EXECUTOR_ONLY))
			return false;
	}
	return match_arguments(&q->executor->child_arguments, scratch) != GLOB_NO;
}

/*
 * Is the file a memfd that can no longer be changed? Its seals show this. The caller compares the
 * length.
 */
static __always_inline bool is_sealed_copy(__u64 inode)
{
	const __u32 sealed = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

	if (!bpf_core_field_exists(struct shmem_inode_info, seals))
		return false;
	inode -= bpf_core_field_offset(struct shmem_inode_info, vfs_inode);
	return (read_u32(FIELD(struct shmem_inode_info, inode, seals)) & sealed) == sealed;
}

/*
 * Is the program of this exec the file that the task already runs? runc protects its own file from
 * containers that could write to it (CVE-2019-5736). It runs a copy in memory. Since 1.2, it runs
 * itself through a read-only overlay, with the inode number of the file below.
 */
static __always_inline bool runs_itself(const struct adopt_question *q)
{
	const struct mm_struct *mm = read_task(bpf_get_current_task_btf())->mm;
	__u64 file = read_u64(FIELD(struct mm_struct, mm, exe_file));
	__u64 own = read_u64(FIELD(struct file, file, f_inode));
	const struct inode *inode = read_file(q->bprm->file)->f_inode;
	const struct super_block *super_block = inode->i_sb;

	if (!own)
		return false;
	if ((__u64)inode == own)
		return true;
	if ((__u64)inode->i_size != read_u64(FIELD(struct inode, own, i_size)))
		return false;
	if (super_block->s_magic == TMPFS_MAGIC)
		return inode->i_nlink == 0 && is_sealed_copy((__u64)inode);
	return super_block->s_magic == OVERLAYFS_MAGIC && super_block->s_flags & SB_RDONLY &&
	       inode->i_ino == read_u64(FIELD(struct inode, own, i_ino));
}

/*
 * Programs that a container runtime runs on the host to make a container are no agent code: itself,
 * and the hooks that its entry lists. Inside the container all programs are agent code, because an
 * image may contain programs of any name, and a copy of any file.
 */
static __always_inline __u32 judge_container(struct adopt_question *q,
					     struct adopt_scratch *scratch)
{
	if (q->mounts != q->role.mounts)
		return CORDON_ADOPTED;
	if (root_of(bpf_get_current_task_btf()) != q->role.root)
		return CORDON_ADOPT_LOCAL;
	if ((q->executor->flags & CORDON_EXECUTOR_RUNTIME) && runs_itself(q))
		return ADOPT_NOT;
	if ((q->executor->flags & CORDON_EXECUTOR_EXCEPT) &&
	    bpf_d_path(&q->bprm->file->f_path, scratch->key.text, CORDON_ADOPT_TEXT) > 0 &&
	    adopt_lookup(scratch, CORDON_ADOPT_PROGRAM, q->index))
		return ADOPT_NOT;
	return CORDON_ADOPT_LOCAL;
}

/*
 * Writes the path of the current directory to the scratch. False: it has no path that could be
 * checked.
 */
static __always_inline bool find_workdir(struct adopt_question *q, struct adopt_scratch *scratch)
{
	struct task_struct *task = bpf_get_current_task_btf();
	long n = bpf_d_path(&task->fs->pwd, scratch->key.text, CORDON_ADOPT_TEXT);

	q->workdir = 0;
	/* The check below needs room for a trailing slash. */
	if (n <= 1 || n >= CORDON_ADOPT_TEXT)
		return false;
	q->workdir = n - 1;
	return scratch->key.text[0] == '/';
}

static __always_inline __u32 judge_workdir(struct adopt_question *q, struct adopt_scratch *scratch)
{
	__u32 length = q->workdir;

	if (adopt_lookup(scratch, CORDON_ADOPT_DIRECTORY, 0))
		return CORDON_ADOPT_WORKDIR;
	if (length >= CORDON_ADOPT_TEXT - 1)
		return CORDON_ADOPT_WORKDIR;
	scratch->key.text[length] = '/';
	scratch->key.text[length + 1] = 0;
	return adopt_lookup(scratch, CORDON_ADOPT_UNDER, q->index) ? CORDON_ADOPTED
								   : CORDON_ADOPT_OUTSIDE;
}

/* Takes an execution that is ready, for this task alone. */
static __always_inline bool take_standby(struct cordon_executor *executor, struct label *ret_label)
{
	__u32 start = __sync_fetch_and_add(&executor->next_standby, 1);

	for (__u32 i = 0; i < CORDON_MAX_STANDBY; i++) {
		__u64 *place = &executor->standby[(start + i) & (CORDON_MAX_STANDBY - 1)];
		__u64 found = *(volatile __u64 *)place;

		if (!found || __sync_val_compare_and_swap(place, found, 0) != found)
			continue;
		ret_label->slot = (__u32)found;
		ret_label->generation = found >> 32;
		return true;
	}
	return false;
}

/*
 * Binds the current directory as the work directory, unless it has no path. The root of a container
 * is not bound either: a policy's grants below `${workdir}` would reach all files there.
 */
static __always_inline void bind_workdir(const struct adopt_question *q,
					 struct cordon_execution *execution)
{
	const struct inode *inode = read_task(bpf_get_current_task_btf())->fs->pwd.dentry->d_inode;
	struct cordon_anchor *anchor = &execution->anchors[CORDON_ANCHOR_WORKDIR];

	if (q->workdir <= sizeof("/") - 1)
		return;
	anchor->inode = inode->i_ino;
	anchor->address = (__u64)inode;
	anchor->device = inode->i_sb->s_dev;
	anchor->generation = inode->i_generation;
}

/*
 * Does the task trace another one? Hooks check only the attach (ptrace_access_check), and no later
 * request.
 */
static __always_inline bool traces(struct task_struct *task)
{
	__u64 list = FIELD(struct task_struct, task, ptraced);

	return read_u64(list) != list;
}

#define NULL_DEVICE (1u << 20 | 3) /* Documentation/admin-guide/devices.txt */

/*
 * Is standard input something other than the null device? Its other readers, such as the executor,
 * could be affected. BPF programs cannot replace a descriptor.
 */
static __always_inline bool has_input(struct task_struct *task)
{
	__u64 table = read_u64(FIELD(struct files_struct, read_task(task)->files, fdt));
	__u64 file = read_u64(read_u64(FIELD(struct fdtable, table, fd))), inode;

	if (!file)
		return false;
	inode = read_u64(FIELD(struct file, file, f_inode));
	return (read_u32(FIELD(struct inode, inode, i_mode)) & S_IFMT) != S_IFCHR ||
	       read_u32(FIELD(struct inode, inode, i_rdev)) != NULL_DEVICE;
}

static __noinline int adopt(struct adopt_question *q)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct cordon_execution *execution;
	struct label label;
	__u64 now = bpf_ktime_get_boot_ns(), address = (__u64)task;
	__u32 key;

	if (!q || !q->executor || !q->adoption || !q->scratch)
		return -EAGAIN;

	if ((q->executor->flags & CORDON_EXECUTOR_DENY_AWAY) && now > q->adoption->lease)
		return refuse_adoption(q, CORDON_ADOPT_AWAY, -EACCES);
	if (traces(task))
		return refuse_adoption(q, CORDON_ADOPT_TRACES, -EACCES);
	if ((q->executor->flags & CORDON_EXECUTOR_NO_INPUT) && has_input(task))
		return refuse_adoption(q, CORDON_ADOPT_INPUT, -EACCES);
	if (!take_standby(q->executor, &label))
		return refuse_adoption(q, CORDON_ADOPT_EXHAUSTED, -EAGAIN);
	key = label.slot;
	execution = bpf_map_lookup_elem(&executions, &key);
	if (!execution || execution->generation != label.generation ||
	    execution->state != CORDON_EXECUTION_PREPARED)
		return refuse_adoption(q, CORDON_ADOPT_EXHAUSTED, -EAGAIN);
	/* A confined executor has no work directory, because it may be started in any directory. */
	if (!(q->executor->flags & CORDON_EXECUTOR_ITSELF))
		bind_workdir(q, execution);
	note_reference(execution, task);
	inherit_reference(execution, task);
	execution->owner_pid = q->role.owner;
	execution->owner_start = q->role.start;
	execution->leader = task->tgid;
	execution->off_terminal = is_off_terminal(task);
	/* The daemon scans the slots, and reads the other fields once `adopted` is set. */
	order();
	execution->adopted = now;
	execution->state = CORDON_EXECUTION_LIVE;
	if (relabel_task(task, &label))
		return refuse_adoption(q, CORDON_ADOPT_NO_LABEL, -EAGAIN);
	if (!(q->executor->flags & CORDON_EXECUTOR_ITSELF))
		remove_role(address);
	__sync_fetch_and_add(&q->adoption->adopted, 1);
	send_adopt_event(q, &label, execution, CORDON_ADOPTED);
	return 0;
}

static __always_inline int judge_child(struct adopt_question *q)
{
	__u32 container = q->executor->flags & CORDON_EXECUTOR_CONTAINER;
	struct adopt_scratch *scratch;
	__u32 reason = CORDON_ADOPTED;

	q->scratch = event_scratch();
	if (!q->scratch) {
		count(CORDON_COUNTER_CRITICAL_DROPPED);
		__sync_fetch_and_add(&q->adoption->refused, 1);
		return -EAGAIN;
	}
	/* After the part of the scratch that the event needs. */
	scratch = adopt_scratch_in(q->scratch);
	q->workdir = 0;
	if (container)
		reason = judge_container(q, scratch);
	if (reason == ADOPT_NOT || (!container && !is_agent_code(q, scratch)))
		return 0;
	if (!find_workdir(q, scratch) && !container)
		reason = CORDON_ADOPT_WORKDIR;
	bpf_probe_read_kernel(q->scratch->data, CORDON_ADOPT_TEXT, scratch->key.text);
	if (reason == CORDON_ADOPTED && !container)
		reason = judge_workdir(q, scratch);
	if (reason != CORDON_ADOPTED)
		return refuse_adoption(q, reason, -EACCES);
	return adopt(q);
}

/* --- executors ---------------------------------------------------------------------------- */

/*
 * Does the entry apply to this process? If the arguments cannot be compared, it does, so that no
 * executor's child runs unconfined.
 */
static __always_inline bool is_executor(const struct cordon_executor *executor, __u32 index,
					struct adopt_scratch *scratch)
{
	__u32 flags = executor->flags;

	if ((flags & CORDON_EXECUTOR_UID) && executor->uid != (__u32)bpf_get_current_uid_gid())
		return false;
	if ((flags & CORDON_EXECUTOR_CGROUP) && !is_in_its_cgroup(index))
		return false;
	return match_arguments(&executor->arguments, scratch) != GLOB_NO;
}

struct like_search {
	struct adopt_scratch *scratch;
	__u64 mask, found;
};

static long like_step(__u32 index, void *context)
{
	const struct cordon_executor *executor;
	struct like_search *search = context;
	__u64 bit = 1ull << (index & 63);

	if (!(search->mask & bit))
		return 0;
	executor = bpf_map_lookup_elem(&executors, &index);
	if (executor && is_like(executor, search->scratch))
		search->found |= bit;
	return 0;
}

/*
 * Of the entries in `mask`, those with a pattern that matches the path kept by executors_of(). Uses
 * bpf_loop(), because 6.1 would verify each path through an unrolled loop.
 */
__noinline __u64 executors_like(__u64 mask)
{
	struct event_scratch *events = event_scratch();
	struct like_search search = {.mask = mask};

	if (!events)
		return mask;
	search.scratch = adopt_scratch_in(events);
	bpf_loop(CORDON_MAX_EXECUTORS, like_step, &search, 0);
	return search.found;
}

/* Keeps the path for executors_like(). */
static __always_inline void keep_path(const struct cordon_adopt_key *key)
{
	struct event_scratch *events = event_scratch();

	if (events)
		bpf_probe_read_kernel(adopt_scratch_in(events)->key.text, CORDON_ADOPT_TEXT,
				      key->text);
}

/*
 * Entries with this program. The key is on the stack, because nearly always no entry matches.
 * *ret_like: entries with a pattern that has a matching fixed prefix.
 */
static __noinline __u64 executors_of(struct linux_binprm *bprm, __u64 active, __u64 *ret_like)
{
	struct cordon_adopt_key key = {};
	const __u64 *value;
	__u64 like;

	if (!bprm || !ret_like || bpf_d_path(&bprm->file->f_path, key.text, sizeof(key.text)) <= 0)
		return 0;
	key.prefix = ADOPT_KEY_BITS;
	key.question = CORDON_ADOPT_EXECUTOR_LIKE;
	value = bpf_map_lookup_elem(&adopt_names, &key);
	like = value ? *value & active : 0;
	if (like)
		keep_path(&key);
	*ret_like = like;
	key.question = CORDON_ADOPT_EXECUTOR;
	value = bpf_map_lookup_elem(&adopt_names, &key);
	return value ? *value & active : 0;
}

/* Most bytes of the directory that precedes a relative name, and of that name. */
#define CALLED_DIRECTORY 128u
#define CALLED_NAME	 (CORDON_ADOPT_TEXT - CALLED_DIRECTORY)

/* Does the task have the daemon's root directory? Names in a container are other files. */
static __always_inline bool sees_host(const struct cordon_adoption *a)
{
	__u64 inode = read_u64(FIELD(struct dentry, root_of(bpf_get_current_task_btf()), d_inode));
	__u64 super_block = read_u64(FIELD(struct inode, inode, i_sb));

	return !a->root_inode ||
	       (read_u64(FIELD(struct inode, inode, i_ino)) == a->root_inode &&
		read_u32(FIELD(struct super_block, super_block, s_dev)) == a->root_device);
}

/*
 * Entries with the name that this exec uses. The name may be a symbolic link that has just been
 * changed to another program, and the daemon does not know yet.
 */
static __noinline __u64 executors_called(struct linux_binprm *bprm, const struct cordon_adoption *a,
					 __u64 active)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct cordon_adopt_key key = {};
	const __u64 *value;
	const char *name;
	char begin[2] = {};
	long n;

	if (!bprm || !a || !sees_host(a))
		return 0;
	name = bprm->filename;
	if (bpf_probe_read_kernel(begin, sizeof(begin), name))
		return 0;
	if (begin[0] == '/') {
		n = bpf_probe_read_kernel_str(key.text, sizeof(key.text), name);
	} else {
		n = bpf_d_path(&task->fs->pwd, key.text, CALLED_DIRECTORY);
		if (n <= 1 || n >= CALLED_DIRECTORY)
			return 0;
		/* The root's path is a slash already. */
		if (n == 2)
			n = 1;
		key.text[(n - 1) & (CALLED_DIRECTORY - 1)] = '/';
		if (begin[0] == '.' && begin[1] == '/')
			name += 2;
		n = bpf_probe_read_kernel_str(&key.text[n & (CALLED_DIRECTORY - 1)], CALLED_NAME,
					      name);
	}
	if (n <= 0)
		return 0;
	key.prefix = ADOPT_KEY_BITS;
	key.question = CORDON_ADOPT_EXECUTOR;
	value = bpf_map_lookup_elem(&adopt_names, &key);
	return value ? *value & active : 0;
}

static __always_inline int give_role(__u32 executor)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 address = (__u64)task;
	struct cordon_role role = {
		.executor = executor,
		.kind = CORDON_ROLE_EXECUTOR,
		.owner = task->tgid,
		.start = read_task(task)->group_leader->start_boottime,
		.mounts = (__u64)read_task(task)->nsproxy->mnt_ns,
		.root = root_of(task),
	};

	return set_role(address, &role, share_user_of(task)) ? 1 : -EAGAIN;
}

/*
 * Does this exec start the program of an executor in `mask`? Returns 1: yes, and the task has the
 * role; -EAGAIN: this cannot be determined, or there is no room for the role.
 */
__noinline int recognise(__u64 mask)
{
	struct event_scratch *events;

	if (!mask)
		return 0;
	events = event_scratch();
	if (!events)
		return -EAGAIN;
	for (__u32 i = 0; i < CORDON_MAX_EXECUTORS; i++) {
		__u32 index = i;
		struct cordon_executor *executor;

		if (!((mask >> i) & 1))
			continue;
		executor = bpf_map_lookup_elem(&executors, &index);
		if (executor && is_executor(executor, i, adopt_scratch_in(events)))
			return give_role(i);
	}
	return 0;
}

/*
 * Can the program be agent code? A program that the executor execs in its own process, as a shell
 * does with its last command, is started like all others. The exception is a container runtime,
 * which prepares itself so on the host.
 */
static __always_inline bool may_be_agent_code(const struct adopt_question *q)
{
	return q->role.kind == CORDON_ROLE_CHILD || q->role.mounts != q->mounts ||
	       !(q->executor->flags & CORDON_EXECUTOR_CONTAINER);
}

/*
 * Is this a container runtime's process inside the container? Its programs are never executors,
 * whatever their names.
 */
static __always_inline bool is_in_container(const struct adopt_question *q,
					    const struct cordon_role *role)
{
	const struct cordon_executor *executor;
	__u32 index;

	if (role->mounts == (__u64)read_task(bpf_get_current_task_btf())->nsproxy->mnt_ns)
		return false;
	executor = executor_of(q->adoption, role, &index);
	return executor && executor->flags & CORDON_EXECUTOR_CONTAINER;
}

static __always_inline int exec_by(struct adopt_question *q, const struct cordon_role *role)
{
	q->role = *role;
	q->mounts = (__u64)read_task(bpf_get_current_task_btf())->nsproxy->mnt_ns;
	q->executor = executor_of(q->adoption, role, &q->index);
	return q->executor && may_be_agent_code(q) ? judge_child(q) : 0;
}

/* Is this the label of a confined executor? Its children become executions. */
static __always_inline bool labels_executor(const struct label *label)
{
	const struct cordon_execution *execution;
	const struct cordon_executor *executor;
	__u32 key = label->slot;

	execution = bpf_map_lookup_elem(&executions, &key);
	if (!execution || execution->generation != label->generation || !execution->executor)
		return false;
	key = execution->executor - 1;
	executor = bpf_map_lookup_elem(&executors, &key);
	return executor && executor->flags & CORDON_EXECUTOR_ITSELF;
}

/* Turns a recognised executor into an execution, if its entry requires it. */
static __noinline int adopt_executor(struct adopt_question *q)
{
	__u64 address = (__u64)bpf_get_current_task_btf();
	const struct cordon_role *role = bpf_map_lookup_elem(&roles, &address);
	const struct cordon_executor *executor;
	struct adopt_scratch *scratch;
	__u32 index;

	if (!q || !role)
		return -EAGAIN;
	q->role = *role;
	index = q->role.executor;
	executor = bpf_map_lookup_elem(&executors, &index);
	if (!executor || !executor->itself)
		return 0;
	q->index = executor->itself - 1;
	index = q->index;
	q->executor = bpf_map_lookup_elem(&executors, &index);
	q->scratch = event_scratch();
	if (!q->executor || !q->scratch)
		return -EAGAIN;
	scratch = adopt_scratch_in(q->scratch);
	find_workdir(q, scratch);
	bpf_probe_read_kernel(q->scratch->data, CORDON_ADOPT_TEXT, scratch->key.text);
	return adopt(q);
}

SEC("lsm/bprm_creds_for_exec")
int BPF_PROG(cordon_adopt_exec, struct linux_binprm *bprm, int ret)
{
	struct cordon_adoption *a = adoption_state();
	__u64 address = (__u64)bpf_get_current_task_btf();
	struct adopt_question q = {.adoption = a, .bprm = bprm};
	const struct label *label;
	const struct cordon_role *role;
	struct label before = {};
	__u64 active, mask = 0, like = 0;
	int known = 0;

	if (ret || !a)
		return ret;
	label = label_of_address(address);
	if (label) {
		before = *label;
		if (!labels_executor(&before))
			return 0;
	}
	active = a->active;
	if (active) {
		mask = executors_of(bprm, active, &like) | executors_called(bprm, a, active);
		if (like)
			mask |= executors_like(like);
	}
	order(); /* as in executor_of() */
	role = bpf_map_lookup_elem(&roles, &address);
	/* A child of an executor is treated as such first, whatever program it runs. */
	if (!role || (role->kind == CORDON_ROLE_EXECUTOR && !is_in_container(&q, role)))
		known = recognise(mask);
	if (!known && role) {
		ret = exec_by(&q, role);
		/* It is an execution now, or was rejected: no executor. */
		if (ret || label_of_address(address))
			return ret < 0 && ret >= -MAX_ERRNO ? ret : 0;
		if (role->kind == CORDON_ROLE_CHILD)
			known = recognise(mask);
	}
	if (known > 0 && !label) {
		ret = adopt_executor(&q);
		if (ret || label_of_address(address))
			return ret < 0 && ret >= -MAX_ERRNO ? ret : 0;
	}
	/* Other hooks cost least for a task without storage (subject_label()). */
	bpf_task_storage_delete(&event_scratches, bpf_get_current_task_btf());
	return known < 0 ? -EAGAIN : 0;
}

/*
 * Denies an exec that gains privilege. Under `cordon run`, no_new_privs prevents this; adopted
 * processes may lack it.
 */
SEC("lsm/bprm_creds_from_file")
int BPF_PROG(cordon_bprm_creds, struct linux_binprm *bprm, struct file *file, int ret)
{
	const struct cred *own = read_task(bpf_get_current_task_btf())->cred, *new = bprm->cred;

	if (ret ||
	    (own->euid.val == new->euid.val && own->egid.val == new->egid.val &&
	     (own->euid.val == 0 || !(permitted_capabilities(new) & ~permitted_capabilities(own)))))
		return ret;
	return refuse_builtin(CORDON_OP_SETEXEC, new->euid.val);
}

#endif
