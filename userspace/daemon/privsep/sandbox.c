/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/privsep/sandbox.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

DEFINE_CLEANUP(scmp_filter_ctx, seccomp_release, contextp)

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
	struct ruleset all = {.files = ACCESS_ABI_1};

	if (version >= 2)
		all.files |= ACCESS_REFER;
	if (version >= 3)
		all.files |= ACCESS_TRUNCATE;
	if (version >= 4)
		all.net = NET_ALL;
	if (version >= 5)
		all.files |= ACCESS_IOCTL_DEV;
	if (version >= 6)
		all.scoped = SCOPE_ALL;
	return all;
}

static size_t size_of(int version)
{
	return version >= 6   ? sizeof(struct ruleset)
	       : version >= 4 ? offsetof(struct ruleset, scoped)
			      : offsetof(struct ruleset, net);
}

static __u64 writing(int version)
{
	__u64 access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
		       LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
		       LANDLOCK_ACCESS_FS_MAKE_REG;

	return version >= 3 ? access | ACCESS_TRUNCATE : access;
}

/* A kernel without it leaves the rest of the sandbox. */
static int restrict_files(int directory_fd, bool writes)
{
	int version =
		(int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	struct landlock_path_beneath_attr beneath = {.parent_fd = directory_fd};
	_cleanup_(closep) int fd = -1;
	struct ruleset all;

	if (version < 1)
		return 0;
	all = all_of(version);
	beneath.allowed_access = writing(version);
	fd = (int)syscall(SYS_landlock_create_ruleset, &all, size_of(version), 0);
	if (fd < 0 ||
	    (writes &&
	     syscall(SYS_landlock_add_rule, fd, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) < 0) ||
	    syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		return -errno;
	return 0;
}

/* --- system calls ------------------------------------------------------------------------- */

static int allow(scmp_filter_ctx context, const char *name)
{
	int call = seccomp_syscall_resolve_name(name);

	/* Another architecture has fewer of them. */
	return call < 0 ? 0 : seccomp_rule_add(context, SCMP_ACT_ALLOW, call, 0);
}

/* Where none of the bits `mask` in argument `argument` is set. */
static int allow_without(scmp_filter_ctx context, int call, unsigned int argument, uint64_t mask)
{
	const struct scmp_arg_cmp compare = SCMP_CMP64(argument, SCMP_CMP_MASKED_EQ, mask, 0);

	return seccomp_rule_add_array(context, SCMP_ACT_ALLOW, call, 1, &compare);
}

static int allow_threads(scmp_filter_ctx context)
{
	const struct scmp_arg_cmp thread =
		SCMP_CMP64(0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD);
	int r = seccomp_rule_add_array(context, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, &thread);

	/* A filter cannot look at its flags: the C library then takes clone(2). */
	return r < 0 ? r : seccomp_rule_add(context, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

static int restrict_calls(const struct sandbox *sandbox)
{
	_cleanup_(contextp) scmp_filter_ctx context = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int r = context ? 0 : -ENOMEM;

	for (const char *const *name = sandbox->calls; r == 0 && *name; name++)
		r = allow(context, *name);
	if (r == 0)
		r = allow_without(context, SCMP_SYS(mmap), 2, PROT_EXEC);
	if (r == 0)
		r = allow_without(context, SCMP_SYS(mprotect), 2, PROT_EXEC);
	if (r == 0 && sandbox->threads)
		r = allow_threads(context);
	return r < 0 ? r : seccomp_load(context);
}

/* --- all of it ---------------------------------------------------------------------------- */

static int limit(__rlimit_resource_t resource, rlim_t value)
{
	const struct rlimit limits = {value, value};

	return setrlimit(resource, &limits) < 0 ? -errno : 0;
}

static int become(uid_t uid, gid_t gid)
{
	if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return -errno;
	/* That took the capabilities as well; it would not for a user id of 0. */
	return geteuid() == 0 || setuid(0) == 0 ? -EPERM : 0;
}

int sandbox_enter(const struct sandbox *sandbox, struct failure *failure)
{
	int r;

	if (fchdir(sandbox->root_fd) < 0 || chroot(".") < 0)
		return failure_set(failure, errno, "cannot change the root: %m");
	r = limit(RLIMIT_CORE, 0);
	if (r == 0)
		r = limit(RLIMIT_NOFILE, sandbox->files);
	if (r < 0)
		return failure_set(failure, r, "cannot set limits: %m");
	r = become(sandbox->uid, sandbox->gid);
	if (r < 0)
		return failure_set(failure, r, "cannot become user %u: %m", sandbox->uid);
	/* Changing the user cleared it, but says nothing about the next kernel. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return failure_set(failure, errno, "cannot give up new privileges: %m");
	r = restrict_files(sandbox->root_fd, sandbox->writes);
	if (r < 0)
		return failure_set(failure, r, "cannot restrict itself by Landlock: %m");
	r = restrict_calls(sandbox);
	return r < 0 ? failure_set(failure, r, "cannot install a seccomp filter: %m") : 0;
}
