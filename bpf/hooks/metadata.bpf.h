/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Checks on reading metadata without opening the file: stat, readlink, extended attributes. Only
 * policies with this option enable them. They are attached for the first such policy, because stat
 * is frequent.
 *
 * Metadata of a name is readable in these cases: some right on the name is granted; a rule grants
 * METADATA alone; the name is a directory above a name that may be granted, or above a bound
 * directory. Programs that resolve names step by step need the last two.
 */
#ifndef CORDON_BPF_HOOK_METADATA_BPF_H
#define CORDON_BPF_HOOK_METADATA_BPF_H

#include "bpf/core/credentials.bpf.h"
#include "bpf/core/mountless.bpf.h"
#include "bpf/core/object.bpf.h"

/*
 * Finds the mount in the execution's mount namespace that most likely shows the whole file system.
 * Returns its struct mount, or 0. Later mounts often show only a part.
 */
__noinline __u64 mount_of_superblock(__u64 super_block, __u64 namespace)
{
	struct mount_search search;

	mount_search_begin(&search, super_block, namespace);
	search.whole = read_u64(FIELD(struct super_block, super_block, s_root));
	mount_search_next(&search);
	return search.found;
}

struct ascent {
	__u64 at; /* struct dentry */
	__u64 mount;
	__u64 mount_root;
	__u64 wanted; /* struct inode */
	__u32 found;
	__u32 reserved;
};

static long ascent_step(__u32 index, void *context)
{
	struct ascent *a = context;
	struct dentry_link link;
	__u64 parent;

	if (!read_dentry(a->at, &link))
		return 1;
	if (link.inode == a->wanted) {
		a->found = 1;
		return 1;
	}
	if (a->at != a->mount_root) {
		if (link.parent == a->at)
			return 1;
		a->at = link.parent;
		return 0;
	}
	parent = read_u64(FIELD(struct mount, a->mount, mnt_parent));
	if (!parent || parent == a->mount)
		return 1;
	a->at = read_u64(FIELD(struct mount, a->mount, mnt_mountpoint));
	a->mount = parent;
	a->mount_root = read_u64(FIELD(struct mount, parent, mnt.mnt_root));
	return 0;
}

/* A directory has at most one dentry. */
static __always_inline __u64 dentry_of_directory(__u64 inode)
{
	__u64 node = read_u64(FIELD(struct inode, inode, i_dentry));

	return node ? dentry_of_node(node) : 0;
}

struct above {
	const struct cordon_execution *execution;
	__u64 inode;
	__u32 found;
	__u32 reserved;
};

static long above_step(__u32 index, void *context)
{
	struct above *above = context;
	const struct cordon_execution *execution = above->execution;
	__u64 anchor = execution->anchors[index & (CORDON_MAX_ANCHORS - 1)].address;
	struct ascent ascent = {.wanted = above->inode};

	if (!anchor)
		return 0;
	ascent.at = dentry_of_directory(anchor);
	ascent.mount = mount_of_superblock(read_u64(FIELD(struct inode, anchor, i_sb)),
					   execution->mount_namespace);
	if (!ascent.at || !ascent.mount)
		return 0;
	ascent.mount_root = read_u64(FIELD(struct mount, ascent.mount, mnt.mnt_root));
	bpf_loop(CORDON_MAX_COMPONENTS + MOUNT_CROSSINGS, ascent_step, &ascent, 0);
	above->found = ascent.found;
	return ascent.found;
}

/* Is the directory of the last check above a bound directory? */
__noinline int leads_to_anchor(struct cordon_execution *execution, __u64 dentry)
{
	struct above above = {.execution = execution};

	if (!execution)
		return 0;
	above.inode = read_u64(FIELD(struct dentry, dentry, d_inode));
	bpf_loop(CORDON_MAX_ANCHORS, above_step, &above, 0);
	return above.found;
}

/* The task may always read the metadata of its standard input, output and error. */
static __always_inline bool is_standard_stream(__u64 dentry)
{
	const struct task_struct *task = read_task(bpf_get_current_task_btf());
	__u64 table = read_u64(FIELD(struct files_struct, task->files, fdt));
	__u64 files = read_u64(FIELD(struct fdtable, table, fd));
	__u32 capacity = read_u32(FIELD(struct fdtable, table, max_fds));

	for (__u32 fd = 0; fd < 3 && fd < capacity; fd++) {
		__u64 file = read_u64(files + 8ull * fd);

		if (file && read_u64(FIELD(struct file, file, f_path.dentry)) == dentry)
			return true;
	}
	return false;
}

static __always_inline bool may_look(const struct subject *s, const struct file_object *o)
{
	const struct verdict *v = &s->walk->answer.verdict;

	if (verdict_granted(v) & CORDON_NAMED_RIGHTS)
		return true;
	if (s->walk->answer.reason == CORDON_REASON_FOREIGN ||
	    s->walk->answer.reason == CORDON_REASON_UNRESOLVED)
		return is_standard_stream(o->dentry);
	if (S_ISDIR(o->mode) && ((v->may_allow & CORDON_NAMED_RIGHTS) ||
				 leads_to_anchor(s->execution, s->walk->dentry)))
		return true;
	return is_standard_stream(o->dentry);
}

