/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Checks on opening, truncating and receiving files. */
#ifndef CORDON_BPF_HOOK_OPEN_BPF_H
#define CORDON_BPF_HOOK_OPEN_BPF_H

#include "bpf/core/code.bpf.h"
#include "bpf/core/held.bpf.h"
#include "bpf/core/links.bpf.h"
#include "bpf/core/own_pipes.bpf.h"
#include "bpf/core/own_terminals.bpf.h"
#include "bpf/core/terminal.bpf.h"
#include "bpf/core/waiting.bpf.h"

static __always_inline __u32 rights_of_open(__u32 mode, __u32 flags)
{
	__u32 rights = 0;

	if (mode & FMODE_READ)
		rights |= CORDON_RIGHT(CORDON_READ);
	if ((mode & FMODE_WRITE) || (flags & O_TRUNC))
		rights |= CORDON_RIGHT(CORDON_WRITE);
	/*
	 * Access mode 3: neither read nor write, ioctls only. open(2) requires both permissions for
	 * it.
	 */
	if ((flags & O_ACCMODE) == O_ACCMODE)
		rights |= CORDON_RIGHT(CORDON_READ) | CORDON_RIGHT(CORDON_WRITE);
	return rights;
}

/*
 * Writes to /proc/PID/mem ignore page protection, and could replace code that may be mapped. They
 * are denied even for the process itself.
 */
static __always_inline bool is_process_memory(const struct subject *s, const struct file_object *o)
{
	char name[4] = {};

	if (!(o->name_flags & NAME_PROC) || component_length(s->walk, 0) != 3)
		return false;
	bpf_probe_read_kernel(name, 3, (const void *)component_name(s->walk, 0));
	return name[0] == 'm' && name[1] == 'e' && name[2] == 'm';
}

static __always_inline __u32 modes_of_rights(__u32 rights)
{
	return (rights & CORDON_RIGHT(CORDON_READ) ? FMODE_READ : 0) |
	       (rights & CORDON_RIGHT(CORDON_WRITE) ? FMODE_WRITE : 0);
}

/* Is an object opened again with access that the task's descriptors have? See held.bpf.h. */
static __always_inline bool is_opened_again(const struct file_object *o, __u32 rights, __u32 flags)
{
	return is_held(o, modes_of_rights(rights), (flags & O_APPEND) && !(flags & O_TRUNC));
}

/*
 * Is this /dev/tty, in an execution that was adopted without using its terminal? The terminal
 * belongs to the user who started the executor. Under `cordon run` a task has no terminal then, and
 * the kernel returns ENXIO. So does this check, because every shell opens /dev/tty at its start.
 */
static __always_inline bool is_left_terminal(const struct subject *s, const struct file_object *o)
{
	__u64 terminal;

	if (!s->execution->off_terminal || observes(s) || (o->mode & S_IFMT) != S_IFCHR ||
	    read_u32(FIELD(struct inode, o->inode, i_rdev)) != DEVICE_TTY)
		return false;
	terminal = controlling_terminal(bpf_get_current_task_btf());
	return terminal && !is_own_session(&s->label, terminal);
}

/* No rule grants the terminal, none denies it, and the execution has made it. */
static __always_inline bool is_granted_terminal(const struct subject *s,
						const struct file_object *o)
{
	return has_own_terminals(s) && s->walk->answer.reason == CORDON_REASON_DEFAULT &&
	       is_own_terminal(s, o->inode);
}

/*
 * The policy grants /dev/ptmx. Denies it if the execution has too many pairs, or if the received
 * side belongs to a pair of another process. Returns the error of the denial.
 */
static __noinline int check_pair(const struct subject *s, __u64 file, __u32 operation)
{
	struct answer *answer = &s->walk->answer;
	__u32 rights = s->walk->wanted;

	if (operation != CORDON_OP_RECEIVE) {
		if (!claim_terminal(s))
			answer_unnamed(answer, rights, CORDON_REASON_BUILTIN);
		return -ENOSPC;
	}
	if (has_own_terminals(s) && !is_own_terminal(s, other_side(file)))
		answer_unnamed(answer, rights, CORDON_REASON_FOREIGN);
	return -EACCES;
}

/*
 * Files that ps(1) and top(1) read of each process that /proc lists: "stat", "statm", "status" and
 * "cmdline", in a little-endian word. Another execution's and the host's do not exist here, as in a
 * PID namespace. This is no denial, because a list of processes is not an attempt on each of them.
 */
