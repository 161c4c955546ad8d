/* SPDX-License-Identifier: Apache-2.0 */
/* What a log's writer gives up before it touches the log. */
#include "daemon/privsep/writer_sandbox.h"

#include <stddef.h>

#include "daemon/privsep/sandbox.h"

/* Segments, the lock, the key, a pipe or two. */
#define FILES_MAX 64

/* Files below the directory, memory, the thread that compresses, clocks, and how all that ends. */
static const char *const allowed[] = {
	"read",
	"readv",
	"pread64",
	"write",
	"writev",
	"pwrite64",
	"recvfrom",
	"sendto",
	"poll",
	"ppoll",
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
	"lseek",
	"fcntl",
	"ftruncate",
	"fallocate",
	"fdatasync",
	"fsync",
	"rename",
	"renameat",
	"renameat2",
	"unlink",
	"unlinkat",
	"mkdir",
	"mkdirat",
	"access",
	"faccessat",
	"faccessat2",
	"getdents64",
	"utimensat",
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
	"geteuid",
	"getuid",
	"getrandom",
	"exit",
	"exit_group",
	NULL,
};

int writer_sandbox_enter(int directory_fd, uid_t uid, gid_t gid, struct failure *failure)
{
	const struct sandbox sandbox = {
		.root_fd = directory_fd,
		.writes = true,
		.threads = true,
		.uid = uid,
		.gid = gid,
		.files = FILES_MAX,
		.calls = allowed,
	};

	return sandbox_enter(&sandbox, failure);
}
