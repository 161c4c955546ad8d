/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A seccomp filter of the system calls that are allowed; all others, and memory that is code, are
 * EPERM.
 */
#ifndef CORDON_BASE_CALL_FILTER_H
#define CORDON_BASE_CALL_FILTER_H

#include <seccomp.h>
#include <stddef.h>

#include "base/cleanup.h"

DEFINE_CLEANUP(scmp_filter_ctx, seccomp_release, call_filter_freep)

/*
 * `names`: NULL-terminated; those that the architecture lacks are passed over. mmap(2) and
 * mprotect(2) are allowed without PROT_EXEC. To be freed by call_filter_freep(). -ENOMEM, or what
 * libseccomp answers.
 */
int call_filter_new(const char *const *names, scmp_filter_ctx *ret_filter);

/* Sockets of an address family. What libseccomp answers. */
int call_filter_allow_family(scmp_filter_ctx filter, int family);

/* New threads, and no new processes. What libseccomp answers. */
int call_filter_allow_threads(scmp_filter_ctx filter);

#endif
