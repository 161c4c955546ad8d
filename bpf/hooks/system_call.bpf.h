/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Logs system calls that the execution's seccomp filter denied. No LSM hook sees them, so this
 * program runs where the kernel leaves the filters (kernel/seccomp.c). It decides nothing. It runs
 * for every system call of every process with a filter, and is therefore attached only once a
 * policy requires it.
 */
#ifndef CORDON_BPF_HOOK_SYSTEM_CALL_BPF_H
#define CORDON_BPF_HOOK_SYSTEM_CALL_BPF_H

#include <asm/unistd.h>

#include "bpf/core/decide.bpf.h"
#include "bpf/core/machine.bpf.h"
#include "bpf/pure/system_calls.h"

/*
 * Excludes calls that only a filter installed inside the execution denies: they are no concern of
 * the policy.
 */
static __always_inline bool is_refused_by_launcher(__u64 number)
{
#define CASE(name) case __NR_##name:
	switch (number) {
		CORDON_SYSTEM_CALLS(CASE)
		return true;
	default:
		/* A call of another ABI: the launcher's filter denies them all. */
		return number & (CORDON_SYSTEM_CALL_32BIT | OTHER_ABI_BIT);
	}
#undef CASE
}

static __always_inline int report_refused(void)
{
	const struct pt_regs *regs;
	struct subject s;
	__u64 number;
	__s64 error;

	if (subject_get(&s) != SUBJECT_EXECUTION)
		return 0;
	if (CORDON_AUDIT_LEVEL(s.policy->audit, CALLS) == CORDON_AUDIT_NONE)
		goto out;
	regs = entry_registers();
	number = call_number(regs);
	if (is_32bit_call(regs))
		number |= CORDON_SYSTEM_CALL_32BIT;
	error = call_result(regs);
	if (is_refused_by_launcher(number))
		deny_number_at_exit(&s, CORDON_OP_SYSTEM_CALL, number, CORDON_REASON_DEFAULT,
				    error < 0 && error > -MAX_ERRNO ? error : -EPERM);
out:
	subject_put(&s);
	return 0;
}

SEC("?fexit/__secure_computing")
int BPF_PROG(cordon_system_call, const struct seccomp_data *data, int ret)
{
	return ret ? report_refused() : 0;
}

/* The function's name since Linux 7.1. Only the lowest byte of a returned bool is defined. */
SEC("?fexit/__seccomp_permit_syscall")
int BPF_PROG(cordon_system_call_permit, __u8 permitted)
{
	return permitted ? 0 : report_refused();
}

#endif
