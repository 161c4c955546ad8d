/* SPDX-License-Identifier: Apache-2.0 */
/* The words that records use for the numbers of bpf/abi.h and of the kernel. */
#include "audit/record/names.h"

#include <linux/capability.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/newer_calls.h"
#include "bpf/pure/system_calls.h"

#define X32_BIT 0x40000000u

#ifdef __aarch64__
#define ARCH_32BIT SCMP_ARCH_ARM
#define NAME_32BIT " (arm)"
#else
#define ARCH_32BIT SCMP_ARCH_X86
#define NAME_32BIT " (i386)"
#endif

#define LOOKUP(table, index) ((index) < ARRAY_SIZE(table) ? (table)[index] : NULL)

const char *name_of_operation(uint32_t operation)
{
	static const char *const names[CORDON_OP_COUNT] = {
		[CORDON_OP_NONE] = "none",
		[CORDON_OP_OPEN] = "open",
		[CORDON_OP_TRUNCATE] = "truncate",
		[CORDON_OP_CREATE] = "create",
		[CORDON_OP_MKDIR] = "mkdir",
		[CORDON_OP_MKNOD] = "mknod",
		[CORDON_OP_SYMLINK] = "symlink",
		[CORDON_OP_LINK] = "link",
		[CORDON_OP_RENAME] = "rename",
		[CORDON_OP_UNLINK] = "unlink",
		[CORDON_OP_RMDIR] = "rmdir",
		[CORDON_OP_CHMOD] = "chmod",
		[CORDON_OP_CHOWN] = "chown",
		[CORDON_OP_SETATTR] = "setattr",
		[CORDON_OP_SETXATTR] = "setxattr",
		[CORDON_OP_EXEC] = "exec",
		[CORDON_OP_MMAP] = "mmap",
		[CORDON_OP_MPROTECT] = "mprotect",
		[CORDON_OP_SOCKET] = "socket",
		[CORDON_OP_CONNECT] = "connect",
		[CORDON_OP_SEND] = "send",
		[CORDON_OP_BIND] = "bind",
		[CORDON_OP_LISTEN] = "listen",
		[CORDON_OP_CAPABLE] = "capable",
		[CORDON_OP_SIGNAL] = "signal",
		[CORDON_OP_TRACE] = "trace",
		[CORDON_OP_USERNS] = "userns",
		[CORDON_OP_MOUNT] = "mount",
		[CORDON_OP_CHROOT] = "chroot",
		[CORDON_OP_BPF] = "bpf",
		[CORDON_OP_PERF] = "perf",
		[CORDON_OP_IO_URING] = "io_uring",
		[CORDON_OP_IPC] = "ipc",
		[CORDON_OP_KEYRING] = "keyring",
		[CORDON_OP_SCHED] = "sched",
		[CORDON_OP_IOCTL] = "ioctl",
		[CORDON_OP_KERNEL_LOAD] = "kernel-load",
		[CORDON_OP_RECEIVE] = "receive",
		[CORDON_OP_FORK] = "fork",
		[CORDON_OP_SETEXEC] = "setexec",
		[CORDON_OP_SYSTEM_CALL] = "system-call",
		[CORDON_OP_METADATA] = "metadata",
		[CORDON_OP_PACKET] = "packet",
		[CORDON_OP_RESOLVE] = "resolve",
		[CORDON_OP_LOOKUP] = "lookup",
	};

	return LOOKUP(names, operation);
}

const char *name_of_right(uint32_t right)
{
	static const char *const names[CORDON_RIGHT_COUNT] = {
		[CORDON_READ] = "read",
		[CORDON_WRITE] = "write",
		[CORDON_CREATE] = "create",
		[CORDON_DELETE] = "delete",
		[CORDON_METADATA] = "metadata",
		[CORDON_RUN] = "run",
		[CORDON_MAP] = "map",
		[CORDON_UNIX_CONNECT] = "unix-connect",
		[CORDON_UNIX_BIND] = "unix-bind",
		[CORDON_NET_CONNECT] = "connect",
		[CORDON_NET_BIND] = "bind",
		[CORDON_NET_LISTEN] = "listen",
		[CORDON_SOCKET] = "socket",
		[CORDON_NET_HOST] = "host",
		[CORDON_SPECIAL] = "special",
		[CORDON_LINKS] = "links",
	};

	return LOOKUP(names, right);
}

const char *name_of_reason(uint32_t reason)
{
	static const char *const names[CORDON_REASON_COUNT] = {
		[CORDON_REASON_DEFAULT] = "default",
		[CORDON_REASON_RULE] = "rule",
		[CORDON_REASON_WIDENS] = "widens",
		[CORDON_REASON_UNRESOLVED] = "unresolved",
		[CORDON_REASON_UNKNOWN] = "unknown",
		[CORDON_REASON_BUILTIN] = "builtin",
		[CORDON_REASON_FOREIGN] = "foreign",
		[CORDON_REASON_ENDING] = "ending",
		[CORDON_REASON_HOST] = "host",
		[CORDON_REASON_CHANGED] = "changed",
		[CORDON_REASON_PERMISSIONS] = "permissions",
	};

	return LOOKUP(names, reason);
}