static __always_inline bool is_hidden_process(const struct subject *s, __u32 rights)
{
	const struct walk *walk = s->walk;
	__u64 text;

	if (walk->answer.reason != CORDON_REASON_FOREIGN || rights != CORDON_RIGHT(CORDON_READ) ||
	    observes(s))
		return false;
	text = read_u64(component_name(walk, 0));
	switch (component_length(walk, 0)) {
	case 4:
		return (__u32)text == 0x74617473;
	case 5:
		return (text & 0xffffffffff) == 0x6d74617473;
	case 6:
		return (text & 0xffffffffffff) == 0x737574617473;
	case 7:
		return (text & 0xffffffffffffff) == 0x656e696c646d63;
	default:
		return false;
	}
}

static __always_inline int decide_open(struct subject *s, const struct file *file,
				       const struct file_object *o, __u32 operation)
{
	__u32 mode = file->f_mode, flags = file->f_flags;
	__u32 rights = rights_of_open(mode, flags), name_flags = o->name_flags;
	struct answer *answer;
	int verdict = 0, error;

	/*
	 * Opened for execution: by exec, which checks RUN in its own hook, or as a program's
	 * loader, which needs MAP only. Either right allows the open.
	 */
	if (flags & FMODE_EXEC) {
		/*
		 * In observe mode the check is skipped, because exec and the loader check their
		 * exact rights soon after. It is also skipped for code in memory, which no name can
		 * grant.
		 */
		if (observes(s) || is_in_own_memory(s, o)) {
			note_code(s, o->inode, 0);
			return 0;
		}
		rights = CORDON_RIGHT(CORDON_RUN);
		operation = CORDON_OP_EXEC;
	}
	if (!rights)
		return 0;
	if (S_ISDIR(o->mode))
		name_flags |= NAME_LISTING;
	if (rights & WRITE)
		rights |= rights_to_change(s, o->inode, o->mode, o->links);
	if (!subject_need_walk(s))
		return deny_unasked(s, operation);
	if (is_reported(s, rights) || is_refused_code(s))
		name_flags |= NAME_SPELLED;
	/* Stored through memory, so that the verifier checks the following code once. */
	*(volatile __u32 *)&s->walk->wanted = rights;
	*(volatile __u32 *)&s->walk->flags = name_flags;
	if (is_left_terminal(s, o))
		return -ENXIO;
	rights = *(volatile __u32 *)&s->walk->wanted;
	name_flags = *(volatile __u32 *)&s->walk->flags;
	/*
	 * O_TMPFILE: no hook ran before, so record the owner here. A received file may be another
	 * task's.
	 */
	if ((flags & __O_TMPFILE) && operation == CORDON_OP_OPEN && has_own_temporary(s))
		temporary_note(s->execution, o->inode);
	ask_dentry(s, read_path(&file->f_path)->dentry, o->vfsmount,
		   NAME_QUESTION(rights, name_flags));
	rights = *(volatile __u32 *)&s->walk->wanted;
	answer = &s->walk->answer;
	/* If the file is elsewhere, or is denied, remove the record, so that it takes no room. */
	if (has_own_temporary(s) && operation == CORDON_OP_OPEN && (flags & __O_TMPFILE) &&
	    (answer->missing || s->walk->temporary != TEMPORARY_DIRECTLY))
		temporary_disown(o->inode);
	/*
	 * If the exec may wait for approval, exec's own hook requests it, and one approval is
	 * sufficient.
	 */
	if ((flags & FMODE_EXEC) && (!verdict_missing(&answer->verdict, CORDON_RIGHT(CORDON_MAP)) ||
				     may_ask_to_run(s, answer)))
		answer->missing = 0;
	if (answer->missing && operation == CORDON_OP_OPEN && opens_the_same(o) &&
	    is_opened_again(o, rights, flags))
		answer->missing = 0;
	if (answer->missing && is_granted_terminal(s, o)) {
		answer->missing = 0;
		s->walk->own_terminal = 1;
	}
	if ((rights & CORDON_RIGHT(CORDON_WRITE)) && !answer->missing && is_process_memory(s, o))
		answer_unnamed(answer, CORDON_RIGHT(CORDON_WRITE), CORDON_REASON_BUILTIN);
	/* O_TMPFILE creates a file without passing path_mknod. */
	if ((flags & __O_TMPFILE) && is_set_id(o->mode, o->mode))
		answer_unnamed(answer, CORDON_RIGHT(CORDON_CREATE), CORDON_REASON_BUILTIN);
	if (!answer->missing && operation != CORDON_OP_RECEIVE && is_refused_code(s))
		answer_unnamed(answer, rights, CORDON_REASON_CHANGED);
	error = error_of_change(s);
	/* Last, so that no other check denies an open that has taken a place. */
	if (!answer->missing && makes_terminals(o))
		error = check_pair(s, (__u64)file, operation);
	if (operation == CORDON_OP_OPEN && answer->missing && is_hidden_process(s, rights))
		return -ENOENT;
	if (answer->missing)
		verdict = decide_path(s, operation, error);
	else if (*(volatile __u32 *)&s->walk->flags & NAME_SPELLED)
		report_path(s, CORDON_EVENT_OPEN, operation, rights);
	/* A file opened for execution is not read yet. */
	if (!verdict && operation != CORDON_OP_RECEIVE)
		note_code(s, o->inode, flags & FMODE_EXEC ? 0 : rights);
	return verdict;
}

