/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Running programs and making memory executable. */
#ifndef CORDON_BPF_HOOK_EXEC_BPF_H
#define CORDON_BPF_HOOK_EXEC_BPF_H

#include "bpf/object.bpf.h"

/* Called once per level: the script, its interpreter, that one's interpreter. */
static __always_inline int judge_program(struct subject *s, __u64 file)
{
	struct file_object o;

	if (s->execution->state == CORDON_EXECUTION_ENDING)
		return deny_number(s, CORDON_OP_EXEC, 0, CORDON_REASON_ENDING, -EPERM);
	inspect_file(file, &o);
	if (o.class == CLASS_NAMED && !o.deleted)
		return decide_name(s, CORDON_OP_EXEC, o.dentry, o.vfsmount,
				   NAME_QUESTION(CORDON_RIGHT(CORDON_RUN), o.name_flags));
	/* A deleted program can no more be looked at afterwards than one in memory. */
	return decide_special(s, CORDON_OP_EXEC, true, CORDON_RIGHT(CORDON_RUN));
}

SEC("lsm/bprm_check_security")
int BPF_PROG(cordon_bprm_check, struct linux_binprm *bprm, int ret)
{
	struct subject s;

	ENTER(&s, ret);
	return LEAVE(&s, judge_program(&s, (__u64)bprm->file));
}

/*
 * An executable mapping of a file asks for MAP; one that can also be written to as a private copy,
 * or that has no file, asks for the special object "@anonymous".
 */
static __always_inline int judge_mapping(struct subject *s, __u64 file, bool written, __u32 operation)
{
	struct file_object o;
	int verdict;

	if (!file)
		return decide_special(s, operation, false, CORDON_RIGHT(CORDON_MAP));
	inspect_mapped_file(file, &o);
	if (o.class == CLASS_NAMED && !o.deleted)
		verdict = decide_name(s, operation, o.dentry, o.vfsmount,
				      NAME_QUESTION(CORDON_RIGHT(CORDON_MAP), o.name_flags));
	else
		verdict = decide_special(s, operation, true, CORDON_RIGHT(CORDON_MAP));
	if (!verdict && written)
		verdict = decide_special(s, operation, false, CORDON_RIGHT(CORDON_MAP));
	return verdict;
}

/*
 * `prot` and not `reqprot`: the personality READ_IMPLIES_EXEC adds to the former. `file` is NULL for
 * anonymous memory, yet newer verifiers take it for non-null and would drop the test; fetched
 * by bpf_get_func_arg() it is a plain number.
 */
SEC("lsm/mmap_file")
int BPF_PROG(cordon_mmap_file, struct file *unused, unsigned long reqprot, unsigned long prot,
	     unsigned long flags, int ret)
{
	struct subject s;
	__u64 file = 0;
	bool written;

	if (ret || !(prot & PROT_EXEC))
		return ret;
	ENTER(&s, ret);
	if (bpf_get_func_arg(ctx, 0, &file))
		return LEAVE(&s, -EACCES);
	written = (prot & PROT_WRITE) && (flags & MAP_TYPE) != MAP_SHARED;
	return LEAVE(&s, judge_mapping(&s, file, written, CORDON_OP_MMAP));
}

/*
 * Memory that becomes executable, and executable memory that becomes writable. A private file
 * mapping with an anon_vma has been written to: what would be run is not the file.
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
	return LEAVE(&s, judge_mapping(&s, (__u64)vma->vm_file, written, CORDON_OP_MPROTECT));
}

#endif
