/* SPDX-License-Identifier: Apache-2.0 */
/* Gives up the capabilities, calls and files that the daemon has no need of. */
#include "daemon/privsep/confine.h"

#include <linux/capability.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

DEFINE_CLEANUP(scmp_filter_ctx, seccomp_release, contextp)

/*
 * The last one is needed for giving up the others. CAP_SYS_NICE stays: before Linux 6.6, moving a
 * process of root's to a cgroup asks for it where the cpuset controller is on. CAP_SYSLOG stays:
 * addresses of the kernel's variables, without which no program is loaded, are told to nobody else;
 * syslog(2) itself is denied below.
 */
static const int dropped[] = {
	CAP_SYS_MODULE,	     CAP_SYS_RAWIO,
	CAP_SYS_BOOT,	     CAP_SYS_TIME,
	CAP_SYS_PACCT,	     CAP_SYS_TTY_CONFIG,
	CAP_MKNOD,	     CAP_SETFCAP,
	CAP_LINUX_IMMUTABLE, CAP_LEASE,
	CAP_AUDIT_CONTROL,   CAP_AUDIT_READ,
	CAP_AUDIT_WRITE,     CAP_MAC_ADMIN,
	CAP_MAC_OVERRIDE,    CAP_WAKE_ALARM,
	CAP_BLOCK_SUSPEND,   CAP_NET_BROADCAST,
	CAP_NET_RAW,	     CAP_IPC_OWNER,
	CAP_IPC_LOCK,	     CAP_CHECKPOINT_RESTORE,
	CAP_SETPCAP,
};

/*
 * Other code for the kernel, other namespaces and mounts, other processes' memory, the clock, keys.
 */
static const char *const denied[] = {
	"init_module",
	"finit_module",
	"delete_module",
	"kexec_load",
	"kexec_file_load",
	"reboot",
	"swapon",
	"swapoff",
	"mount",
	"umount2",
	"pivot_root",
	"move_mount",
	"open_tree",
	"fsopen",
	"fsconfig",
	"fsmount",
	"fspick",
	"mount_setattr",
	"setns",
	"unshare",
	"process_vm_readv",
	"process_vm_writev",
	"process_madvise",
	"userfaultfd",
	"perf_event_open",
	"io_uring_setup",
	"io_uring_enter",
	"io_uring_register",
	"open_by_handle_at",
	"add_key",
	"request_key",
	"keyctl",
	"settimeofday",
	"clock_settime",
	"clock_adjtime",
	"adjtimex",
	"iopl",
	"ioperm",
	"modify_ldt",
	"acct",
	"quotactl",
	"quotactl_fd",
	"personality",
	"sethostname",
	"setdomainname",
	"vhangup",
	"syslog",
	NULL,
};

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	for (size_t i = 0; i < ARRAY_SIZE(dropped); i++)
		/* EINVAL: this kernel has no such capability. */
		if (prctl(PR_CAPBSET_DROP, dropped[i], 0, 0, 0) < 0 && errno != EINVAL)
			return -errno;
	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	for (size_t i = 0; i < ARRAY_SIZE(dropped); i++) {
		struct __user_cap_data_struct *part = &data[CAP_TO_INDEX(dropped[i])];
		uint32_t others = ~(uint32_t)CAP_TO_MASK(dropped[i]);

		part->effective &= others;
		part->permitted &= others;
		part->inheritable &= others;
	}
	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

/* Of ptrace(2) there is what initial_stack_move() asks for, which has three numbers in a row. */
_Static_assert(PTRACE_SETREGSET == PTRACE_GETREGSET + 1 && PTRACE_SEIZE == PTRACE_GETREGSET + 2,
	       "requests of ptrace(2) between GETREGSET and SEIZE are allowed");

static int deny_calls(void)
{
	_cleanup_(contextp) scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
	int r = context ? 0 : -ENOMEM;

	for (const char *const *name = denied; r == 0 && *name; name++) {
		int call = seccomp_syscall_resolve_name(*name);

		/* Another architecture has fewer of them. */
		if (call >= 0)
			r = seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), call, 0);
	}
	if (r == 0)
		r = seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ptrace), 1,
				     SCMP_A0(SCMP_CMP_LT, PTRACE_GETREGSET));
	if (r == 0)
		r = seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ptrace), 1,
				     SCMP_A0(SCMP_CMP_GT, PTRACE_SEIZE));
	return r < 0 ? r : seccomp_load(context);
}

int confine_daemon(struct failure *failure)
{
	int r = drop_capabilities();

	if (r < 0)
		return failure_set(failure, r, "cannot give up capabilities: %m");
	/* The filter comes with no_new_privs: nothing that the daemon starts gains any. */
	r = deny_calls();
	return r < 0 ? failure_set(failure, r, "cannot install a seccomp filter: %m") : 0;
}
