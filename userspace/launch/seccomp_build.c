/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the system call filter of an execution with libseccomp. */
#include "launch/seccomp.h"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/newer_calls.h"
#include "bpf/pure/system_calls.h"
#include "launch/seccomp_values.h"

#define CLONE_NEWTIME_FLAG 0x80u /* in clone(2) these bits are the exit signal */
#define EMPTY_MOUNTS_FLAG                                                                          \
	0x00100000u /* UNSHARE_EMPTY_MNTNS: CLONE_NEWNS goes with it unsaid; of clone(2) another */
#define INT_MASK 0xffffffffu

DEFINE_CLEANUP(scmp_filter_ctx, seccomp_release, contextp)

/*
 * Denies a call with EPERM, as without privilege, or with the error that programs expect: after
 * ENOSYS, programs that prefer io_uring fall back.
 */
static int refuse(scmp_filter_ctx context, int call, int error)
{
	/* A call that this architecture lacks cannot be made. */
	if (call == __NR_SCMP_ERROR)
		return 0;
	return seccomp_rule_add(context, SCMP_ACT_ERRNO((unsigned int)error), call, 0);
}

static int call_number(const char *name)
{
	int newer = newer_call_number(name);

	return newer >= 0 ? newer : seccomp_syscall_resolve_name(name);
}

static int refuse_each(scmp_filter_ctx context, const char *const *names, int error)
{
	int r = 0;

	for (; r == 0 && *names; names++)
		r = refuse(context, call_number(*names), error);
	return r;
}

/* Denies a call if the bits `mask` of the argument equal `value`. */
static int refuse_masked(scmp_filter_ctx context, int call, unsigned int argument, uint64_t mask,
			 uint64_t value, int error)
{
	const struct scmp_arg_cmp compare = SCMP_CMP64(argument, SCMP_CMP_MASKED_EQ, mask, value);

	return seccomp_rule_add_array(context, SCMP_ACT_ERRNO((unsigned int)error), call, 1,
				      &compare);
}

static int refuse_namespaces(scmp_filter_ctx context)
{
	static const unsigned int flags[] = {CLONE_NEWNS,  CLONE_NEWCGROUP, CLONE_NEWUTS,
					     CLONE_NEWIPC, CLONE_NEWUSER,   CLONE_NEWPID,
					     CLONE_NEWNET};
	int r = refuse_masked(context, SCMP_SYS(unshare), 0, CLONE_NEWTIME_FLAG, CLONE_NEWTIME_FLAG,
			      EPERM);

	if (r == 0)
		r = refuse_masked(context, SCMP_SYS(unshare), 0, EMPTY_MOUNTS_FLAG,
				  EMPTY_MOUNTS_FLAG, EPERM);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(flags); i++) {
		r = refuse_masked(context, SCMP_SYS(unshare), 0, flags[i], flags[i], EPERM);
		if (r == 0)
			r = refuse_masked(context, SCMP_SYS(clone), 0, flags[i], flags[i], EPERM);
	}
	return r;
}

/* The kernel uses only the lower half of these arguments, and so does the filter. */
static int refuse_terminal_input(scmp_filter_ctx context)
{
	int r = refuse_masked(context, SCMP_SYS(ioctl), 1, INT_MASK, TIOCSTI, EPERM);

	return r < 0 ? r : refuse_masked(context, SCMP_SYS(ioctl), 1, INT_MASK, TIOCLINUX, EPERM);
}

#define NAME(call) #call,

/*
 * Hooks would also deny these calls, and log them. They are filtered only if the policy requests
 * it.
 */
static int add_guarded(scmp_filter_ctx context, const struct policy_system_calls *calls)
{
	static const char *const always[] = {CORDON_SYSTEM_CALLS_GUARDED(NAME) NULL};
	static const char *const mounts[] = {CORDON_SYSTEM_CALLS_GUARDED_MOUNTS(NAME) NULL};
	static const char *const tracing[] = {CORDON_SYSTEM_CALLS_GUARDED_TRACING(NAME) NULL};
	int r = refuse_each(context, always, EPERM);

	if (r == 0)
		r = refuse_terminal_input(context);
	if (r == 0 && !calls->mounts)
		r = refuse_each(context, mounts, EPERM);
	if (r == 0 && !calls->mounts)
		r = refuse_namespaces(context);
	if (r == 0 && !calls->tracing)
		r = refuse_each(context, tracing, EPERM);
	return r;
}

static int add_rules(scmp_filter_ctx context, const struct policy_system_calls *calls)
{
	static const char *const always[] = {CORDON_SYSTEM_CALLS_UNSEEN(NAME) NULL};
	static const char *const mounts[] = {CORDON_SYSTEM_CALLS_UNSEEN_MOUNTS(NAME) NULL};
	static const char *const io_uring[] = {CORDON_SYSTEM_CALLS_IO_URING(NAME) NULL};
	int r = refuse_each(context, always, EPERM);

	if (r == 0 && !calls->mounts)
		r = refuse_each(context, mounts, EPERM);
	if (r == 0 && !calls->io_uring)
		r = refuse_each(context, io_uring, ENOSYS);
	if (r == 0 && !calls->guarded)
		r = add_guarded(context, calls);
	return r;
}

#undef NAME

/* libseccomp appends its program to the descriptor, after the values already written. */
static int export(scmp_filter_ctx context, const struct policy_system_calls *calls, int *ret_fd)
{
	_cleanup_(closep) int fd = memfd_create("cordon-seccomp", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct sock_filter values[SECCOMP_VALUES_MAX];
	size_t size = seccomp_values_build(calls, values) * sizeof(values[0]);
	int r;

	if (fd < 0)
		return -errno;
	r = io_write_all(fd, values, size);
	if (r == 0)
		r = seccomp_export_bpf(context, fd);
	if (r < 0)
		return r;
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -errno;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int seccomp_filter_build(const struct policy_system_calls *calls, int *ret_fd,
			 struct failure *failure)
{
	_cleanup_(contextp) scmp_filter_ctx context = NULL;
	int r;

	if (calls->all) {
		*ret_fd = -1;
		return 0;
	}
	context = seccomp_init(SCMP_ACT_ALLOW);
	if (!context)
		return -ENOMEM;
	/* Other ABIs (i386, x32) offer the same functions under other numbers. */
	r = seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
	/* A binary tree: at installation the kernel runs the program once for each call number. */
	if (r == 0)
		r = seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (r == 0)
		r = add_rules(context, calls);
	if (r == 0)
		r = export(context, calls, ret_fd);
	if (r < 0)
		return failure_set(failure, r, "cannot build the seccomp filter: %m");
	return 0;
}
