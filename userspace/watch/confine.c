/* SPDX-License-Identifier: Apache-2.0 */
/* Capabilities, Landlock and seccomp of a watcher. */
#include "watch/confine.h"

#include <linux/landlock.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Listener, epoll, signals, timer, directories, clients, the daemon. */
#define FILES_MAX 64

/* --- Landlock ----------------------------------------------------------------------------- */

#define ACCESS_ABI_1 ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)

/* By the version of the interface; the headers at hand may be older than the kernel. */
#define ACCESS_REFER	 (1ull << 13) /* 2 */
#define ACCESS_TRUNCATE	 (1ull << 14) /* 3 */
#define ACCESS_IOCTL_DEV (1ull << 15) /* 5 */
#define NET_ALL		 3ull	      /* 4: bind and connect TCP */
#define SCOPE_ALL	 3ull	      /* 6: abstract sockets, signals */

struct ruleset {
	__u64 files, net, scoped;
};

static struct ruleset all_of(int version)
{
	return (struct ruleset){
		.files = ACCESS_ABI_1 | (version >= 2 ? ACCESS_REFER : 0) |
			 (version >= 3 ? ACCESS_TRUNCATE : 0) |
			 (version >= 5 ? ACCESS_IOCTL_DEV : 0),
		.net = version >= 4 ? NET_ALL : 0,
		.scoped = version >= 6 ? SCOPE_ALL : 0,
	};
}

static size_t size_of(int version)
{
	return version >= 6   ? sizeof(struct ruleset)
	       : version >= 4 ? offsetof(struct ruleset, scoped)
			      : offsetof(struct ruleset, net);
}

static int allow_below(int ruleset_fd, int directory_fd, __u64 access)
{
	const struct landlock_path_beneath_attr beneath = {
		.parent_fd = directory_fd,
		.allowed_access = access,
	};

	if (directory_fd < 0)
		return 0;
	return (int)syscall(SYS_landlock_add_rule, ruleset_fd, LANDLOCK_RULE_PATH_BENEATH, &beneath,
			    0);
}

static int restrict_files(const struct confine *confine)
{
	const __u64 write = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |
			    LANDLOCK_ACCESS_FS_MAKE_REG;
	int version =
		(int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	_cleanup_(closep) int fd = -1;
	struct ruleset all;

	if (version < 1)
		return 0;
	all = all_of(version);
	fd = (int)syscall(SYS_landlock_create_ruleset, &all, size_of(version), 0);
	if (fd < 0 || allow_below(fd, confine->directory_fd, write) < 0 ||
	    allow_below(fd, confine->socket_directory_fd, LANDLOCK_ACCESS_FS_REMOVE_FILE) < 0 ||
	    syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		return -errno;
	return 0;
}

/* --- system calls ------------------------------------------------------------------------- */

DEFINE_CLEANUP(scmp_filter_ctx, seccomp_release, contextp)

/* Clients, the daemon, the textfile, memory, clocks, and the end. */
static const char *const allowed[] = {
	"read",		 "readv",	 "write",	   "writev",	   "recvfrom",
	"recvmsg",	 "sendto",	 "sendmsg",	   "poll",	   "ppoll",
	"epoll_ctl",	 "epoll_wait",	 "epoll_pwait",	   "accept",	   "accept4",
	"connect",	 "shutdown",	 "setsockopt",	   "getsockopt",   "getsockname",
	"getpeername",	 "close",	 "fcntl",	   "fstat",	   "newfstatat",
	"lseek",	 "openat",	 "fchmod",	   "renameat",	   "renameat2",
	"unlinkat",	 "munmap",	 "mremap",	   "madvise",	   "brk",
	"futex",	 "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "restart_syscall",
	"clock_gettime", "gettimeofday", "getpid",	   "gettid",	   "getrandom",
	"exit",		 "exit_group",
};

static int allow(scmp_filter_ctx context, const char *name)
{
	int call = seccomp_syscall_resolve_name(name);

	/* Another architecture has fewer of them. */
	return call < 0 ? 0 : seccomp_rule_add(context, SCMP_ACT_ALLOW, call, 0);
}

/* Memory that is code. */
static int allow_no_code(scmp_filter_ctx context, int call)
{
	const struct scmp_arg_cmp plain = SCMP_CMP64(2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);

	return seccomp_rule_add_array(context, SCMP_ACT_ALLOW, call, 1, &plain);
}

static int restrict_calls(void)
{
	const struct scmp_arg_cmp unix_only = SCMP_CMP64(0, SCMP_CMP_EQ, AF_UNIX);
	_cleanup_(contextp) scmp_filter_ctx context = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int r = context ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(allowed); i++)
		r = allow(context, allowed[i]);
	if (r == 0)
		r = seccomp_rule_add_array(context, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
					   &unix_only);
	if (r == 0)
		r = allow_no_code(context, SCMP_SYS(mmap));
	if (r == 0)
		r = allow_no_code(context, SCMP_SYS(mprotect));
	return r < 0 ? r : seccomp_load(context);
}

/* --- all of it ---------------------------------------------------------------------------- */

static int drop_capabilities(void)
{
	cap_t none = cap_init();
	int r = none && cap_set_proc(none) == 0 ? 0 : -errno;

	if (none)
		(void)cap_free(none);
	return r;
}

static int limit(__rlimit_resource_t resource, rlim_t value)
{
	const struct rlimit limits = {value, value};

	return setrlimit(resource, &limits) < 0 ? -errno : 0;
}

int confine_enter(const struct confine *confine, struct failure *failure)
{
	int r = limit(RLIMIT_CORE, 0);

	if (r == 0)
		r = limit(RLIMIT_NOFILE, FILES_MAX);
	if (r == 0)
		r = drop_capabilities();
	if (r == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		r = -errno;
	if (r < 0)
		return failure_set(failure, r, "cannot give up privileges: %m");
	r = restrict_files(confine);
	if (r < 0)
		return failure_set(failure, r, "cannot restrict itself by Landlock: %m");
	r = restrict_calls();
	return r < 0 ? failure_set(failure, r, "cannot restrict its system calls: %m") : 0;
}
