/* SPDX-License-Identifier: Apache-2.0 */
/* Confines the watcher with dropped capabilities, Landlock and seccomp. */
#include "watch/confine.h"

#include <stddef.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/call_filter.h"
#include "base/cleanup.h"
#include "base/landlock.h"

/* Listener, epoll, signals, timer, directories, clients, the daemon. */
#define FILES_MAX 64

/* --- Landlock ----------------------------------------------------------------------------- */

static int allow_below(const struct landlock *landlock, int directory_fd, uint64_t access)
{
	return directory_fd < 0 ? 0 : landlock_allow_beneath(landlock, directory_fd, access);
}

static int restrict_files(const struct confine *confine)
{
	const uint64_t write = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |
			       LANDLOCK_ACCESS_FS_MAKE_REG;
	_cleanup_(landlock_closep) struct landlock landlock = {.fd = -1};
	int r = landlock_new(true, &landlock);

	if (r == 0)
		r = allow_below(&landlock, confine->directory_fd, write);
	if (r == 0)
		r = allow_below(&landlock, confine->socket_directory_fd,
				LANDLOCK_ACCESS_FS_REMOVE_FILE);
	return r < 0 ? r : landlock_enter(&landlock);
}

/* --- system calls ------------------------------------------------------------------------- */

/* Clients, the daemon, the textfile, memory, clocks, and exit. */
static const char *const allowed[] = {
	"read",		 "readv",	   "write",	   "writev",
	"recvfrom",	 "recvmsg",	   "sendto",	   "sendmsg",
	"poll",		 "ppoll",	   "epoll_ctl",	   "epoll_wait",
	"epoll_pwait",	 "accept",	   "accept4",	   "connect",
	"shutdown",	 "setsockopt",	   "getsockopt",   "getsockname",
	"getpeername",	 "close",	   "fcntl",	   "fstat",
	"newfstatat",	 "lseek",	   "openat",	   "fchmod",
	"renameat",	 "renameat2",	   "unlinkat",	   "munmap",
	"mremap",	 "madvise",	   "brk",	   "futex",
	"rt_sigaction",	 "rt_sigprocmask", "rt_sigreturn", "restart_syscall",
	"clock_gettime", "gettimeofday",   "getpid",	   "gettid",
	"getrandom",	 "exit",	   "exit_group",   NULL,
};

static int restrict_calls(void)
{
	_cleanup_(call_filter_freep) scmp_filter_ctx filter = NULL;
	int r = call_filter_new(allowed, &filter);

	if (r == 0)
		r = call_filter_allow_family(filter, AF_UNIX);
	return r < 0 ? r : seccomp_load(filter);
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
