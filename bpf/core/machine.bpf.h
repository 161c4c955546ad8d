/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Differences between processor architectures: number and entry of a system call, memory order. */
#ifndef CORDON_BPF_MACHINE_BPF_H
#define CORDON_BPF_MACHINE_BPF_H

/* From 424 on, all tables have the same numbers. */
#define NR_CLONE3	   435
#define NR_PROCESS_MADVISE 440
#define NR_MOUNT_SETATTR   442
#define NR_STATMOUNT	   457
#define NR_LISTMOUNT	   458
#define NR_OPEN_TREE_ATTR  467
#define NR_LISTNS	   470
#define NR_LAST_KNOWN	   472 /* fchroot(2); higher numbers are calls newer than this build */

static __always_inline const struct pt_regs *entry_registers(void)
{
	return (const struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
}

#if defined(__TARGET_ARCH_arm64)

/* include/uapi/asm-generic/unistd.h; arch/arm/tools/syscall.tbl */
#define NR_MADVISE	   233
#define NR_EXECVE	   221
#define NR_EXECVEAT	   281
#define NR_CONNECT	   203
#define NR_ACCT		   89
#define NR_VHANGUP	   58
#define NR_SWAPON	   224
#define NR_SWAPOFF	   225
#define NR_REBOOT	   142
#define NR_DELETE_MODULE   106
#define NR_SENDTO	   206
#define NR_CLONE	   220
#define NR_UNSHARE	   97
#define NR_SENDMSG	   211
#define NR32_ACCT	   51
#define NR32_VHANGUP	   111
#define NR32_SWAPON	   87
#define NR32_SWAPOFF	   115
#define NR32_REBOOT	   88
#define NR32_DELETE_MODULE 129
#define NR32_MADVISE	   220
#define HOST_CALLS(X)	   X(ACCT) X(VHANGUP) X(SWAPON) X(SWAPOFF) X(REBOOT) X(DELETE_MODULE) X(MADVISE)
#define OTHER_ABI_BIT	   0 /* arm64 has only these two ABIs */

/* arch/arm64/include/uapi/asm/ptrace.h */
#define PSR_MODE32_BIT 0x10u

static __always_inline __u32 call_number(const struct pt_regs *regs)
{
	return (__u32)regs->syscallno;
}

static __always_inline __s64 call_result(const struct pt_regs *regs)
{
	return (__s64)regs->regs[0];
}

static __always_inline bool is_32bit_call(const struct pt_regs *regs)
{
	return regs->pstate & PSR_MODE32_BIT;
}

#define CALL_ARGUMENT_0(regs) ((regs)->orig_x0)
#define CALL_ARGUMENT_1(regs) ((regs)->regs[1])
#define CALL_ARGUMENT_2(regs) ((regs)->regs[2])

/*
 * Full memory barrier. BPF has no instruction for a barrier alone. An atomic instruction that
 * returns the old value acquires and releases in all JIT compilers of the kernel.
 */
static __always_inline void order(void)
{
	__u64 word = 0, *at = &word;

	asm volatile("" : "+r"(at) : : "memory");
	__sync_val_compare_and_swap(at, 0, 1);
	asm volatile("" : : : "memory");
}

#elif defined(__TARGET_ARCH_x86)

/* arch/x86/entry/syscalls/ */
#define NR_MADVISE	   28
#define NR_EXECVE	   59
#define NR_EXECVEAT	   322
#define NR_CONNECT	   42
#define NR_ACCT		   163
#define NR_VHANGUP	   153
#define NR_SWAPON	   167
#define NR_SWAPOFF	   168
#define NR_REBOOT	   169
#define NR_IOPL		   172
#define NR_IOPERM	   173
#define NR_DELETE_MODULE   176
#define NR_SENDTO	   44
#define NR_CLONE	   56
#define NR_UNSHARE	   272
#define NR_SENDMSG	   46
#define NR32_ACCT	   51
#define NR32_VHANGUP	   111
#define NR32_SWAPON	   87
#define NR32_REBOOT	   88
#define NR32_IOPERM	   101
#define NR32_IOPL	   110
#define NR32_SWAPOFF	   115
#define NR32_DELETE_MODULE 129
#define NR32_MADVISE	   219
#define HOST_CALLS(X)                                                                              \
	X(ACCT)                                                                                    \
	X(VHANGUP) X(SWAPON) X(SWAPOFF) X(REBOOT) X(DELETE_MODULE) X(MADVISE) X(IOPL) X(IOPERM)
#define OTHER_ABI_BIT 0x40000000u /* x32 */

/* arch/x86/include/asm/thread_info.h */
#define TS_COMPAT     0x2u

static __always_inline __u32 call_number(const struct pt_regs *regs)
{
	return (__u32)regs->orig_ax;
}

static __always_inline __s64 call_result(const struct pt_regs *regs)
{
	return (__s64)regs->ax;
}

static __always_inline bool is_32bit_call(const struct pt_regs *regs)
{
	return bpf_get_current_task_btf()->thread_info.status & TS_COMPAT;
}

#define CALL_ARGUMENT_0(regs) ((regs)->di)
#define CALL_ARGUMENT_1(regs) ((regs)->si)
#define CALL_ARGUMENT_2(regs) ((regs)->dx)

/* Compiler barrier. x86 does not reorder reads with reads, nor writes with writes. */
static __always_inline void order(void)
{
	asm volatile("" : : : "memory");
}

#else
#error "for which processor?"
#endif

#endif
