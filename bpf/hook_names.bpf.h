/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Making, taking away and moving names. */
#ifndef CORDON_BPF_HOOK_NAMES_BPF_H
#define CORDON_BPF_HOOK_NAMES_BPF_H

#include "bpf/object.bpf.h"

#define CREATE CORDON_RIGHT(CORDON_CREATE)
#define DELETE CORDON_RIGHT(CORDON_DELETE)

static __always_inline int judge_name_change(const struct path *dir, struct dentry *dentry,
					     __u32 operation, __u32 right, int ret)
{
	struct subject s;

	ENTER(&s, ret);
	return LEAVE(&s, decide_name(&s, operation, (__u64)dentry, (__u64)dir->mnt,
				     NAME_QUESTION(right, 0)));
}

SEC("lsm/path_mknod")
int BPF_PROG(cordon_path_mknod, const struct path *dir, struct dentry *dentry, umode_t mode,
	     unsigned int dev, int ret)
{
	__u32 type = mode & S_IFMT;

	/* 0 and S_IFREG: a regular file, as open(O_CREAT) makes it. */
	return judge_name_change(dir, dentry,
				 type == 0 || type == 0100000 ? CORDON_OP_CREATE : CORDON_OP_MKNOD,
				 CREATE, ret);
}

SEC("lsm/path_mkdir")
int BPF_PROG(cordon_path_mkdir, const struct path *dir, struct dentry *dentry, umode_t mode,
	     int ret)
{
	return judge_name_change(dir, dentry, CORDON_OP_MKDIR, CREATE, ret);
}

SEC("lsm/path_symlink")
int BPF_PROG(cordon_path_symlink, const struct path *dir, struct dentry *dentry,
	     const char *old_name, int ret)
{
	return judge_name_change(dir, dentry, CORDON_OP_SYMLINK, CREATE, ret);
}

SEC("lsm/path_unlink")
int BPF_PROG(cordon_path_unlink, const struct path *dir, struct dentry *dentry, int ret)
{
	return judge_name_change(dir, dentry, CORDON_OP_UNLINK, DELETE, ret);
}

SEC("lsm/path_rmdir")
int BPF_PROG(cordon_path_rmdir, const struct path *dir, struct dentry *dentry, int ret)
{
	return judge_name_change(dir, dentry, CORDON_OP_RMDIR, DELETE, ret);
}

/*
 * One direction of a rename, or a link (`wanted_from` 0): the rights at both names, and then that the new
 * name grants nothing that the old one did not. A move inside one execution must not turn a file that may
 * be written into one that may be run.
 */
struct move {
	__u64 from;
	__u64 from_mount;
	__u64 to;
	__u64 to_mount;
	__u32 operation;
	__u32 wanted_from;
	__u32 wanted_to;
	__u32 directory;
};

static __noinline int decide_move(struct subject *s, const struct move *move)
{
	struct object object = {.kind = CORDON_OBJECT_PATH};
	const struct answer *from;
	struct answer *to;
	bool widens;

	if (!subject_need_walk(s))
		return deny_unasked(s, move->operation);
	from = &s->walk->from;
	to = &s->walk->answer;
	ask_name(s, move->from, move->from_mount, NAME_QUESTION(move->wanted_from, NAME_SOURCE));
	/* A link wants nothing of its source but that it has a name. */
	if (to->reason == CORDON_REASON_UNRESOLVED || to->reason == CORDON_REASON_FOREIGN)
		to->missing |= CORDON_RIGHT(CORDON_READ);
	if (to->missing)
		return decide_answered(s, move->operation, &object, s->walk->dentry, -EACCES);
	ask_name(s, move->to, move->to_mount, NAME_QUESTION(move->wanted_to, 0));
	if (to->missing)
		return decide_answered(s, move->operation, &object, s->walk->dentry, -EACCES);
	widens = verdict_name_widens(&from->verdict, &to->verdict);
	if (!widens && move->directory && !same_tree_rights(s->walk))
		widens = verdict_tree_widens(&from->verdict, &to->verdict);
	if (!widens)
		return 0;
	to->reason = CORDON_REASON_WIDENS;
	to->rule = CORDON_NO_RULE;
	to->missing = to->verdict.may_allow & ~(from->verdict.must_allow & ~from->verdict.may_deny);
	/* As between file systems: mv(1) and the like fall back on copying, which is judged as such. */
	return decide_answered(s, move->operation, &object, s->walk->dentry, -EXDEV);
}

static __always_inline bool is_directory(const struct dentry *dentry)
{
	struct inode *inode = dentry->d_inode;

	return inode && S_ISDIR(inode->i_mode);
}

SEC("lsm/path_rename")
int BPF_PROG(cordon_path_rename, const struct path *old_dir, struct dentry *old_dentry,
	     const struct path *new_dir, struct dentry *new_dentry, unsigned int flags, int ret)
{
	bool exchange = flags & RENAME_EXCHANGE;
	struct move move = {
		.from = (__u64)old_dentry,
		.from_mount = (__u64)old_dir->mnt,
		.to = (__u64)new_dentry,
		.to_mount = (__u64)new_dir->mnt,
		.operation = CORDON_OP_RENAME,
		.wanted_from = DELETE,
		.wanted_to = CREATE,
		.directory = is_directory(old_dentry),
	};
	struct subject s;
	int verdict;

	ENTER(&s, ret);
	/* A name that is taken is also taken away. */
	if (new_dentry->d_inode)
		move.wanted_to |= DELETE;
	if (exchange)
		move.wanted_from |= CREATE;
	verdict = decide_move(&s, &move);
	if (!verdict && exchange) {
		struct move back = {
			.from = move.to,
			.from_mount = move.to_mount,
			.to = move.from,
			.to_mount = move.from_mount,
			.operation = CORDON_OP_RENAME,
			.wanted_from = CREATE | DELETE,
			.wanted_to = CREATE | DELETE,
			.directory = is_directory(new_dentry),
		};

		verdict = decide_move(&s, &back);
	}
	return LEAVE(&s, verdict);
}

SEC("lsm/path_link")
int BPF_PROG(cordon_path_link, struct dentry *old_dentry, const struct path *new_dir,
	     struct dentry *new_dentry, int ret)
{
	/* Links do not cross mounts (vfs_link()), so the source is on the new directory's. */
	struct move move = {
		.from = (__u64)old_dentry,
		.from_mount = (__u64)new_dir->mnt,
		.to = (__u64)new_dentry,
		.to_mount = (__u64)new_dir->mnt,
		.operation = CORDON_OP_LINK,
		.wanted_to = CREATE,
	};
	struct subject s;

	ENTER(&s, ret);
	return LEAVE(&s, decide_move(&s, &move));
}

#endif
