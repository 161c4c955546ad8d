/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A seccomp filter with a list of permitted system calls. Other calls, and executable memory, fail
 * with EPERM.
 */
#ifndef CORDON_BASE_CALL_FILTER_H
#define CORDON_BASE_CALL_FILTER_H

#include <seccomp.h>
#include <stddef.h>

#include "base/cleanup.h"

DEFINE_CLEANUP(scmp_filter_ctx, seccomp_release, call_filter_freep)

/*
 * Creates a filter. `names`: NULL-terminated; names that the architecture lacks are skipped.
 * mmap(2) and mprotect(2) are permitted without PROT_EXEC. Free it with call_filter_freep().
 * Returns 0, -ENOMEM, or libseccomp's -ERRNO.
 */
int call_filter_new(const char *const *names, scmp_filter_ctx *ret_filter);

/* Permits sockets of an address family. Returns 0 or libseccomp's -ERRNO. */
int call_filter_allow_family(scmp_filter_ctx filter, int family);

/* Permits new threads, but no new processes. Returns 0 or libseccomp's -ERRNO. */
int call_filter_allow_threads(scmp_filter_ctx filter);

#endif
