/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seccomp filter of an execution: system calls that agent code has no use for are refused
 * before any of their code runs. It makes the kernel that can be reached smaller and nothing else:
 * what a policy promises is kept by the hooks, with or without it.
 *
 * Refusals are errors that programs know how to handle, and the kernel's side reports each
 * (bpf/hooks/system_call.bpf.h). clone3(2) passes: its flags lie in memory, where no filter can see
 * them, and glibc starts threads with it.
 */
#ifndef CORDON_LAUNCH_SECCOMP_H
#define CORDON_LAUNCH_SECCOMP_H

#include <linux/filter.h>

#include "base/failure.h"
#include "policy/ask/system_calls.h"

/*
 * Builds the filter into a sealed memfd, the caller's to close: it takes a while, so that
 * executions under one policy share it. -1 with calls->all: there is to be none. -ENOMEM; -errno of
 * libseccomp's, with `failure`.
 */
int seccomp_filter_build(const struct policy_system_calls *calls, int *ret_fd,
			 struct failure *failure);

/*
 * Maps what was built, for the child to inherit; fd -1: an empty program. -EBADMSG: it holds no
 * program; -errno of fstat(2), mmap(2).
 */
int seccomp_filter_map(int fd, struct sock_fprog *ret_program);
void seccomp_filter_unmap(struct sock_fprog *program);

/*
 * For the child, async-signal-safe, after no_new_privs; an empty program is none. -errno of
 * seccomp(2).
 */
int seccomp_filter_install(const struct sock_fprog *program);

/*
 * The same, after that: a second filter for who has a file of others' to append to. The kernel
 * offers two ways to what stands there that no hook tells from appending: fallocate(2) with
 * anything but more room, and RWF_NOAPPEND of pwritev2(2). Both stand in registers. In rings of
 * requests they stand in memory, so that none is made.
 */
int seccomp_keep_appending(void);

#endif
