/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Opening, truncating and receiving files. */
#ifndef CORDON_BPF_HOOK_OPEN_BPF_H
#define CORDON_BPF_HOOK_OPEN_BPF_H

#include "bpf/core/object.bpf.h"

static __always_inline __u32 rights_of_open(__u32 mode, __u32 flags)
{
	__u32 rights = 0;

	if (mode & FMODE_READ)
		rights |= CORDON_RIGHT(CORDON_READ);
	if ((mode & FMODE_WRITE) || (flags & O_TRUNC))
		rights |= CORDON_RIGHT(CORDON_WRITE);
	/* Neither to be read nor written, only controlled: open(2) asks for both permissions. */
	if ((flags & O_ACCMODE) == O_ACCMODE)
		rights |= CORDON_RIGHT(CORDON_READ) | CORDON_RIGHT(CORDON_WRITE);
	return rights;
}

/*
 * /proc/PID/mem writes go around page protection, and so would turn code that may be mapped into
 * code that was written: refused even for the own process.
 */
static __always_inline bool is_process_memory(const struct subject *s, const struct file_object *o)
{
	const struct name_component *component = &s->walk->components[0];
	char name[4] = {};

	if (!(o->name_flags & NAME_PROC) || component->length != 3)
		return false;
	bpf_probe_read_kernel(name, 3, (const void *)component->name);
	return name[0] == 'm' && name[1] == 'e' && name[2] == 'm';
}

/* Does the policy want to see opens like this one, if they are allowed? */
static __always_inline bool is_reported(const struct subject *s, __u32 rights)
{
	__u32 level = CORDON_AUDIT_LEVEL(s->policy->audit, OPENS);

	return level == CORDON_AUDIT_ALL ||
	       (level == CORDON_AUDIT_WRITES && (rights & CORDON_RIGHT(CORDON_WRITE)));
}

static __always_inline int decide_open(struct subject *s, const struct file *file,
				       const struct file_object *o, __u32 operation)
{
	__u32 mode = file->f_mode, flags = file->f_flags;
	struct object object = {.kind = CORDON_OBJECT_PATH};
	__u32 rights = rights_of_open(mode, flags), name_flags = o->name_flags;
	struct answer *answer;
	bool reported;

	/*
	 * Opened for execution: by exec itself, which asks for RUN in its own hook, or as a
	 * program's loader, for which MAP is enough. Either right lets it be opened.
	 */
	if (flags & FMODE_EXEC) {
		/* Observed, each of them asks for exactly what it needs soon after. */
		if (observes(s))
			return 0;
		rights = CORDON_RIGHT(CORDON_RUN);
		operation = CORDON_OP_EXEC;
	}
	if (!rights)
		return 0;
	if (S_ISDIR(o->mode))
		name_flags |= NAME_LISTING;
	reported = is_reported(s, rights);
	if (reported)
		name_flags |= NAME_SPELLED;
	if (!subject_need_walk(s))
		return deny_unasked(s, operation);
	ask_dentry(s, file->f_path.dentry, o->vfsmount, NAME_QUESTION(rights, name_flags));
	answer = &s->walk->answer;
	if ((flags & FMODE_EXEC) && !verdict_missing(&answer->verdict, CORDON_RIGHT(CORDON_MAP)))
		answer->missing = 0;
	if ((rights & CORDON_RIGHT(CORDON_WRITE)) && !answer->missing && is_process_memory(s, o))
		answer_unnamed(answer, CORDON_RIGHT(CORDON_WRITE), CORDON_REASON_BUILTIN);
	if (answer->missing)
		return decide_answered(s, operation, &object, question_identity(s), -EACCES);
	if (reported) {
		struct access access = {CORDON_EVENT_OPEN, operation, rights};

		report_access(s, &access, &object, answer);
	}
	return 0;
}

static __always_inline int judge_file(struct subject *s, const struct file *file, __u32 operation)
{
	struct file_object o;

	if (!inspect(&file->f_path, &o))
		return deny_unasked(s, operation);
	switch (o.class) {
	case CLASS_NAMED:
		return decide_open(s, file, &o, operation);
	case CLASS_STREAM:
	case CLASS_BACKING:
		return 0;
	case CLASS_MEMORY:
		/* Its own memory again, through /proc/self/fd; running it is asked elsewhere. */
		return 0;
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

static __always_inline int judge_truncate(struct subject *s, const struct path *path)
{
	struct file_object o;

	if (!inspect(path, &o))
		return deny_unasked(s, CORDON_OP_TRUNCATE);
	if (o.class == CLASS_BACKING || o.class == CLASS_MEMORY)
		return 0;
	return decide_name(s, CORDON_OP_TRUNCATE, o.dentry, o.vfsmount,
			   NAME_QUESTION(CORDON_RIGHT(CORDON_WRITE), o.name_flags));
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
