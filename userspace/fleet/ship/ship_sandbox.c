/* SPDX-License-Identifier: Apache-2.0 */
/* Sandboxes the shipper with dropped capabilities, Landlock and seccomp. */
#include "fleet/ship/ship_sandbox.h"

#include <fcntl.h>
#include <netdb.h>
#include <stddef.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/call_filter.h"
#include "base/cleanup.h"
#include "base/landlock.h"

#define DNS_PORT 53

/* --- capabilities --------------------------------------------------------------------------- */

static int drop_capabilities(void)
{
	cap_t none = cap_init();
	int r;

	if (!none)
		return -ENOMEM;
	/*
	 * Drop the bounding set first, because that requires CAP_SETPCAP. A process without
	 * capabilities fails here and has none to drop.
	 */
	for (cap_value_t c = 0; cap_get_bound(c) >= 0; c++)
		(void)cap_drop_bound(c);
	(void)cap_reset_ambient();
	r = cap_set_proc(none) < 0 ? -errno : 0;
	cap_free(none);
	return r;
}

/* --- Landlock ------------------------------------------------------------------------------- */

static int allow_name(const struct landlock *landlock, const char *path, uint64_t access)
{
	_cleanup_(closep) int fd = open(path, O_PATH | O_CLOEXEC);

	return fd < 0 ? -errno : landlock_allow_beneath(landlock, fd, access);
}

/* Files read for resolving names and for verifying certificates. */
static const char *const system_files[] = {
	"/etc/resolv.conf", "/etc/hosts",    "/etc/nsswitch.conf",   "/etc/host.conf",
	"/etc/gai.conf",    "/etc/services", "/etc/localtime",	     "/etc/ssl",
	"/usr/lib",	    "/lib",	     "/run/systemd/resolve", NULL,
};

static int allow_ports(const struct landlock *landlock, uint16_t port)
{
	int r = landlock_allow_connect(landlock, port);

	/* DNS over TCP, for responses that do not fit into a datagram. */
	return r < 0 ? r : landlock_allow_connect(landlock, DNS_PORT);
}

static int restrict_files(const struct ship_sandbox *sandbox)
{
	_cleanup_(landlock_closep) struct landlock landlock = {.fd = -1};
	int r = landlock_new(sandbox->port != 0, &landlock);

	if (r == 0)
		r = allow_name(&landlock, sandbox->log, LANDLOCK_READING);
	if (r == 0)
		r = allow_name(&landlock, sandbox->state, landlock_writing(&landlock));
	/* A system may lack some of these, or deny access to them. */
	for (size_t i = 0; r == 0 && system_files[i]; i++)
		(void)allow_name(&landlock, system_files[i], LANDLOCK_READING);
	for (size_t i = 0; r == 0 && sandbox->files[i]; i++)
		r = allow_name(&landlock, sandbox->files[i], LANDLOCK_READING);
	if (r == 0)
		r = allow_ports(&landlock, sandbox->port);
	return r < 0 ? r : landlock_enter(&landlock);
}

/* --- system calls --------------------------------------------------------------------------- */

static const char *const allowed[] = {
	"read",
	"pread64",
	"readv",
	"write",
	"writev",
	"recvfrom",
	"recvmsg",
	"recvmmsg",
	"sendto",
	"sendmsg",
	"sendmmsg",
	"connect",
	"bind",
	"shutdown",
	"getsockopt",
	"setsockopt",
	"getsockname",
	"getpeername",
	"poll",
	"ppoll",
	"select",
	"pselect6",
	"epoll_create1",
	"epoll_ctl",
	"epoll_wait",
	"epoll_pwait",
	"eventfd2",
	"pipe2",
	"ioctl",
	"close",
	"open",
	"openat",
	"fstat",
	"stat",
	"lstat",
	"newfstatat",
	"statx",
	"statfs",
	"fstatfs",
	"readlink",
	"readlinkat",
	"access",
	"faccessat",
	"faccessat2",
	"getdents64",
	"getcwd",
	"lseek",
	"fcntl",
	"fsync",
	"fdatasync",
	"ftruncate",
	"rename",
	"renameat",
	"renameat2",
	"unlink",
	"unlinkat",
	"munmap",
	"mremap",
	"madvise",
	"brk",
	"futex",
	"set_robust_list",
	"rseq",
	"sched_yield",
	"sched_getaffinity",
	"rt_sigaction",
	"rt_sigprocmask",
	"rt_sigreturn",
	"sigaltstack",
	"restart_syscall",
	"clock_gettime",
	"clock_nanosleep",
	"nanosleep",
	"gettimeofday",
	"getpid",
	"gettid",
	"getuid",
	"geteuid",
	"getgid",
	"getegid",
	"getrandom",
	"uname",
	"sysinfo",
	"prlimit64",
	"exit",
	"exit_group",
	NULL,
};

/* The internet, and for resolving names local sockets and netlink. */
static const int families[] = {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK};

static int allow_thread_names(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp naming = SCMP_CMP64(0, SCMP_CMP_EQ, PR_SET_NAME);

	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1, &naming);
}

static int restrict_calls(void)
{
	_cleanup_(call_filter_freep) scmp_filter_ctx filter = NULL;
	int r = call_filter_new(allowed, &filter);

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(families); i++)
		r = call_filter_allow_family(filter, families[i]);
	if (r == 0)
		r = call_filter_allow_threads(filter);
	if (r == 0)
		r = allow_thread_names(filter);
	return r < 0 ? r : seccomp_load(filter);
}

/*
 * --- entering ----------------------------------------------------------------------------------
 */

/* Make the C library load its NSS modules now, because the sandbox denies it later. */
static void warm_up(void)
{
	struct addrinfo *found = NULL;

	if (getaddrinfo("localhost", NULL, NULL, &found) == 0)
		freeaddrinfo(found);
}

int ship_sandbox_enter(const struct ship_sandbox *sandbox, struct failure *failure)
{
	int r;

	warm_up();
	r = drop_capabilities();
	if (r < 0)
		return failure_set(failure, r, "cannot give up capabilities: %m");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return failure_set(failure, errno, "cannot give up new privileges: %m");
	r = restrict_files(sandbox);
	if (r < 0)
		return failure_set(failure, r, "cannot restrict itself by Landlock: %m");
	r = restrict_calls();
	return r < 0 ? failure_set(failure, r, "cannot install a seccomp filter: %m") : 0;
}
