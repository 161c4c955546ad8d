/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's variables that programs read by their addresses. Who may not know these is shown
 * zeros in /proc/kallsyms, for all of them (kernel/kallsyms.c, kallsyms_show_value(): CAP_SYSLOG,
 * and kernel.kptr_restrict below 2), which libbpf takes for addresses. That one is missing
 * altogether, it says itself.
 */
#ifndef CORDON_KERNEL_SYMBOLS_H
#define CORDON_KERNEL_SYMBOLS_H

#include "base/failure.h"

#define SYMBOLS_FILE "/proc/kallsyms"

/* -EPERM: they are hidden; -errno of reading `path`. */
int symbols_check(const char *path, struct failure *failure);

#endif
