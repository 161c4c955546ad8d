/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What the seccomp filter of an execution refused never reaches a hook: reported from where the
 * kernel leaves the filters (kernel/seccomp.c). Decides nothing. Every system call of every process
 * with a filter comes by, so that this is attached only once a policy asks for it.
 */
#ifndef CORDON_BPF_HOOK_SYSTEM_CALL_BPF_H
#define CORDON_BPF_HOOK_SYSTEM_CALL_BPF_H

#include <asm/unistd.h>

#include "bpf/core/decide.bpf.h"
#include "bpf/core/machine.bpf.h"
#include "bpf/pure/system_calls.h"

/* Not those that only a filter made inside the execution refuses: they are its own affair. */
static __always_inline bool is_refused_by_launcher(__u64 number)
{
#define CASE(name) case __NR_##name:
	switch (number) {
		CORDON_SYSTEM_CALLS(CASE)
		return true;
	default:
		/* Another ABI: refused as a whole. */
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

/*
 * What it is called since Linux 7.1. Of a bool that is returned, the lowest byte alone is defined.
 */
SEC("?fexit/__seccomp_permit_syscall")
int BPF_PROG(cordon_system_call_permit, __u8 permitted)
{
	return permitted ? 0 : report_refused();
}

#endif
