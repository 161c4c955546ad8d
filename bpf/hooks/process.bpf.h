/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Other processes, and privilege. */
#ifndef CORDON_BPF_HOOK_PROCESS_BPF_H
#define CORDON_BPF_HOOK_PROCESS_BPF_H

#include "bpf/core/asked.bpf.h"
#include "bpf/core/decide.bpf.h"
#include "bpf/core/credentials.bpf.h"
#include "bpf/core/machine.bpf.h"
#include "bpf/core/own_namespaces.bpf.h"

/*
 * System calls that reach what belongs to the host, have no hook of their own, and ask for a
 * capability on their way: for them it does not exist, whatever the policy. Their arguments do not
 * matter. Of calls that this build does not know, nobody has looked what they reach.
 */
static __always_inline bool is_host_call(void)
{
	const struct pt_regs *regs = entry_registers();
	__u32 number = call_number(regs) & ~OTHER_ABI_BIT;

	/* The capability shows what other namespaces have mounted, and which there are. */
	if (number == NR_STATMOUNT || number == NR_LISTMOUNT || number == NR_LISTNS)
		return true;
	/*
	 * Since Linux 6.15, who may watch performance gets at another's memory map past ptrace's
	 * hook. Numbers below 0 are no call, but a fault or a thread of the kernel's.
	 */
	if (number == NR_OPEN_TREE_ATTR || number == NR_PROCESS_MADVISE ||
	    (number > NR_LAST_KNOWN && (__s32)number > 0))
		return true;
#define IS(name)    number == NR_##name ||
#define IS_32(name) number == NR32_##name ||
	if (is_32bit_call(regs))
		return HOST_CALLS(IS_32) number == NR_MOUNT_SETATTR;
	return HOST_CALLS(IS) number == NR_MOUNT_SETATTR;
#undef IS
#undef IS_32
}

/* Reaches mounts of the task's own namespace only, and no lock that the kernel put on them. */
static __always_inline bool is_mount_attributes_call(void)
{
	return (call_number(entry_registers()) & ~OTHER_ABI_BIT) == NR_MOUNT_SETATTR;
}

#define HOST_CAPABILITIES                                                                          \
	(1ull << CAP_SYS_MODULE | 1ull << CAP_SYS_RAWIO | 1ull << CAP_SYS_PACCT |                  \
	 1ull << CAP_SYS_ADMIN | 1ull << CAP_SYS_BOOT | 1ull << CAP_SYS_TTY_CONFIG |               \
	 1ull << CAP_PERFMON)

/*
 * Capabilities that sandboxes use in user namespaces of their own, where they reach no further than
 * what belongs to these (CORDON_POLICY_OWN_NAMESPACES). Left out is what sandboxes do not need and
 * what opens much of the kernel to whoever has it: tracing, raw packets, devices, capabilities of
 * files, programs of BPF, all that the first user namespace alone has a use for.
 */
#define OWN_CAPABILITIES                                                                           \
	(1ull << CAP_CHOWN | 1ull << CAP_DAC_OVERRIDE | 1ull << CAP_DAC_READ_SEARCH |              \
	 1ull << CAP_FOWNER | 1ull << CAP_FSETID | 1ull << CAP_KILL | 1ull << CAP_SETGID |         \
	 1ull << CAP_SETUID | 1ull << CAP_SETPCAP | 1ull << CAP_NET_BIND_SERVICE |                 \
	 1ull << CAP_NET_ADMIN | 1ull << CAP_IPC_OWNER | 1ull << CAP_SYS_CHROOT |                  \
	 1ull << CAP_SYS_ADMIN)

/* By messages alone, whose families rules grant: no tables of filters, which socket options set. */
static __always_inline bool is_message_call(void)
{
	const struct pt_regs *regs = entry_registers();
	__u32 number = call_number(regs);

	return !is_32bit_call(regs) && (number == NR_SENDTO || number == NR_SENDMSG);
}

/*
 * A user namespace that nobody has got into yet: who makes one says from outside who is who in it.
 */
static __always_inline bool is_without_map(__u64 user_namespace)
{
	return !read_u32(FIELD(struct user_namespace, user_namespace, uid_map.nr_extents)) ||
	       !read_u32(FIELD(struct user_namespace, user_namespace, gid_map.nr_extents));
}

/*
 * The kernel has said by now that `cred` has it there: in its own user namespace, in one below
 * that, or in one that its user has made. Of the last, others may be the user's as well: to those
 * nothing leads, but that they have been made and not mapped yet.
 */
