/* SPDX-License-Identifier: Apache-2.0 */
/* Builds seccomp filters from names of system calls, with libseccomp. */
#include "base/call_filter.h"

#include <sched.h>
#include <stdint.h>
#include <sys/mman.h>

static int allow(scmp_filter_ctx filter, const char *name)
{
	int call = seccomp_syscall_resolve_name(name);

	return call < 0 ? 0 : seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0);
}

static int allow_without_exec(scmp_filter_ctx filter, int call)
{
	const struct scmp_arg_cmp plain = SCMP_CMP64(2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);

	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, 1, &plain);
}

int call_filter_new(const char *const *names, scmp_filter_ctx *ret_filter)
{
	_cleanup_(call_filter_freep) scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int r = filter ? 0 : -ENOMEM;

	for (const char *const *name = names; r == 0 && *name; name++)
		r = allow(filter, *name);
	if (r == 0)
		r = allow_without_exec(filter, SCMP_SYS(mmap));
	if (r == 0)
		r = allow_without_exec(filter, SCMP_SYS(mprotect));
	if (r == 0)
		*ret_filter = TAKE_PTR(filter);
	return r;
}

int call_filter_allow_family(scmp_filter_ctx filter, int family)
{
	const struct scmp_arg_cmp same = SCMP_CMP64(0, SCMP_CMP_EQ, (scmp_datum_t)family);

	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1, &same);
}

int call_filter_allow_threads(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp thread =
		SCMP_CMP64(0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD);
	int r = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, &thread);

	/*
	 * A filter cannot read its flags in memory. ENOSYS makes the C library use clone(2)
	 * instead.
	 */
	return r < 0 ? r : seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}