/*
 * Checks pipes and memory, which have no name. The task must hold such an object already, or the
 * execution must have made it, if it is a pipe.
 */
static __always_inline int decide_nameless(struct subject *s, const struct file *file,
					   const struct file_object *o, __u32 operation)
{
	const struct inode *inode = read_file(file)->f_inode;
	__u32 flags = file->f_flags, rights = rights_of_open(file->f_mode, flags);
	int verdict = 0;

	/*
	 * Received objects need no check, and running memory is checked elsewhere. A process
	 * descriptor is created by the open, and gives the same access however it was opened.
	 */
	if (operation != CORDON_OP_OPEN || (flags & FMODE_EXEC) || !rights ||
	    inode->i_sb->s_magic == PIDFS_MAGIC)
		return 0;
	if (!is_opened_again(o, rights, flags) && !is_own_pipe(s, file->f_inode))
		return deny_number(s, operation, inode->i_ino, CORDON_REASON_BUILTIN, -EACCES);
	if (is_refused_code(s))
		verdict = deny_number(s, operation, inode->i_ino, CORDON_REASON_CHANGED, -EACCES);
	if (!verdict)
		note_code(s, o->inode, rights);
	return verdict;
}

static __always_inline int judge_file(struct subject *s, const struct file *file, __u32 operation)
{
	struct file_object o;

	if (!inspect(&file->f_path, &o))
		return deny_unasked(s, operation);
	if (operation == CORDON_OP_OPEN && !look_at_code(s, o.inode))
		return deny_unasked(s, operation);
	switch (o.class) {
	case CLASS_NAMED:
		return decide_open(s, file, &o, operation);
	case CLASS_BACKING:
		return 0;
	case CLASS_STREAM:
	case CLASS_MEMORY:
		return decide_nameless(s, file, &o, operation);
	default:
		return deny_number(s, operation, o.class, CORDON_REASON_UNRESOLVED, -EACCES);
	}
}

SEC("lsm/file_open")
int BPF_PROG(cordon_file_open, struct file *file, int ret)
{
	struct subject s;

	ENTER(&s, ret);
	return LEAVE(&s, judge_file(&s, file, CORDON_OP_OPEN));
}

/* Checks truncation: by name, or by a held descriptor that may write at any offset. */
static __always_inline int judge_truncate(struct subject *s, const struct path *path)
{
	struct file_object o;
	__u32 rights;

	if (!inspect(path, &o))
		return deny_unasked(s, CORDON_OP_TRUNCATE);
	if (o.class == CLASS_BACKING)
		return 0;
	if (o.class == CLASS_MEMORY) {
		if (is_held(&o, FMODE_WRITE, false))
			return 0;
		return deny_number(s, CORDON_OP_TRUNCATE, o.class, CORDON_REASON_BUILTIN, -EACCES);
	}
	if (!subject_need_walk(s))
		return deny_unasked(s, CORDON_OP_TRUNCATE);
	rights = rights_to_change(s, o.inode, o.mode, o.links);
	ask_name(s, o.dentry, o.vfsmount, NAME_QUESTION(rights, o.name_flags | spelled_change(s)));
	if (s->walk->answer.missing && opens_the_same(&o) && is_held(&o, FMODE_WRITE, false))
		return 0;
	return decide_change(s, CORDON_OP_TRUNCATE, error_of_change(s), WRITE);
}

/* truncate(2); before Linux 6.2 also ftruncate(2) and O_TRUNC. */
SEC("lsm/path_truncate")
int BPF_PROG(cordon_path_truncate, const struct path *path, int ret)
{
	struct subject s;

	ENTER(&s, ret);
	return LEAVE(&s, judge_truncate(&s, path));
}

/* ftruncate(2) and O_TRUNC since Linux 6.2. */
SEC("?lsm/file_truncate")
int BPF_PROG(cordon_file_truncate, struct file *file, int ret)
{
	struct subject s;

	ENTER(&s, ret);
	return LEAVE(&s, judge_truncate(&s, &file->f_path));
}

#endif