static __always_inline bool is_own_capability(const struct subject *s, const struct cred *cred,
					      __u64 user_namespace, __u32 capability)
{
	__u64 user = read_u64(FIELD(struct cred, cred, user_ns));

	if (!has_own_namespaces(s) || capability >= 64 || !((OWN_CAPABILITIES >> capability) & 1) ||
	    !is_own_user_namespace(s, user_namespace))
		return false;
	if (!is_own_user_namespace(s, user))
		return (capability == CAP_SYS_ADMIN || capability == CAP_SETUID ||
			capability == CAP_SETGID) &&
		       is_without_map(user_namespace);
	if (capability == CAP_NET_ADMIN)
		return is_message_call();
	return capability != CAP_SYS_ADMIN || is_mount_attributes_call() || !is_host_call();
}

/*
 * Does the call make a network namespace, as far as can be told? The flags of clone3(2) are in
 * memory that another thread may change meanwhile.
 */
static __always_inline bool may_make_net_namespace(void)
{
	const struct pt_regs *regs = entry_registers();
	__u32 number = call_number(regs) & ~OTHER_ABI_BIT;

	if (is_32bit_call(regs) || number == NR_CLONE3)
		return true;
	return (number == NR_UNSHARE || number == NR_CLONE) &&
	       (CALL_ARGUMENT_0(regs) & CLONE_NEWNET);
}

/*
 * A network namespace takes 200 KB of the kernel's memory that no cgroup is charged for, and lives
 * as long as a descriptor leads to it. The kernel counts them by user, in each user namespace that
 * is above: here in the one that the execution began in.
 */
static __noinline bool holds_many_net_namespaces(const struct subject *s)
{
	const struct task_struct *task = read_task(bpf_get_current_task_btf());
	__u64 counts = (__u64)task->cred->ucounts, namespace;

	for (int i = 0; i < USER_NAMESPACES_MAX && counts; i++) {
		namespace = read_u64(FIELD(struct ucounts, counts, ns));
		if (namespace == s->execution->user_namespace)
			return read_u64(FIELD(struct ucounts, counts, ucount) +
					8ull * bpf_core_enum_value(enum ucount_type,
								   UCOUNT_NET_NAMESPACES)) >=
			       CORDON_MAX_NET_NAMESPACES;
		counts = read_u64(FIELD(struct user_namespace, namespace, ucounts));
	}
	return true;
}

/* A ceiling, in every user namespace and for every uid: what is not in it does not exist. */
SEC("lsm/capable")
int BPF_PROG(cordon_capable, const struct cred *cred, struct user_namespace *ns, int cap,
	     unsigned int opts, int ret)
{
	struct subject s;

	if (ret || kernel_acts_for_itself())
		return ret;
	ENTER(&s, ret);
	if (cap == CAP_SYS_ADMIN && may_make_net_namespace() && holds_many_net_namespaces(&s))
		return LEAVE(&s, deny_number(&s, CORDON_OP_CAPABLE, cap, CORDON_REASON_BUILTIN,
					     -EPERM));
	if ((__u32)cap < 64 && (s.policy->capabilities >> cap) & 1) {
		if (!((HOST_CAPABILITIES >> cap) & 1) || !is_host_call())
			return 0;
		return LEAVE(&s, deny_number(&s, CORDON_OP_CAPABLE, cap, CORDON_REASON_BUILTIN,
					     -EPERM));
	}
	if (is_own_capability(&s, cred, (__u64)ns, cap))
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

/* What an executor that is confined itself has started. */
static __always_inline bool is_started_by_current(struct task_struct *task)
{
	const struct label *label = label_of_address((__u64)task);
	const struct cordon_execution *execution = label ? execution_of(label) : 0;

	return execution && is_owner(execution);
}

SEC("lsm/task_kill")
int BPF_PROG(cordon_task_kill, struct task_struct *target, struct kernel_siginfo *info, int sig,
	     const struct cred *cred, int ret)
{
	struct subject s;

	/*
	 * `cred` is given when the signal is sent for somebody else (USB completion): to that very
	 * task, so it may count.
	 */
	if (!ret)
		note_signal(target, sig);
	ENTER(&s, ret);
	if ((s.policy->flags & CORDON_POLICY_SIGNAL_ANY) || is_own_task(&s, target) ||
	    is_started_by_current(target))
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
