/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Making, taking away and moving names. */
#ifndef CORDON_BPF_HOOK_NAMES_BPF_H
#define CORDON_BPF_HOOK_NAMES_BPF_H

#include "bpf/core/special.bpf.h"
#include "bpf/core/below.bpf.h"
#include "bpf/core/links.bpf.h"
#include "bpf/core/object.bpf.h"

#define CREATE CORDON_RIGHT(CORDON_CREATE)
#define DELETE CORDON_RIGHT(CORDON_DELETE)

#define LINK_FLAGS (NAME_TREE | NAME_LINK | NAME_SPELLED)

/*
 * A symbolic link's name was granted: but not for what is below its target, where rules speak of
 * that (below.bpf.h).
 */
static __always_inline void ask_below_link(const struct subject *s)
{
	struct answer *a = &s->walk->answer;
	__u32 making = verdict_tree_makes(&a->verdict);

	if (a->missing || !making || !s->walk->others.spoken)
		return;
	a->reason = CORDON_REASON_WIDENS;
	a->rule = CORDON_NO_RULE;
	a->missing = making;
}

static __always_inline int judge_name_change(const struct path *dir, struct dentry *dentry,
					     __u32 operation, __u32 right, int ret)
{
	struct subject s;

	ENTER(&s, ret);
	if (!subject_need_walk(&s))
		return LEAVE(&s, deny_unasked(&s, operation));
	ask_dentry(&s, dentry, (__u64)read_path(dir)->mnt,
		   NAME_QUESTION(right, spelled_change(&s)));
	if (right == CREATE && s.walk->temporary == TEMPORARY_DIRECTLY && !s.walk->answer.missing)
		await_inode((__u64)dentry, 0);
	if (operation == CORDON_OP_UNLINK && !s.walk->answer.missing)
		note_unlinked(read_u64(FIELD(struct dentry, dentry, d_inode)));
	return LEAVE(&s, decide_change(&s, operation, -EACCES, right));
}

/*
 * Directly in a directory for everybody's temporary files a name is obeyed by whoever expects it
 * there: not for what leads them away or has them wait.
 */
static __always_inline void refuse_led_away(const struct subject *s)
{
	struct answer *answer = &s->walk->answer;

	if (answer->missing || s->walk->temporary != TEMPORARY_DIRECTLY)
		return;
	answer->reason = CORDON_REASON_DEFAULT;
	answer->rule = CORDON_NO_RULE;
	answer->missing = SPECIAL;
}

/*
 * A symbolic link, a FIFO or a socket: what somebody else may be led away by, or wait for. And what
 * is refused whatever the policy (`builtin`): set-id files, and names for devices, which would give
 * what no rule speaks of: a disk, the machine's memory. Device 0 is a whiteout and leads nowhere.
 */
static __always_inline int judge_special(const struct path *dir, struct dentry *dentry,
					 __u32 operation, __u64 text, bool builtin, int ret)
{
	bool link = operation == CORDON_OP_SYMLINK;
	struct answer *answer;
	struct subject s;
	__u32 rights, flags;

	ENTER(&s, ret);
	if (!subject_need_walk(&s))
		return LEAVE(&s, deny_unasked(&s, operation));
	/*
	 * What becomes of a link depends on all of its name, so that no remembered directory will
	 * do.
	 */
	rights = judges_special(&s) ? CREATE | SPECIAL : CREATE;
	flags = (link ? LINK_FLAGS : 0) | (judges_special(&s) || builtin ? NAME_SPELLED : 0) |
		spelled_change(&s);
	ask_name(&s, (__u64)dentry, (__u64)read_path(dir)->mnt, NAME_QUESTION(rights, flags));
	if (link)
		note_spoken_below(&s);
	answer = &s.walk->answer;
	if (builtin)
		answer_unnamed(answer, CREATE, CORDON_REASON_BUILTIN);
	else if (answer->missing == SPECIAL && text && !(answer->verdict.deny & SPECIAL) &&
		 !leads_out(&s, text))
		answer->missing = 0;
	if (link)
		ask_below_link(&s);
	refuse_led_away(&s);
	return LEAVE(&s, decide_change(&s, operation, builtin ? -EPERM : -EACCES, CREATE));
}

