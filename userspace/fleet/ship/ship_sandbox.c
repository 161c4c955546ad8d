/* SPDX-License-Identifier: Apache-2.0 */
/* Capabilities, Landlock and seccomp of the shipper. */
#include "fleet/ship/ship_sandbox.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <netdb.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

DEFINE_CLEANUP(scmp_filter_ctx, seccomp_release, contextp)

/* --- capabilities --------------------------------------------------------------------------- */

static int drop_capabilities(void)
{
	cap_t none = cap_init();
	int r;

	if (!none)
		return -ENOMEM;
	/* Those that it may take again, first. It may lack the capability to, and then has none to lose. */
	for (cap_value_t c = 0; cap_get_bound(c) >= 0; c++)
		(void)cap_drop_bound(c);
	(void)cap_reset_ambient();
	r = cap_set_proc(none) < 0 ? -errno : 0;
	cap_free(none);
	return r;
}

/* --- Landlock ------------------------------------------------------------------------------- */

#define ACCESS_ABI_1 ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)

/* By the version of the interface; the headers at hand may be older than the kernel. */
#define ACCESS_REFER	 (1ull << 13) /* 2 */
#define ACCESS_TRUNCATE	 (1ull << 14) /* 3 */
#define NET_ALL		 3ull	      /* 4: bind and connect TCP */
#define NET_CONNECT	 2ull
#define RULE_NET_PORT	 2
#define ACCESS_IOCTL_DEV (1ull << 15) /* 5 */
#define SCOPE_ALL	 3ull	      /* 6: abstract sockets, signals */

struct ruleset {
	__u64 files, net, scoped;
};

struct port_rule {
	__u64 access, port;
};

#define READING (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITING                                                                                    \
	(READING | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |                \
	 LANDLOCK_ACCESS_FS_MAKE_REG)

static int allow_beneath(int ruleset, const char *path, __u64 access, bool must_exist)
{
	_cleanup_(closep) int fd = open(path, O_PATH | O_CLOEXEC);
	struct landlock_path_beneath_attr rule = {.allowed_access = access, .parent_fd = fd};
	struct stat status;

	if (fd < 0)
		return must_exist ? -errno : 0;
	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISDIR(status.st_mode))
		rule.allowed_access &= LANDLOCK_ACCESS_FS_READ_FILE;
	return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0
		       ? -errno
		       : 0;
}

static int allow_port(int ruleset, uint16_t port)
{
	const struct port_rule rule = {NET_CONNECT, port};

	return syscall(SYS_landlock_add_rule, ruleset, RULE_NET_PORT, &rule, 0) < 0 ? -errno : 0;
}

static int make_ruleset(int version, bool one_port)
{
	const struct ruleset all = {
		.files = ACCESS_ABI_1 | (version >= 2 ? ACCESS_REFER : 0) |
			 (version >= 3 ? ACCESS_TRUNCATE : 0) |
			 (version >= 5 ? ACCESS_IOCTL_DEV : 0),
		.net = version >= 4 && one_port ? NET_ALL : 0,
		.scoped = version >= 6 ? SCOPE_ALL : 0,
	};
	size_t size = version >= 6   ? sizeof(all)
		      : version >= 4 ? offsetof(struct ruleset, scoped)
				     : offsetof(struct ruleset, net);
	int fd = (int)syscall(SYS_landlock_create_ruleset, &all, size, 0);

	return fd < 0 ? -errno : fd;
}

/* What resolving a name, and trusting a certificate, reads. */
static const char *const system_files[] = {
	"/etc/resolv.conf", "/etc/hosts",    "/etc/nsswitch.conf",   "/etc/host.conf",
	"/etc/gai.conf",    "/etc/services", "/etc/localtime",	     "/etc/ssl",
	"/usr/lib",	    "/lib",	     "/run/systemd/resolve", NULL,
};

static int restrict_files(const struct ship_sandbox *sandbox)
{
	int version =
		(int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	_cleanup_(closep) int fd = -1;
	int r;

	if (version < 1)
		return 0;
	fd = make_ruleset(version, sandbox->port != 0);
	if (fd < 0)
		return fd;
	r = allow_beneath(fd, sandbox->log, READING, true);
	if (r == 0)
		r = allow_beneath(fd, sandbox->state,
				  version >= 3 ? WRITING | ACCESS_TRUNCATE : WRITING, true);
	for (size_t i = 0; r == 0 && system_files[i]; i++)
		r = allow_beneath(fd, system_files[i], READING, false);
	for (size_t i = 0; r == 0 && sandbox->files[i]; i++)
		r = allow_beneath(fd, sandbox->files[i], READING, true);
	if (r == 0 && version >= 4 && sandbox->port != 0)
		r = allow_port(fd, sandbox->port);
	/* Name servers that answer at length. */
	if (r == 0 && version >= 4 && sandbox->port != 0)
		r = allow_port(fd, 53);
	if (r == 0 && syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		r = -errno;
	return r;
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

static int allow(scmp_filter_ctx context, const char *name)
{
	int call = seccomp_syscall_resolve_name(name);

	/* Another architecture has fewer of them. */
	return call < 0 ? 0 : seccomp_rule_add(context, SCMP_ACT_ALLOW, call, 0);
}

static int allow_without_exec(scmp_filter_ctx context, int call)
{
	const struct scmp_arg_cmp compare = SCMP_CMP64(2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);

	return seccomp_rule_add_array(context, SCMP_ACT_ALLOW, call, 1, &compare);
}

static int allow_threads(scmp_filter_ctx context)
{
	const struct scmp_arg_cmp thread =
		SCMP_CMP64(0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD);
	const struct scmp_arg_cmp naming = SCMP_CMP64(0, SCMP_CMP_EQ, PR_SET_NAME);
	int r = seccomp_rule_add_array(context, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, &thread);

	if (r == 0)
		r = seccomp_rule_add_array(context, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1, &naming);
	/* A filter cannot look at its flags: the C library then takes clone(2). */
	return r < 0 ? r : seccomp_rule_add(context, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

/* The internet, and local sockets and netlink for resolving names. */
static int allow_sockets(scmp_filter_ctx context)
{
	static const int families[] = {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(families); i++) {
		const struct scmp_arg_cmp family =
			SCMP_CMP64(0, SCMP_CMP_EQ, (scmp_datum_t)families[i]);

		r = seccomp_rule_add_array(context, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1, &family);
	}
	return r;
}

static int restrict_calls(void)
{
	_cleanup_(contextp) scmp_filter_ctx context = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int r = context ? 0 : -ENOMEM;

	for (const char *const *name = allowed; r == 0 && *name; name++)
		r = allow(context, *name);
	if (r == 0)
		r = allow_without_exec(context, SCMP_SYS(mmap));
	if (r == 0)
		r = allow_without_exec(context, SCMP_SYS(mprotect));
	if (r == 0)
		r = allow_sockets(context);
	if (r == 0)
		r = allow_threads(context);
	return r < 0 ? r : seccomp_load(context);
}

/* --- all of it -------------------------------------------------------------------------------- */

/* The C library loads what names are resolved with while it can. */
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
