/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Other processes, and privilege. */
#ifndef CORDON_BPF_HOOK_PROCESS_BPF_H
#define CORDON_BPF_HOOK_PROCESS_BPF_H

#include "bpf/core/decide.bpf.h"

/*
 * System calls that reach what belongs to the host, have no hook of their own, and ask for a capability on
 * their way: for them it does not exist, whatever the policy. Their arguments do not matter.
 */
static __always_inline bool is_host_call(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	__u32 number = regs->orig_ax & ~X32_SYSCALL_BIT;

	if (task->thread_info.status & TS_COMPAT)
		return number == IA32_MOUNT_SETATTR || number == IA32_SWAPON ||
		       number == IA32_SWAPOFF || number == IA32_REBOOT || number == IA32_ACCT ||
		       number == IA32_IOPL || number == IA32_IOPERM || number == IA32_MADVISE ||
		       number == IA32_DELETE_MODULE || number == IA32_VHANGUP;
	return number == NR_MOUNT_SETATTR || number == NR_SWAPON || number == NR_SWAPOFF ||
	       number == NR_REBOOT || number == NR_ACCT || number == NR_IOPL ||
	       number == NR_IOPERM || number == NR_MADVISE || number == NR_DELETE_MODULE ||
	       number == NR_VHANGUP;
}

#define HOST_CAPABILITIES                                                                          \
	(1ull << CAP_SYS_MODULE | 1ull << CAP_SYS_RAWIO | 1ull << CAP_SYS_PACCT |                  \
	 1ull << CAP_SYS_ADMIN | 1ull << CAP_SYS_BOOT | 1ull << CAP_SYS_TTY_CONFIG)

/* A ceiling, in every user namespace and for every uid: what is not in it does not exist. */
SEC("lsm/capable")
int BPF_PROG(cordon_capable, const struct cred *cred, struct user_namespace *ns, int cap,
	     unsigned int opts, int ret)
{
	struct subject s;

	if (ret || kernel_acts_for_itself())
		return ret;
	ENTER(&s, ret);
	if ((__u32)cap < 64 && (s.policy->capabilities >> cap) & 1) {
		if (!((HOST_CAPABILITIES >> cap) & 1) || !is_host_call())
			return 0;
		return LEAVE(&s, deny_number(&s, CORDON_OP_CAPABLE, cap, CORDON_REASON_BUILTIN,
					     -EPERM));
	}
	if (observed_work_for_kernel(&s))
		return LEAVE(&s, 0);
	/* The kernel's own soundings ("could this task, if it wanted?") are no attempts. */
	if (opts & CAP_OPT_NOAUDIT)
		return observes(&s) ? 0 : -EPERM;
	return LEAVE(&s, deny_number(&s, CORDON_OP_CAPABLE, cap, CORDON_REASON_DEFAULT, -EPERM));
}

static __always_inline bool is_own_task(const struct subject *s, struct task_struct *task)
{
	const struct label *target = label_of_address((__u64)task);

	return target && same_label(target, &s->label);
}

SEC("lsm/task_kill")
int BPF_PROG(cordon_task_kill, struct task_struct *target, struct kernel_siginfo *info, int sig,
	     const struct cred *cred, int ret)
{
	struct subject s;

	/* `cred` is given when the signal is sent for somebody else (USB completion). */
	ENTER(&s, ret);
	if ((s.policy->flags & CORDON_POLICY_SIGNAL_ANY) || is_own_task(&s, target))
		return LEAVE(&s, 0);
	return LEAVE(&s, deny_process(&s, CORDON_OP_SIGNAL, (__u64)target, target->tgid, sig));
}

static __always_inline bool may_trace(const struct subject *s, struct task_struct *target)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (!is_own_task(s, target))
		return false;
	return target->tgid == task->tgid || (s->policy->flags & CORDON_POLICY_TRACE_OWN);
}

/* ptrace, process_vm_*, pidfd_getfd, and /proc/PID/{mem,environ,maps,fd,root,cwd,...}. */
SEC("lsm/ptrace_access_check")
int BPF_PROG(cordon_ptrace_access_check, struct task_struct *child, unsigned int mode, int ret)
{
	struct subject s;

	ENTER(&s, ret);
	if (may_trace(&s, child) || (!(mode & PTRACE_MODE_ATTACH) && is_own_task(&s, child)))
		return LEAVE(&s, 0);
	return LEAVE(&s, deny_process(&s, CORDON_OP_TRACE, (__u64)child, child->tgid, mode));
}

SEC("lsm/ptrace_traceme")
int BPF_PROG(cordon_ptrace_traceme, struct task_struct *parent, int ret)
{
	struct subject s;

	ENTER(&s, ret);
	if ((s.policy->flags & CORDON_POLICY_TRACE_OWN) && is_own_task(&s, parent))
		return LEAVE(&s, 0);
	return LEAVE(&s, deny_process(&s, CORDON_OP_TRACE, (__u64)parent, parent->tgid, 0));
}

static __always_inline int judge_schedule(struct task_struct *target, int ret)
{
	struct subject s;

	ENTER(&s, ret);
	if (is_own_task(&s, target))
		return LEAVE(&s, 0);
	return LEAVE(&s, deny_process(&s, CORDON_OP_SCHED, (__u64)target, target->tgid, 0));
}

SEC("lsm/task_setscheduler")
int BPF_PROG(cordon_task_setscheduler, struct task_struct *target, int ret)
{
	return judge_schedule(target, ret);
}

SEC("lsm/task_setnice")
int BPF_PROG(cordon_task_setnice, struct task_struct *target, int nice, int ret)
{
	return judge_schedule(target, ret);
}

SEC("lsm/task_setioprio")
int BPF_PROG(cordon_task_setioprio, struct task_struct *target, int ioprio, int ret)
{
	return judge_schedule(target, ret);
}

SEC("lsm/task_movememory")
int BPF_PROG(cordon_task_movememory, struct task_struct *target, int ret)
{
	return judge_schedule(target, ret);
}

/*
 * Limits of another task: a CPU limit of zero kills it. The hook is given credentials only; threads
 * share theirs, and a task's own limits never come here (check_prlimit_permission()).
 */
SEC("lsm/task_prlimit")
int BPF_PROG(cordon_task_prlimit, const struct cred *cred, const struct cred *target,
	     unsigned int flags, int ret)
{
	struct subject s;

	if (ret || cred == target)
		return ret;
	ENTER(&s, ret);
	return LEAVE(&s, deny_number(&s, CORDON_OP_SCHED, flags, CORDON_REASON_FOREIGN, -EPERM));
}

/* A user namespace is where every capability begins anew. */
SEC("lsm/userns_create")
int BPF_PROG(cordon_userns_create, const struct cred *cred, int ret)
{
	struct subject s;

	ENTER(&s, ret);
	if (s.policy->flags & CORDON_POLICY_NAMESPACES)
		return LEAVE(&s, 0);
	return LEAVE(&s, deny_number(&s, CORDON_OP_USERNS, 0, CORDON_REASON_DEFAULT, -EPERM));
}

#endif