SEC("lsm/path_mknod")
int BPF_PROG(cordon_path_mknod, const struct path *dir, struct dentry *dentry, umode_t mode,
	     unsigned int dev, int ret)
{
	__u32 type = mode & S_IFMT;
	/* 0 and S_IFREG: a regular file, as open(O_CREAT) makes it. */
	__u32 operation = type == 0 || type == S_IFREG ? CORDON_OP_CREATE : CORDON_OP_MKNOD;
	bool builtin = (dev && (type == S_IFCHR || type == S_IFBLK)) || is_set_id(type, mode);

	if (builtin || is_waited_for(mode))
		return judge_special(dir, dentry, operation, LINK_UNKNOWN, builtin, ret);
	/*
	 * Nothing can be made in procfs, yet opening by O_CREAT asks before it looks for the name,
	 * as `>/dev/stderr` does.
	 */
	if (read_path(dir)->dentry->d_sb->s_magic == PROC_SUPER_MAGIC)
		return ret;
	return judge_name_change(dir, dentry, operation, CREATE, ret);
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
	return judge_special(dir, dentry, CORDON_OP_SYMLINK, (__u64)old_name, false, ret);
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
 * What a directory brings to its new name that it could not have there otherwise, as rights; 0:
 * nothing. In the same states everything below is judged as before, name by name, and nothing comes
 * of the move.
 */
static __always_inline __u32 brought_below(const struct walk *walk)
{
	const struct verdict *from = &walk->from.verdict, *to = &walk->answer.verdict;

	if (same_tree_rights(walk))
		return 0;
	if (verdict_tree_widens(from, to))
		return to->may_allow & ~(from->must_allow & ~from->may_deny) & CORDON_NAMED_RIGHTS;
	return verdict_tree_makes(to);
}

/*
 * One direction of a rename, or a link: the rights at both names, then that the new name grants
 * nothing that the old one did not, and for a directory also that nothing comes into being below it
 * that may not be made there (verdict.h says why both are asked). A move inside one execution must
 * neither turn a file that may be written into one that may be run, nor a folder of scraps into a
 * repository's hooks.
 *
 * An exchange is two of these, one each way. Only a directory has names below it, and a symbolic
 * link has its target's; and no execution mounts anything, which would be another way to put a tree
 * in place. A stacked file system that records a move instead of making it (overlayfs' redirects)
 * is asked by the merged names, here as well. The answer, in walk->answer, has the error to return.
 */
static __always_inline void ask_move(struct subject *s, struct move *move)
{
	struct walk *walk = s->walk;
	const struct answer *from = &walk->from;
	struct answer *to = &walk->answer;
	bool link = move->type == S_IFLNK, directory = move->type == S_IFDIR;
	__u32 tree = directory ? NAME_TREE : 0;
	__u64 to_mount = move->to_mount;
	__u32 brought;

	walk->move_error = -EACCES;
	ask_name(s, move->from, move->from_mount,
		 NAME_QUESTION(move->wanted_from, NAME_SOURCE | tree));
	/* A link wants nothing of its source but that it has a name. */
	if (to->reason == CORDON_REASON_UNRESOLVED || to->reason == CORDON_REASON_FOREIGN)
		to->missing |= CORDON_RIGHT(CORDON_READ);
	if (to->missing && !observes(s))
		return;
	/* The new name is that by the same mount, also where that is not the one used. */
	if (!to->missing && is_elsewhere(s, to_mount))
		to_mount = walk->vfsmount;
	/* Both names are on record where neither is refused. */
	if (to->missing)
		decide_path(s, move->wanted_from ? CORDON_OP_RENAME : CORDON_OP_LINK,
			    walk->move_error);
	/*
	 * Refused below, perhaps, for what no right of its own says. A regular file is so only
	 * where its new name grants more, and seldom: a remembered directory will do until then.
	 */
	ask_name(s, move->to, to_mount,
		 NAME_QUESTION(move->wanted_to,
			       move->type == S_IFREG ? 0
						     : NAME_SPELLED | (link ? LINK_FLAGS : tree)));
	if (to->missing)
		return;
	move->temporary = walk->temporary;
	if (link) {
		note_spoken_below(s);
		ask_below_link(s);
		walk->move_error = -EXDEV;
	}
	if (link || is_waited_for(move->type))
		refuse_led_away(s);
	if (to->missing)
		return;
	brought = 0;
	if (verdict_name_widens(&from->verdict, &to->verdict))
		brought = (to->verdict.allow & ~to->verdict.deny) &
			  ~(from->verdict.allow & ~from->verdict.deny) & CORDON_NAMED_RIGHTS;
	else if (directory)
		brought = brought_below(walk);
	if (!brought)
		return;
	if (move->type == S_IFREG)
		ask_name(s, move->to, to_mount, NAME_QUESTION(0, NAME_SPELLED));
	to->reason = CORDON_REASON_WIDENS;
	to->rule = CORDON_NO_RULE;
	to->missing = brought;
	/*
	 * As between file systems: mv(1) and the like fall back on copying, which is judged as
	 * such.
	 */
	walk->move_error = -EXDEV;
}

/* By name, which is all that is asked. */
static __always_inline void report_name(const struct subject *s, __u64 dentry, __u64 mount,
					__u32 operation, __u32 rights)
{
	ask_name(s, dentry, mount, NAME_QUESTION(0, NAME_SPELLED));
	report_path(s, CORDON_EVENT_CHANGE, operation, rights);
}

/*
 * Both names are on record, the old one first, each with what was asked of it: of a link's source
 * nothing.
 */
static __always_inline void report_move(const struct subject *s, __u32 operation,
					const struct move *move)
{
	report_name(s, move->from, move->from_mount, operation, move->wanted_from);
	report_name(s, move->to, move->to_mount, operation, move->wanted_to);
}

/* What moves to where temporary files of its own lie is one of them from now on. */
static __always_inline void note_moved(const struct subject *s, const struct move *move)
{
	if (move->temporary == TEMPORARY_DIRECTLY)
		temporary_note(s->execution, read_u64(FIELD(struct dentry, move->from, d_inode)));
}

/* Direction 0, and for an exchange also 1. Ends at the first that is refused. */
static __always_inline int decide_moves(struct subject *s, __u32 operation, __u32 directions)
{
	for (__u32 n = 0; n < 2 && n < directions; n++) {
		ask_move(s, &s->walk->moves[n]);
		if (judges_special(s) && !s->walk->answer.missing)
			ask_special_move(s, &s->walk->moves[n]);
		if (s->walk->answer.missing)
			break;
	}
	if (s->walk->answer.missing)
		return deny_path(s, operation, s->walk->move_error);
	note_moved(s, &s->walk->moves[0]);
	if (directions > 1)
		note_moved(s, &s->walk->moves[1]);
	/* What is only observed may have been told of its old name already. */
	if (reports_changes(s) && !s->walk->from.missing)
		report_move(s, operation, &s->walk->moves[0]);
	return 0;
}

/* 0: there is nothing of that name. */
static __always_inline __u32 type_of(const struct dentry *dentry)
{
	struct inode *inode = dentry->d_inode;

	return inode ? inode->i_mode & S_IFMT : 0;
}

SEC("lsm/path_rename")
int BPF_PROG(cordon_path_rename, const struct path *old_dir, struct dentry *old_dentry,
	     const struct path *new_dir, struct dentry *new_dentry, unsigned int flags, int ret)
{
	bool exchange = flags & RENAME_EXCHANGE;
	struct move *there, *back;
	struct subject s;
	int verdict;

	ENTER(&s, ret);
	if (!subject_need_walk(&s))
		return LEAVE(&s, deny_unasked(&s, CORDON_OP_RENAME));
	there = &s.walk->moves[0];
	there->from = (__u64)old_dentry;
	there->from_mount = (__u64)read_path(old_dir)->mnt;
	there->to = (__u64)new_dentry;
	there->to_mount = (__u64)read_path(new_dir)->mnt;
	there->type = type_of(old_dentry);
	there->wanted_from = exchange ? CREATE | DELETE : DELETE;
	/* A name that is taken is also taken away. */
	there->wanted_to = new_dentry->d_inode ? CREATE | DELETE : CREATE;
	back = &s.walk->moves[1];
	back->from = (__u64)new_dentry;
	back->from_mount = (__u64)read_path(new_dir)->mnt;
	back->to = (__u64)old_dentry;
	back->to_mount = (__u64)read_path(old_dir)->mnt;
	back->type = type_of(new_dentry);
	back->wanted_from = CREATE | DELETE;
	back->wanted_to = CREATE | DELETE;
	verdict = decide_moves(&s, CORDON_OP_RENAME, exchange ? 2 : 1);
	/* What stands there loses a name. */
	if (!verdict && !exchange && new_dentry->d_inode)
		note_unlinked(read_u64(FIELD(struct dentry, new_dentry, d_inode)));
	return LEAVE(&s, verdict);
}

SEC("lsm/path_link")
int BPF_PROG(cordon_path_link, struct dentry *old_dentry, const struct path *new_dir,
	     struct dentry *new_dentry, int ret)
{
	struct move *move;
	struct subject s;
	int verdict;

	ENTER(&s, ret);
	await_nothing();
	if (!subject_need_walk(&s))
		return LEAVE(&s, deny_unasked(&s, CORDON_OP_LINK));
	/* Links do not cross mounts (vfs_link()), so the source is on the new directory's. */
	move = &s.walk->moves[0];
	move->from = (__u64)old_dentry;
	move->from_mount = (__u64)read_path(new_dir)->mnt;
	move->to = (__u64)new_dentry;
	move->to_mount = (__u64)read_path(new_dir)->mnt;
	move->type = type_of(old_dentry);
	move->wanted_from = 0;
	move->wanted_to = CREATE;
	verdict = decide_moves(&s, CORDON_OP_LINK, 1);
	if (!verdict && move->type == S_IFREG)
		await_link(&s);
	return LEAVE(&s, verdict);
}

#endif
