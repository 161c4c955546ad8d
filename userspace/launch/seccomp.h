/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seccomp filter of an execution. It denies system calls that agent code does not need before
 * their code runs. It only reduces the reachable kernel code: a policy's guarantees are enforced by
 * the LSM hooks, with or without the filter.
 *
 * Denied calls fail with errors that programs handle, and the BPF programs log each one
 * (bpf/hooks/system_call.bpf.h). clone3(2) is permitted, because glibc creates threads with it; its
 * flags are in memory, where a filter cannot read them.
 */
#ifndef CORDON_LAUNCH_SECCOMP_H
#define CORDON_LAUNCH_SECCOMP_H

#include <linux/filter.h>

#include "base/failure.h"
#include "policy/ask/system_calls.h"

/*
 * Builds the filter into a sealed memfd, which the caller closes. Building takes long, so that
 * executions with the same policy share it. With calls->all there is no filter and *ret_fd is -1.
 * Returns 0, -ENOMEM, or the -ERRNO of libseccomp, with *failure set.
 */
int seccomp_filter_build(const struct policy_system_calls *calls, int *ret_fd,
			 struct failure *failure);

/*
 * Maps a built filter for the child to inherit; fd -1: an empty program. Returns 0, -EBADMSG if it
 * contains no program, or the -ERRNO of fstat(2) or mmap(2).
 */
int seccomp_filter_map(int fd, struct sock_fprog *ret_program);
void seccomp_filter_unmap(struct sock_fprog *program);

/*
 * Installs the filter in the child after no_new_privs; async-signal-safe. An empty program means no
 * filter. Returns 0 or the -ERRNO of seccomp(2).
 */
int seccomp_filter_install(const struct sock_fprog *program);

/*
 * Installs a second filter for a child that has another user's file open for appending. Two calls
 * can modify existing bytes of such a file, and no hook can distinguish them from appending:
 * fallocate(2) other than for more space, and pwritev2(2) with RWF_NOAPPEND. The filter checks
 * their arguments in registers. Requests in rings are in memory, so it denies the creation of
 * rings. Returns as seccomp_filter_install().
 */
int seccomp_keep_appending(void);

#endif