static __always_inline int judge_look(struct subject *s, const struct file_object *o)
{
	const __u32 right = CORDON_RIGHT(CORDON_METADATA);

	if (!(s->policy->flags & CORDON_POLICY_METADATA) || o->class != CLASS_NAMED)
		return 0;
	if (!subject_need_walk(s))
		return deny_unasked(s, CORDON_OP_METADATA);
	ask_name(s, o->dentry, o->vfsmount,
		 NAME_QUESTION(right, o->name_flags | (S_ISDIR(o->mode) ? NAME_TREE : 0)));
	if (may_look(s, o))
		s->walk->answer.missing = 0;
	else
		s->walk->answer.missing = right;
	return decide_path(s, CORDON_OP_METADATA, -EACCES);
}

SEC("lsm/inode_getattr")
int BPF_PROG(cordon_inode_getattr, const struct path *path, int ret)
{
	struct file_object o;
	struct subject s;

	if (ret || kernel_acts_for_itself())
		return ret;
	ENTER(&s, ret);
	if (!inspect(path, &o))
		return LEAVE(&s, deny_unasked(&s, CORDON_OP_METADATA));
	return LEAVE(&s, judge_look(&s, &o));
}

/*
 * Returns the struct file behind a link /proc/PID/fd/N, if the process belongs to the execution.
 * Returns 0 if the object is no such link, or if the descriptor was closed.
 */
static __always_inline __u64 file_of_link(const struct subject *s, __u64 dentry)
{
	__u64 inode = read_u64(FIELD(struct dentry, dentry, d_inode));
	__u64 proc = inode - bpf_core_field_offset(struct proc_inode, vfs_inode);
	__u64 directory = read_u64(FIELD(struct dentry, dentry, d_parent)), node, task, table;
	__u32 fd = read_u32(FIELD(struct proc_inode, proc, fd));
	char name[3] = {};

	bpf_probe_read_kernel(name, sizeof(name),
			      (const void *)read_u64(FIELD(struct dentry, directory, d_name.name)));
	if (name[0] != 'f' || name[1] != 'd' || name[2] || proc_owner(s, inode) <= 0)
		return 0;
	node = read_u64(FIELD(struct pid, read_u64(FIELD(struct proc_inode, proc, pid)), tasks));
	task = node - bpf_core_field_offset(struct task_struct, pid_links);
	table = read_u64(
		FIELD(struct files_struct, read_u64(FIELD(struct task_struct, task, files)), fdt));
	if (fd >= read_u32(FIELD(struct fdtable, table, max_fds)))
		return 0;
	return read_u64(read_u64(FIELD(struct fdtable, table, fd)) + 8ull * fd);
}

/*
 * The link of a descriptor contains the resolved path of its file. After an open with O_PATH
 * through a symbolic link, that is the target of the symbolic link.
 */
static __always_inline bool inspect_descriptor_link(const struct subject *s, __u64 dentry,
						    struct file_object *o)
{
	__u64 super_block = read_u64(FIELD(struct dentry, dentry, d_sb)), file;

	if (read_u64(FIELD(struct super_block, super_block, s_magic)) != PROC_SUPER_MAGIC)
		return false;
	file = file_of_link(s, dentry);
	if (!file)
		return false;
	inspect_file(file, o);
	return true;
}

/* The hook has no mount: uses a mount of the file system in the execution's mount namespace. */
static __always_inline int judge_look_at(struct dentry *dentry, int ret)
{
	struct file_object o;
	struct subject s;
	__u64 mount;

	if (ret || kernel_acts_for_itself())
		return ret;
	ENTER(&s, ret);
	if (!(s.policy->flags & CORDON_POLICY_METADATA))
		return LEAVE(&s, 0);
	mount = mount_of_superblock(read_u64(FIELD(struct dentry, dentry, d_sb)),
				    s.execution->mount_namespace);
	if (!mount && !(has_own_namespaces(&s) &&
			is_own_superblock(&s, read_u64(FIELD(struct dentry, dentry, d_sb)))))
		return LEAVE(&s, deny_unasked(&s, CORDON_OP_METADATA));
	if (!inspect_descriptor_link(&s, (__u64)dentry, &o))
		inspect_path((__u64)dentry, FIELD(struct mount, mount, mnt), &o);
	return LEAVE(&s, judge_look(&s, &o));
}

SEC("lsm/inode_readlink")
int BPF_PROG(cordon_inode_readlink, struct dentry *dentry, int ret)
{
	return judge_look_at(dentry, ret);
}

/* Names of extended attributes. cordon_inode_getxattr() checks their values under every policy. */
SEC("lsm/inode_listxattr")
int BPF_PROG(cordon_inode_listxattr, struct dentry *dentry, int ret)
{
	return judge_look_at(dentry, ret);
}

/* Attributes of security modules, and before Linux 6.2 access control lists as well. */
SEC("lsm/inode_getxattr")
int BPF_PROG(cordon_inode_getxattr_look, struct dentry *dentry, const char *name, int ret)
{
	return judge_look_at(dentry, ret);
}

/* Access control lists, since Linux 6.2. */
SEC("?lsm/inode_get_acl")
int BPF_PROG(cordon_inode_get_acl, void *idmap, struct dentry *dentry, const char *name, int ret)
{
	return judge_look_at(dentry, ret);
}

/* Reached by file_getattr(2) and by ioctl, since Linux 6.17. */
SEC("?lsm/inode_file_getattr")
int BPF_PROG(cordon_inode_file_getattr, struct dentry *dentry, void *attributes, int ret)
{
	return judge_look_at(dentry, ret);
}

#endif
