/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Making, taking away and moving names. */
#ifndef CORDON_BPF_HOOK_NAMES_BPF_H
#define CORDON_BPF_HOOK_NAMES_BPF_H

#include "bpf/core/object.bpf.h"

#define CREATE CORDON_RIGHT(CORDON_CREATE)
#define DELETE CORDON_RIGHT(CORDON_DELETE)

static __always_inline int judge_name_change(const struct path *dir, struct dentry *dentry,
					     __u32 operation, __u32 right, int ret)
{
	struct object object = {.kind = CORDON_OBJECT_PATH};
	struct subject s;

	ENTER(&s, ret);
	if (!subject_need_walk(&s))
		return LEAVE(&s, deny_unasked(&s, operation));
	ask_dentry(&s, dentry, (__u64)dir->mnt, NAME_QUESTION(right, 0));
	return LEAVE(&s, decide_answered(&s, operation, &object, question_identity(&s), -EACCES));
}

/*
 * A name for a device would give what no rule speaks of: a disk, the machine's memory. Refused whatever
 * the policy; device 0 is a whiteout and leads nowhere.
 */
static __always_inline int refuse_device(const struct path *dir, struct dentry *dentry, int ret)
{
	struct object object = {.kind = CORDON_OBJECT_PATH};
	struct subject s;

	ENTER(&s, ret);
	if (!subject_need_walk(&s))
		return LEAVE(&s, deny_unasked(&s, CORDON_OP_MKNOD));
	ask_name(&s, (__u64)dentry, (__u64)dir->mnt, NAME_QUESTION(CREATE, NAME_SPELLED));
	answer_unnamed(&s.walk->answer, CREATE, CORDON_REASON_BUILTIN);
	return LEAVE(&s,
		     decide_answered(&s, CORDON_OP_MKNOD, &object, question_identity(&s), -EPERM));
}