const char *name_of_object_kind(uint32_t kind)
{
	static const char *const names[CORDON_OBJECT_COUNT] = {
		[CORDON_OBJECT_NONE] = "none",	     [CORDON_OBJECT_PATH] = "path",
		[CORDON_OBJECT_SPECIAL] = "special", [CORDON_OBJECT_NET] = "net",
		[CORDON_OBJECT_SOCKET] = "socket",   [CORDON_OBJECT_ABSTRACT] = "abstract",
		[CORDON_OBJECT_NUMBER] = "number",   [CORDON_OBJECT_PROCESS] = "process",
		[CORDON_OBJECT_HOST] = "host",
	};

	return LOOKUP(names, kind);
}

const char *name_of_counter(uint32_t counter)
{
	static const char *const names[CORDON_COUNTER_COUNT] = {
		[CORDON_COUNTER_UNKNOWN_EXECUTION] = "unknown_execution",
		[CORDON_COUNTER_UNRESOLVED] = "unresolved",
		[CORDON_COUNTER_TOO_DEEP] = "too_deep",
		[CORDON_COUNTER_RENAME_RACE] = "rename_race",
		[CORDON_COUNTER_LABEL_FALLBACK] = "label_fallback",
		[CORDON_COUNTER_SCRATCH_EXHAUSTED] = "scratch_exhausted",
		[CORDON_COUNTER_LABEL_EXHAUSTED] = "label_exhausted",
		[CORDON_COUNTER_NO_POLICY] = "no_policy",
		[CORDON_COUNTER_CRITICAL_DROPPED] = "critical_dropped",
		[CORDON_COUNTER_ACTIVITY_DROPPED] = "activity_dropped",
		[CORDON_COUNTER_FORK_REFUSED] = "fork_refused",
		[CORDON_COUNTER_BAD_TABLE] = "bad_table",
		[CORDON_COUNTER_PACKET_UNOWNED] = "packet_unowned",
		[CORDON_COUNTER_LABEL_BUSY] = "label_busy",
		[CORDON_COUNTER_DNS_UNSERVED] = "dns_unserved",
		[CORDON_COUNTER_CREDENTIALS_EXHAUSTED] = "credentials_exhausted",
	};

	return LOOKUP(names, counter);
}

const char *name_of_code_source(enum audit_code_source source)
{
	static const char *const names[] = {
		[AUDIT_CODE_NONE] = "none",
		[AUDIT_CODE_FILE] = "file",
		[AUDIT_CODE_ARGUMENT] = "argument",
		[AUDIT_CODE_STDIN] = "stdin",
	};

	return LOOKUP(names, (uint32_t)source);
}

const char *name_of_end_cause(enum audit_end_cause cause)
{
	static const char *const names[] = {
		[AUDIT_END_EXITED] = "exited",	       [AUDIT_END_SIGNALED] = "signaled",
		[AUDIT_END_TIMEOUT] = "timeout",       [AUDIT_END_DENIALS] = "denials",
		[AUDIT_END_OWNER_GONE] = "owner-gone", [AUDIT_END_KILLED] = "killed",
		[AUDIT_END_RECOVERED] = "recovered",   [AUDIT_END_NOT_STARTED] = "not-started",
		[AUDIT_END_CANCELLED] = "cancelled",
	};

	return LOOKUP(names, (uint32_t)cause);
}

const char *name_of_limit(enum audit_limit limit)
{
	static const char *const names[] = {
		[AUDIT_LIMIT_MEMORY] = "memory",
		[AUDIT_LIMIT_PIDS] = "pids",
		[AUDIT_LIMIT_CPU_TIME] = "cpu-time",
		[AUDIT_LIMIT_FILE_SIZE] = "file-size",
		[AUDIT_LIMIT_SYSTEM_CALLS] = "system-calls",
	};

	return LOOKUP(names, (uint32_t)limit);
}

const char *name_of_approval_decision(enum audit_approval_decision decision)
{
	static const char *const names[] = {
		[AUDIT_APPROVAL_GRANTED] = "granted", [AUDIT_APPROVAL_REFUSED] = "refused",
		[AUDIT_APPROVAL_REVOKED] = "revoked", [AUDIT_APPROVAL_EXPIRED] = "expired",
		[AUDIT_APPROVAL_USED] = "used",
	};

	return LOOKUP(names, (uint32_t)decision);
}

