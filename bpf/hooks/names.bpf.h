/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Checks on creating, removing and renaming names. */
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
 * [M4] in verdict.h. Denies a symbolic link if its own name is granted, but rules apply to names
 * below the link's name in particular (below.bpf.h).
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
 * Denies special objects directly in a directory for temporary files of all users, such as /tmp.
 * Other programs open names there, and a symbolic link would redirect them, or a FIFO block them.
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
 * Checks a symbolic link, a FIFO or a socket: objects that redirect or block other programs. With
 * `builtin`, denies objects that no policy allows: set-id files, and device nodes, which give
 * access that no rule covers, such as to a disk. Device number 0 is a whiteout, and no device.
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
	 * The result for a link depends on its whole name, so a cached directory is not sufficient.
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
	else if (answer->missing == SPECIAL && text &&
		 !(verdict_denied(&answer->verdict) & SPECIAL) && !leads_out(&s, text))
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
	/* 0 and S_IFREG: a regular file, as open(O_CREAT) creates it. */
	__u32 operation = type == 0 || type == S_IFREG ? CORDON_OP_CREATE : CORDON_OP_MKNOD;
	bool builtin = (dev && (type == S_IFCHR || type == S_IFBLK)) || is_set_id(type, mode);

	if (builtin || is_waited_for(mode))
		return judge_special(dir, dentry, operation, LINK_UNKNOWN, builtin, ret);
	/*
	 * procfs allows no creation, but an open with O_CREAT calls this hook before it finds the
	 * name, as for `>/dev/stderr`.
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
 * [M2] and [M3] in verdict.h. Rights that names below a moved directory would gain; 0: none. If the
 * automaton is in the same states at both names, all names below have the same verdicts as before.
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
 * Checks one direction of a rename, or a link. Both names need their rights. The new name must
 * satisfy [M1] in verdict.h, a directory's also [M2] and [M3], and a symbolic link's also [M4].
 * Otherwise a move inside one execution could make a writable file executable, or make an ordinary
 * directory a repository's hooks.
 *
 * An exchange is two of these, one in each direction. Only directories have names below them, and
 * symbolic links have the names below their target. An execution cannot mount a tree there instead.
 * A stacked file system that records a move (overlayfs redirects) is checked by its merged names,
 * here as well.
 *
 * The result is in walk->answer, the errno in walk->move_error.
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
	/* A link requires no right on its source, but the source must have a name. */
	if (to->reason == CORDON_REASON_UNRESOLVED || to->reason == CORDON_REASON_FOREIGN)
		to->missing |= CORDON_RIGHT(CORDON_READ);
	if (to->missing && !observes(s))
		return;
	/*
	 * Check the new name on the mount that the old name was found on, if the mount of the call
	 * is a foreign one.
	 */
	if (!to->missing && is_elsewhere(s, to_mount))
		to_mount = walk->vfsmount;
	/* In observe mode: report the old name here, so that both names are logged. */
	if (to->missing)
		decide_path(s, move->wanted_from ? CORDON_OP_RENAME : CORDON_OP_LINK,
			    walk->move_error);
	/*
	 * A move may be denied below although all rights are granted, and then the formatted path
	 * is needed. For a regular file this is rare: it is denied only if the new name grants
	 * more. Until then a cached directory is sufficient.
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
		brought = verdict_granted(&to->verdict) & ~verdict_granted(&from->verdict) &
			  CORDON_NAMED_RIGHTS;
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
	 * EXDEV, as between file systems: mv(1) and the like then copy instead, and the copy is
	 * checked.
	 */
	walk->move_error = -EXDEV;
}

/* Formats the path of a name for an event; checks no right. */
static __always_inline void report_name(const struct subject *s, __u64 dentry, __u64 mount,
					__u32 operation, __u32 rights)
{
	ask_name(s, dentry, mount, NAME_QUESTION(0, NAME_SPELLED));
	report_path(s, CORDON_EVENT_CHANGE, operation, rights);
}

/*
 * Logs both names, the old one first, each with the rights that were required. The source of a link
 * requires none.
 */
static __always_inline void report_move(const struct subject *s, __u32 operation,
					const struct move *move)
{
	report_name(s, move->from, move->from_mount, operation, move->wanted_from);
	report_name(s, move->to, move->to_mount, operation, move->wanted_to);
}

/* A file moved into a directory for temporary files is one of the execution's own from now on. */
static __always_inline void note_moved(const struct subject *s, const struct move *move)
{
	if (move->temporary == TEMPORARY_DIRECTLY)
		temporary_note(s->execution, read_u64(FIELD(struct dentry, move->from, d_inode)));
}

/* Checks direction 0, and for an exchange also 1. Stops at the first denial. */
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
	/* In observe mode, the old name may have been logged already. */
	if (reports_changes(s) && !s->walk->from.missing)
		report_move(s, operation, &s->walk->moves[0]);
	return 0;
}

/* Returns 0 if no file has this name. */
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
	/* An existing target is also deleted. */
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
	/* The file at the target loses a name. */
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
	/*
	 * A link cannot cross mounts (vfs_link()), so its source is on the mount of the new
	 * directory.
	 */
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
