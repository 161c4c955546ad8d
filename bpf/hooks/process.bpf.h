/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Checks on access to other processes, and on privilege. */
#ifndef CORDON_BPF_HOOK_PROCESS_BPF_H
#define CORDON_BPF_HOOK_PROCESS_BPF_H

#include "bpf/core/asked.bpf.h"
#include "bpf/core/decide.bpf.h"
#include "bpf/core/credentials.bpf.h"
#include "bpf/core/machine.bpf.h"
#include "bpf/core/own_namespaces.bpf.h"

/*
 * System calls that reach the host's objects, have no hook, and check a capability. For them the
 * capability is denied whatever the policy grants, and whatever their arguments are. Unknown calls
 * count as such calls, because their effects were not examined.
 */
static __always_inline bool is_host_call(void)
{
	const struct pt_regs *regs = entry_registers();
	__u32 number = call_number(regs) & ~OTHER_ABI_BIT;

	/* With the capability they list the mounts of other namespaces, or the namespaces. */
	if (number == NR_STATMOUNT || number == NR_LISTMOUNT || number == NR_LISTNS)
		return true;
	/*
	 * Since Linux 6.15, CAP_PERFMON gives access to the memory map of another process without
	 * the ptrace hook. Numbers below 0 are no system call: the task handles a fault, or is a
	 * kernel thread.
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

/*
 * mount_setattr(2) changes mounts of the task's own namespace only, and no mount flags that the
 * kernel has locked.
 */
static __always_inline bool is_mount_attributes_call(void)
{
	return (call_number(entry_registers()) & ~OTHER_ABI_BIT) == NR_MOUNT_SETATTR;
}

#define HOST_CAPABILITIES                                                                          \
	(1ull << CAP_SYS_MODULE | 1ull << CAP_SYS_RAWIO | 1ull << CAP_SYS_PACCT |                  \
	 1ull << CAP_SYS_ADMIN | 1ull << CAP_SYS_BOOT | 1ull << CAP_SYS_TTY_CONFIG |               \
	 1ull << CAP_PERFMON)

/*
 * Capabilities that sandboxes use in user namespaces that they create. There they only reach
 * objects of these namespaces (CORDON_POLICY_OWN_NAMESPACES).
 *
 * Left out are capabilities that sandboxes do not need and that expose much of the kernel: tracing,
 * raw packets, devices, file capabilities, BPF. So are capabilities that have a use only in the
 * initial user namespace.
 */
#define OWN_CAPABILITIES                                                                           \
	(1ull << CAP_CHOWN | 1ull << CAP_DAC_OVERRIDE | 1ull << CAP_DAC_READ_SEARCH |              \
	 1ull << CAP_FOWNER | 1ull << CAP_FSETID | 1ull << CAP_KILL | 1ull << CAP_SETGID |         \
	 1ull << CAP_SETUID | 1ull << CAP_SETPCAP | 1ull << CAP_NET_BIND_SERVICE |                 \
	 1ull << CAP_NET_ADMIN | 1ull << CAP_IPC_OWNER | 1ull << CAP_SYS_CHROOT |                  \
	 1ull << CAP_SYS_ADMIN)

/*
 * CAP_NET_ADMIN is allowed only for netlink messages: rules grant their protocols. Socket options,
 * which set filter tables, also require this capability.
 */
static __always_inline bool is_message_call(void)
{
	const struct pt_regs *regs = entry_registers();
	__u32 number = call_number(regs);

	return !is_32bit_call(regs) && (number == NR_SENDTO || number == NR_SENDMSG);
}

/*
 * Is this a user namespace without mappings? Its creator writes them from outside before a task can
 * use it.
 */
static __always_inline bool is_without_map(__u64 user_namespace)
{
	return !read_u32(FIELD(struct user_namespace, user_namespace, uid_map.nr_extents)) ||
	       !read_u32(FIELD(struct user_namespace, user_namespace, gid_map.nr_extents));
}

/*
 * Called after the kernel found that `cred` has the capability in `user_namespace`. That is the
 * namespace of `cred`, one below it, or one that the user of `cred` created. In the last case, it
 * may be another process's of the same user. Then the capability is only allowed in a namespace
 * without mappings, as a new one is.
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
 * May the call create a network namespace? For clone3(2) this is assumed, because its flags are in
 * memory that another thread may change.
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
 * Limits network namespaces: each takes 200 KB of kernel memory that no cgroup is charged for. It
 * exists as long as a descriptor refers to it. The kernel counts them per user, in each user
 * namespace above. The count in the user namespace where the execution began is checked.
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

/* The policy's capabilities are a ceiling in every user namespace and for every uid. */
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
	/*
	 * The kernel probes for the capability without an audit record: deny it, but do not count
	 * it.
	 */
	if (opts & CAP_OPT_NOAUDIT)
		return observes(&s) ? 0 : -EPERM;
	return LEAVE(&s, deny_number(&s, CORDON_OP_CAPABLE, cap, CORDON_REASON_DEFAULT, -EPERM));
}

static __always_inline bool is_own_task(const struct subject *s, struct task_struct *task)
{
	const struct label *target = label_of_address((__u64)task);

	return target && same_label(target, &s->label);
}

/* Is the current process a confined executor that started this task? */
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
	 * `cred` is set if the kernel sends the signal on behalf of a task (USB completion). The
	 * signal goes to that same task, so the check below is harmless.
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

/* Runs for ptrace, process_vm_*, pidfd_getfd and /proc/PID/{mem,environ,maps,fd,root,cwd,...}. */
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
 * Limits of another task: a CPU limit of zero kills it. The hook has credentials only. Threads
 * share theirs, and a task's own limits do not reach the hook (check_prlimit_permission()).
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

/* A new user namespace gives its creator every capability. */
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
