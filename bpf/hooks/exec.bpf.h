/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Checks on running programs and on making memory executable. */
#ifndef CORDON_BPF_HOOK_EXEC_BPF_H
#define CORDON_BPF_HOOK_EXEC_BPF_H

#include "bpf/core/held.bpf.h"
#include "bpf/core/machine.bpf.h"
#include "bpf/core/waiting.bpf.h"
#include "bpf/pure/system_calls.h"

/* Is there a file, and does it still have a name? */
static __always_inline bool has_name(const struct file_object *o)
{
	return o->dentry && o->class == CLASS_NAMED && o->links;
}

/*
 * Checks an exec right on a file. A file without a name is checked as a special object: memory
 * (which includes a file system that the execution made) or a deleted file. Sets *object to the
 * kind that was checked.
 */
static __always_inline void ask_code(struct subject *s, const struct file_object *o, __u32 rights,
				     struct object *object)
{
	if (has_name(o) && !is_in_own_memory(s, o)) {
		object->kind = CORDON_OBJECT_PATH;
		ask_name(s, o->dentry, o->vfsmount, NAME_QUESTION(rights, o->name_flags));
	} else {
		object->kind = CORDON_OBJECT_SPECIAL;
		object->length = spell_special(s, o->dentry != 0);
		ask_short(s, CORDON_START_PATH, object->length, rights);
	}
}

static __always_inline __u64 code_identity(const struct subject *s, const struct object *object)
{
	return object->kind == CORDON_OBJECT_PATH ? question_identity(s) : object->length;
}

/*
 * A script needs RUN only. An ELF program also needs MAP, because the kernel maps its pages.
 * Checking MAP here denies the exec with an error. After the point of no return, only a signal
 * would be possible.
 */
static __always_inline __u32 rights_to_run(const struct linux_binprm *bprm)
{
	__u32 magic = 0;

	bpf_probe_read_kernel(&magic, sizeof(magic), bprm->buf);
	if (magic == ELF_MAGIC)
		return CORDON_RIGHT(CORDON_RUN) | CORDON_RIGHT(CORDON_MAP);
	return CORDON_RIGHT(CORDON_RUN);
}

/* Runs once per level: the script, its interpreter, the interpreter's interpreter. */
static __always_inline int judge_program(struct subject *s, const struct linux_binprm *bprm)
{
	bool ending = s->execution->state == CORDON_EXECUTION_ENDING;
	__u32 rights = rights_to_run(bprm);
	struct object object = {};
	struct file_object o;

	if (!subject_need_walk(s))
		return deny_unasked(s, CORDON_OP_EXEC);
	if (!inspect(&bprm->file->f_path, &o))
		return deny_unasked(s, CORDON_OP_EXEC);
	if (ending)
		o.name_flags |= NAME_SPELLED;
	ask_code(s, &o, rights, &object);
	if (ending)
		answer_unnamed(&s->walk->answer, rights, CORDON_REASON_ENDING);
	return decide_or_wait(s, CORDON_OP_EXEC, &object, code_identity(s, &object), -EACCES);
}

SEC("lsm/bprm_check_security")
int BPF_PROG(cordon_bprm_check, struct linux_binprm *bprm, int ret)
{
	struct subject s;

	ENTER(&s, ret);
	return LEAVE(&s, judge_program(&s, bprm));
}

/*
 * An executable mapping of a file requires MAP. It requires MAP on the special object "@anonymous"
 * if it has no file. A private mapping that is also writable requires both.
 */
static __always_inline int judge_mapping(struct subject *s, __u64 file, bool written, __u32 rights,
					 __u32 operation)
{
	struct object object = {};
	struct file_object o = {};

	if (!subject_need_walk(s))
		return deny_unasked(s, operation);
	if (file)
		inspect_mapped_file(file, &o);
	ask_code(s, &o, rights, &object);
	/* In observe mode, report both missing rights. */
	if (file && written && s->walk->answer.missing && observes(s))
		decide_answered(s, operation, &object, code_identity(s, &object), -EACCES);
	if (file && written && (!s->walk->answer.missing || observes(s))) {
		object.kind = CORDON_OBJECT_SPECIAL;
		object.length = spell_special(s, false);
		ask_short(s, CORDON_START_PATH, object.length, CORDON_RIGHT(CORDON_MAP));
	}
	return decide_answered(s, operation, &object, code_identity(s, &object), -EACCES);
}

/*
 * Would a shared mapping allow overwriting a file that is open for appending only? Its pages can be
 * written, now or after mprotect(2), and O_APPEND has no effect on them.
 */
static __always_inline bool maps_for_rewriting(__u64 file, unsigned long flags)
{
	struct file_object o;

	if (!(flags & MAP_SHARED) || !appends_only(file))
		return false;
	inspect_file(file, &o);
	return !is_held(&o, FMODE_WRITE, false);
}

