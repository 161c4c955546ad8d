/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The system calls that the seccomp filter of an execution denies, always or for some arguments:
 * see userspace/launch/seccomp.c. Logs of denied calls use this list to exclude calls that only a
 * filter installed by the code itself denied.
 */
#ifndef CORDON_BPF_SYSTEM_CALLS_H
#define CORDON_BPF_SYSTEM_CALLS_H

/*
 * Headers of the build host may be older than the kernel. From 424 on, all architectures have the
 * same numbers.
 */
#ifndef __NR_open_tree_attr
#define __NR_open_tree_attr 467
#endif
#ifndef __NR_listns
#define __NR_listns 470
#endif

/* Calls that arm64 does not have. */
#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
#define CORDON_X86_CALL(X, name)
#else
#define CORDON_X86_CALL(X, name) X(name)
#endif

/* Calls that agent code does not need, and that run much kernel code before any hook. */
#define CORDON_SYSTEM_CALLS_UNSEEN(X)                                                              \
	X(userfaultfd)                                                                             \
	X(name_to_handle_at)                                                                       \
	X(fanotify_init)                                                                           \
	X(fanotify_mark)                                                                           \
	X(quotactl)                                                                                \
	X(quotactl_fd)                                                                             \
	X(lookup_dcookie)                                                                          \
	CORDON_X86_CALL(X, modify_ldt)                                                             \
	CORDON_X86_CALL(X, uselib)                                                                 \
	CORDON_X86_CALL(X, ustat)                                                                  \
	CORDON_X86_CALL(X, sysfs)                                                                  \
	CORDON_X86_CALL(X, _sysctl)                                                                \
	X(nfsservctl)                                                                              \
	CORDON_X86_CALL(X, create_module)                                                          \
	CORDON_X86_CALL(X, get_kernel_syms)                                                        \
	CORDON_X86_CALL(X, query_module)                                                           \
	X(listns)

/* The same for mounts and namespaces, unless the policy allows namespaces. */
#define CORDON_SYSTEM_CALLS_UNSEEN_MOUNTS(X)                                                       \
	X(open_tree)                                                                               \
	X(open_tree_attr)                                                                          \
	X(mount_setattr)                                                                           \
	X(fsopen)                                                                                  \
	X(fsconfig)                                                                                \
	X(fspick)                                                                                  \
	X(setns)

/*
 * Asynchronous requests in shared memory. Contexts of io_setup(2) also count against one limit for
 * the whole host (fs.aio-max-nr).
 */
#define CORDON_SYSTEM_CALLS_IO_URING(X)                                                            \
	X(io_uring_setup)                                                                          \
	X(io_uring_enter)                                                                          \
	X(io_uring_register)                                                                       \
	X(io_setup)

/* Denied early by a hook or a missing capability, so that only a strict filter contains them. */
#define CORDON_SYSTEM_CALLS_GUARDED(X)                                                             \
	X(kexec_load)                                                                              \
	X(kexec_file_load)                                                                         \
	X(init_module)                                                                             \
	X(finit_module)                                                                            \
	X(delete_module)                                                                           \
	X(bpf)                                                                                     \
	X(perf_event_open)                                                                         \
	X(acct)                                                                                    \
	X(swapon)                                                                                  \
	X(swapoff)                                                                                 \
	X(reboot)                                                                                  \
	CORDON_X86_CALL(X, iopl)                                                                   \
	CORDON_X86_CALL(X, ioperm)                                                                 \
	X(vhangup)                                                                                 \
	X(settimeofday)                                                                            \
	X(clock_settime)                                                                           \
	X(adjtimex)                                                                                \
	X(clock_adjtime)                                                                           \
	X(open_by_handle_at)                                                                       \
	X(move_pages)                                                                              \
	X(migrate_pages)                                                                           \
	X(add_key)                                                                                 \
	X(request_key)                                                                             \
	X(keyctl)

#define CORDON_SYSTEM_CALLS_GUARDED_MOUNTS(X)                                                      \
	X(mount)                                                                                   \
	X(umount2)                                                                                 \
	X(pivot_root)                                                                              \
	X(move_mount)                                                                              \
	X(fsmount)

/* Access to the memory of other processes, unless the policy allows tracing own processes. */
#define CORDON_SYSTEM_CALLS_GUARDED_TRACING(X)                                                     \
	X(ptrace)                                                                                  \
	X(process_vm_readv)                                                                        \
	X(process_vm_writev)                                                                       \
	X(process_madvise)                                                                         \
	X(kcmp)

/* Denied for some arguments. */
#define CORDON_SYSTEM_CALLS_PARTLY(X)                                                              \
	X(clone)                                                                                   \
	X(unshare)                                                                                 \
	X(socket)                                                                                  \
	X(socketpair)                                                                              \
	X(ioctl)                                                                                   \
	X(personality)                                                                             \
	X(pwritev2)                                                                                \
	X(fallocate)

#define CORDON_SYSTEM_CALLS(X)                                                                     \
	CORDON_SYSTEM_CALLS_UNSEEN(X)                                                              \
	CORDON_SYSTEM_CALLS_UNSEEN_MOUNTS(X)                                                       \
	CORDON_SYSTEM_CALLS_IO_URING(X)                                                            \
	CORDON_SYSTEM_CALLS_GUARDED(X)                                                             \
	CORDON_SYSTEM_CALLS_GUARDED_MOUNTS(X)                                                      \
	CORDON_SYSTEM_CALLS_GUARDED_TRACING(X)                                                     \
	CORDON_SYSTEM_CALLS_PARTLY(X)

/* In an event, a call's number has this bit if the call used the 32-bit entry. */
#define CORDON_SYSTEM_CALL_32BIT (1ull << 32)

#endif
