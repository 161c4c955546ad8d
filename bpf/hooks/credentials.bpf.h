/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Creation and end of credentials, to record which ones belong to an execution. */
#ifndef CORDON_BPF_HOOK_CREDENTIALS_BPF_H
#define CORDON_BPF_HOOK_CREDENTIALS_BPF_H

#include "bpf/core/credentials.bpf.h"

/*
 * kernel.core_pattern, the destination of core dumps: a file name, or '|' and a program, or '@' and
 * a socket (since Linux 6.16).
 */
extern const void core_pattern __ksym __weak;

/* A setting that cannot be read counts as a program. */
static __always_inline bool dumps_to_file(void)
{
	__u32 start = &core_pattern ? read_u32((__u64)&core_pattern) : 0;
	char first = (char)start;

	return first && first != '|' && first != '@';
}

/*
 * Is the kernel about to pipe the memory of this task, which a signal kills, to a program or server
 * of the host? It copies the credentials first, and dumps nothing without them (do_coredump(),
 * fs/coredump.c). No later hook sees the destination of the dump. RLIMIT_CORE does not help: only
 * the value 1 stops the program, and any task may lower it to 0.
 */
static __always_inline bool is_dumped_to_host(const struct task_struct *task)
{
	return (task->flags & (PF_SIGNALED | PF_EXITING)) == PF_SIGNALED && !dumps_to_file();
}

/*
 * Records copies of the execution's credentials. A copy of credentials that the kernel uses for its
 * own work belongs to the kernel. For example, overlayfs copies the mounter's credentials to create
 * a file (ovl_create_or_link()). The credentials under which the task was labelled are recorded
 * with their first copy, before the task can replace them.
 */
SEC("lsm/cred_prepare")
int BPF_PROG(cordon_cred_prepare, struct cred *new, const struct cred *old, gfp_t gfp, int ret)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct subject s;

	if (ret || !subject_label(task, &s))
		return ret;
	if (is_dumped_to_host(task))
		return -EPERM;
	if (!tells_end(new))
		return 0;
	if (old != read_task(task)->real_cred && !is_on_record(old))
		return 0;
	if (record_credentials(old, &s.label))
		return -ENOMEM;
	return record_credentials(new, &s.label);
}

/* Also runs in softirq, under an unrelated current. */
SEC("lsm/cred_free")
int BPF_PROG(cordon_cred_free, struct cred *cred)
{
	forget_credentials(cred);
	return 0;
}

#endif