/*
 * Checks `prot` instead of `reqprot`, because the personality READ_IMPLIES_EXEC adds PROT_EXEC to
 * `prot`. `file` is NULL for anonymous memory. Newer verifiers assume that it is not NULL and would
 * remove the test, so it is read as a plain number with bpf_get_func_arg().
 */
SEC("lsm/mmap_file")
int BPF_PROG(cordon_mmap_file, struct file *unused, unsigned long reqprot, unsigned long prot,
	     unsigned long flags, int ret)
{
	__u32 rights = prot & PROT_EXEC ? CORDON_RIGHT(CORDON_MAP) : 0;
	struct subject s;
	__u64 file = 0;
	bool written, shared = flags & MAP_SHARED, known;

	if (ret || (!rights && !shared))
		return ret;
	known = bpf_get_func_arg(ctx, 0, &file) == 0;
	if (known && !rights && !appends_only(file))
		return ret;
	ENTER(&s, ret);
	if (!known)
		return LEAVE(&s, deny_unasked(&s, CORDON_OP_MMAP));
	if (maps_for_rewriting(file, flags))
		rights |= CORDON_RIGHT(CORDON_WRITE);
	if (!rights)
		return LEAVE(&s, 0);
	written = (prot & PROT_WRITE) && (flags & MAP_TYPE) != MAP_SHARED;
	return LEAVE(&s, judge_mapping(&s, file, written, rights, CORDON_OP_MMAP));
}

/*
 * The personality READ_IMPLIES_EXEC makes memory from brk(2) and io_setup(2) executable. The hooks
 * there are not given this flag (do_brk_flags(), aio_setup_ring()), but each call first looks for a
 * free address range (__get_unmapped_area(), mm/mmap.c). With that personality, deny the range
 * unless the policy grants "@anonymous".
 */
SEC("lsm/mmap_addr")
int BPF_PROG(cordon_mmap_addr, unsigned long address, int ret)
{
	struct object object = {.kind = CORDON_OBJECT_SPECIAL};
	struct subject s;

	if (ret || !(bpf_get_current_task_btf()->personality & READ_IMPLIES_EXEC))
		return ret;
	ENTER(&s, ret);
	if (!subject_need_walk(&s))
		return LEAVE(&s, deny_unasked(&s, CORDON_OP_MMAP));
	object.length = spell_special(&s, false);
	ask_short(&s, CORDON_START_PATH, object.length, CORDON_RIGHT(CORDON_MAP));
	return LEAVE(&s, decide_answered(&s, CORDON_OP_MMAP, &object, object.length, -EACCES));
}

/*
 * A userfaultfd fills pages of private mappings that need not be writable, such as executable
 * mappings of files in memory (mfill_atomic()). No other hook sees this.
 */
SEC("lsm/inode_init_security_anon")
int BPF_PROG(cordon_anonymous_inode, struct inode *inode, const struct qstr *name,
	     const struct inode *context, int ret)
{
	struct object object = {.kind = CORDON_OBJECT_SPECIAL};
	char start[8] = {};
	struct subject s;

	ENTER(&s, ret);
	bpf_probe_read_kernel(start, sizeof(start), BPF_CORE_READ(name, name));
	if (__builtin_memcmp(start, "[userfau", sizeof(start)) != 0)
		return LEAVE(&s, 0);
	if (!subject_need_walk(&s))
		return LEAVE(&s, deny_unasked(&s, CORDON_OP_MMAP));
	object.length = spell_special(&s, false);
	ask_short(&s, CORDON_START_PATH, object.length, CORDON_RIGHT(CORDON_MAP));
	return LEAVE(&s, decide_answered(&s, CORDON_OP_MMAP, &object, object.length, -EACCES));
}

/*
 * Checks memory that becomes executable, and executable memory that becomes writable. A private
 * file mapping with an anon_vma has been written to, so that its content may differ from the file.
 */
SEC("lsm/file_mprotect")
int BPF_PROG(cordon_file_mprotect, struct vm_area_struct *vma, unsigned long reqprot,
	     unsigned long prot, int ret)
{
	struct subject s;
	unsigned long flags;
	bool written;

	if (ret || !(prot & PROT_EXEC))
		return ret;
	flags = vma->vm_flags;
	if ((flags & VM_EXEC) && !(prot & PROT_WRITE))
		return ret;
	ENTER(&s, ret);
	written = !(flags & VM_SHARED) && ((prot & PROT_WRITE) || vma->anon_vma);
	return LEAVE(&s, judge_mapping(&s, (__u64)vma->vm_file, written, CORDON_RIGHT(CORDON_MAP),
				       CORDON_OP_MPROTECT));
}

#endif