const char *name_of_capability(uint64_t capability)
{
#define CAPABILITY(name) [name] = #name
	static const char *const names[] = {
		CAPABILITY(CAP_CHOWN),
		CAPABILITY(CAP_DAC_OVERRIDE),
		CAPABILITY(CAP_DAC_READ_SEARCH),
		CAPABILITY(CAP_FOWNER),
		CAPABILITY(CAP_FSETID),
		CAPABILITY(CAP_KILL),
		CAPABILITY(CAP_SETGID),
		CAPABILITY(CAP_SETUID),
		CAPABILITY(CAP_SETPCAP),
		CAPABILITY(CAP_LINUX_IMMUTABLE),
		CAPABILITY(CAP_NET_BIND_SERVICE),
		CAPABILITY(CAP_NET_BROADCAST),
		CAPABILITY(CAP_NET_ADMIN),
		CAPABILITY(CAP_NET_RAW),
		CAPABILITY(CAP_IPC_LOCK),
		CAPABILITY(CAP_IPC_OWNER),
		CAPABILITY(CAP_SYS_MODULE),
		CAPABILITY(CAP_SYS_RAWIO),
		CAPABILITY(CAP_SYS_CHROOT),
		CAPABILITY(CAP_SYS_PTRACE),
		CAPABILITY(CAP_SYS_PACCT),
		CAPABILITY(CAP_SYS_ADMIN),
		CAPABILITY(CAP_SYS_BOOT),
		CAPABILITY(CAP_SYS_NICE),
		CAPABILITY(CAP_SYS_RESOURCE),
		CAPABILITY(CAP_SYS_TIME),
		CAPABILITY(CAP_SYS_TTY_CONFIG),
		CAPABILITY(CAP_MKNOD),
		CAPABILITY(CAP_LEASE),
		CAPABILITY(CAP_AUDIT_WRITE),
		CAPABILITY(CAP_AUDIT_CONTROL),
		CAPABILITY(CAP_SETFCAP),
		CAPABILITY(CAP_MAC_OVERRIDE),
		CAPABILITY(CAP_MAC_ADMIN),
		CAPABILITY(CAP_SYSLOG),
		CAPABILITY(CAP_WAKE_ALARM),
		CAPABILITY(CAP_BLOCK_SUSPEND),
		CAPABILITY(CAP_AUDIT_READ),
		CAPABILITY(CAP_PERFMON),
		CAPABILITY(CAP_BPF),
		CAPABILITY(CAP_CHECKPOINT_RESTORE),
	};
#undef CAPABILITY

	return LOOKUP(names, capability);
}

const char *name_of_family(uint32_t family)
{
	static const char *const names[] = {
		[AF_UNIX] = "unix",	  [AF_INET] = "inet",	  [AF_INET6] = "inet6",
		[AF_NETLINK] = "netlink", [AF_PACKET] = "packet", [AF_BLUETOOTH] = "bluetooth",
		[AF_CAN] = "can",	  [AF_TIPC] = "tipc",	  [AF_ALG] = "alg",
		[AF_VSOCK] = "vsock",	  [AF_KCM] = "kcm",	  [AF_QIPCRTR] = "qipcrtr",
		[AF_XDP] = "xdp",
	};

	return LOOKUP(names, family);
}

const char *name_of_socket_type(uint32_t type)
{
	static const char *const names[] = {
		[SOCK_STREAM] = "stream", [SOCK_DGRAM] = "dgram",	  [SOCK_RAW] = "raw",
		[SOCK_RDM] = "rdm",	  [SOCK_SEQPACKET] = "seqpacket",
	};

	return LOOKUP(names, type);
}

const char *name_of_protocol(uint32_t protocol)
{
	switch (protocol) {
	case IPPROTO_ICMP:
		return "icmp";
	case IPPROTO_TCP:
		return "tcp";
	case IPPROTO_UDP:
		return "udp";
	case IPPROTO_ICMPV6:
		return "icmpv6";
	case IPPROTO_SCTP:
		return "sctp";
	case IPPROTO_UDPLITE:
		return "udplite";
	default:
		return NULL;
	}
}

const char *name_of_error(int error)
{
	const char *name = strerrorname_np(error < 0 ? -error : error);

	return name ? name : "unknown";
}

const char *name_of_signal(int number)
{
	static _Thread_local char name[24];
	const char *short_name = sigabbrev_np(number);

	if (!short_name)
		return NULL;
	snprintf(name, sizeof(name), "SIG%s", short_name);
	return name;
}

const char *name_of_system_call(uint64_t number)
{
	static _Thread_local char text[64];
	_cleanup_(freep) char *name = NULL;
	const char *abi = "", *newer;
	uint32_t arch = seccomp_arch_native();

	if (number & CORDON_SYSTEM_CALL_32BIT) {
		arch = ARCH_32BIT;
		abi = NAME_32BIT;
	} else if (number & X32_BIT && arch == SCMP_ARCH_X86_64) {
		arch = SCMP_ARCH_X32;
		abi = " (x32)";
	}
	name = seccomp_syscall_resolve_num_arch(arch, (int)(uint32_t)number);
	newer = newer_call_name((int)((uint32_t)number & ~X32_BIT));
	if (!name && !newer)
		return NULL;
	snprintf(text, sizeof(text), "%.40s%s", name ? name : newer, abi);
	return text;
}