SEC("lsm/path_mknod")
int BPF_PROG(cordon_path_mknod, const struct path *dir, struct dentry *dentry, umode_t mode,
	     unsigned int dev, int ret)
{
	__u32 type = mode & S_IFMT;

	if (dev && (type == S_IFCHR || type == S_IFBLK))
		return refuse_device(dir, dentry, ret);
	/* 0 and S_IFREG: a regular file, as open(O_CREAT) makes it. */
	return judge_name_change(dir, dentry,
				 type == 0 || type == S_IFREG ? CORDON_OP_CREATE : CORDON_OP_MKNOD,
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
 * One direction of a rename, or a link: the rights at both names, and then that the new name grants
 * nothing that the old one did not. A move inside one execution must not turn a file that may be
 * written into one that may be run. The answer, in walk->answer, has the error to return.
 */
static __always_inline void ask_move(struct subject *s, const struct move *move)
{
	struct walk *walk = s->walk;
	const struct answer *from = &walk->from;
	struct answer *to = &walk->answer;
	struct object object = {.kind = CORDON_OBJECT_PATH};
	__u32 tree = move->directory ? NAME_TREE : 0;
	bool widens;

	walk->move_error = -EACCES;
	ask_name(s, move->from, move->from_mount,
		 NAME_QUESTION(move->wanted_from, NAME_SOURCE | tree));
	/* A link wants nothing of its source but that it has a name. */
	if (to->reason == CORDON_REASON_UNRESOLVED || to->reason == CORDON_REASON_FOREIGN)
		to->missing |= CORDON_RIGHT(CORDON_READ);
	if (to->missing && !observes(s))
		return;
	/* Both names are on record where neither is refused. */
	if (to->missing)
		decide_answered(s, move->wanted_from ? CORDON_OP_RENAME : CORDON_OP_LINK, &object,
				question_identity(s), walk->move_error);
	/* Refused below, perhaps, for what no right of its own says. */
	ask_name(s, move->to, move->to_mount, NAME_QUESTION(move->wanted_to, NAME_SPELLED | tree));
	if (to->missing)
		return;
	widens = verdict_name_widens(&from->verdict, &to->verdict);
	if (!widens && move->directory && !same_tree_rights(walk))
		widens = verdict_tree_widens(&from->verdict, &to->verdict);
	if (!widens)
		return;
	to->reason = CORDON_REASON_WIDENS;
	to->rule = CORDON_NO_RULE;
	to->missing = (to->verdict.allow & ~to->verdict.deny) &
		      ~(from->verdict.allow & ~from->verdict.deny);
	if (!to->missing)
		to->missing = to->verdict.may_allow &
			      ~(from->verdict.must_allow & ~from->verdict.may_deny);
	/* As between file systems: mv(1) and the like fall back on copying, which is judged as such. */
	walk->move_error = -EXDEV;
}

/* Direction 0, and for an exchange also 1. Ends at the first that is refused. */
static long move_step(__u32 direction, void *context)
{
	struct subject *s = context;

	ask_move(s, &s->walk->moves[direction & 1]);
	return s->walk->answer.missing != 0;
}

static __always_inline int decide_moves(struct subject *s, __u32 operation, __u32 directions)
{
	struct object object = {.kind = CORDON_OBJECT_PATH};

	bpf_loop(directions, move_step, s, 0);
	return decide_answered(s, operation, &object, question_identity(s), s->walk->move_error);
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
	struct move *there, *back;
	struct subject s;

	ENTER(&s, ret);
	if (!subject_need_walk(&s))
		return LEAVE(&s, deny_unasked(&s, CORDON_OP_RENAME));
	there = &s.walk->moves[0];
	there->from = (__u64)old_dentry;
	there->from_mount = (__u64)old_dir->mnt;
	there->to = (__u64)new_dentry;
	there->to_mount = (__u64)new_dir->mnt;
	there->directory = is_directory(old_dentry);
	there->wanted_from = exchange ? CREATE | DELETE : DELETE;
	/* A name that is taken is also taken away. */
	there->wanted_to = new_dentry->d_inode ? CREATE | DELETE : CREATE;
	back = &s.walk->moves[1];
	back->from = (__u64)new_dentry;
	back->from_mount = (__u64)new_dir->mnt;
	back->to = (__u64)old_dentry;
	back->to_mount = (__u64)old_dir->mnt;
	back->directory = is_directory(new_dentry);
	back->wanted_from = CREATE | DELETE;
	back->wanted_to = CREATE | DELETE;
	return LEAVE(&s, decide_moves(&s, CORDON_OP_RENAME, exchange ? 2 : 1));
}

SEC("lsm/path_link")
int BPF_PROG(cordon_path_link, struct dentry *old_dentry, const struct path *new_dir,
	     struct dentry *new_dentry, int ret)
{
	struct move *move;
	struct subject s;

	ENTER(&s, ret);
	if (!subject_need_walk(&s))
		return LEAVE(&s, deny_unasked(&s, CORDON_OP_LINK));
	/* Links do not cross mounts (vfs_link()), so the source is on the new directory's. */
	move = &s.walk->moves[0];
	move->from = (__u64)old_dentry;
	move->from_mount = (__u64)new_dir->mnt;
	move->to = (__u64)new_dentry;
	move->to_mount = (__u64)new_dir->mnt;
	move->directory = 0;
	move->wanted_from = 0;
	move->wanted_to = CREATE;
	return LEAVE(&s, decide_moves(&s, CORDON_OP_LINK, 1));
}

/*
 * For the directory cache: from here on, the inode's address may come to mean another directory. Runs
 * for whoever lets go of the inode last; `current` has nothing to do with it.
 */
SEC("lsm/inode_free_security")
int BPF_PROG(cordon_inode_free, struct inode *inode)
{
	__u32 key = 0;
	__u64 *freed;

	if (!S_ISDIR(inode->i_mode))
		return 0;
	freed = bpf_map_lookup_elem(&freed_directories, &key);
	if (freed)
		__sync_fetch_and_add(freed, 1);
	return 0;
}

#endif
