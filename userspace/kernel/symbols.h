/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses of kernel variables that the programs read. For a process without permission,
 * /proc/kallsyms shows zeros for all symbols (kernel/kallsyms.c, kallsyms_show_value()). It needs
 * CAP_SYSLOG, and kernel.kptr_restrict below 2.
 */
#ifndef CORDON_KERNEL_SYMBOLS_H
#define CORDON_KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/failure.h"

#define SYMBOLS_FILE "/proc/kallsyms"

/* Returns 0, -EPERM if the addresses are hidden, or -errno of reading `path`. */
int symbols_check(const char *path, struct failure *failure);

struct symbol {
	const char *name;
	uint64_t address;
	bool found;
};

/*
 * Finds the addresses of all symbols in one pass, because libbpf would parse every line with
 * sscanf(). Returns 0, -ENOENT if one of them does not exist, -EPERM if they are hidden, or -errno
 * of reading `path`.
 */
int symbols_find(const char *path, struct symbol *symbols, size_t count, struct failure *failure);

#endif
