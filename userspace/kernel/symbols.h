/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's variables that programs read by their addresses. Who may not know these is shown
 * zeros in /proc/kallsyms, for all of them (kernel/kallsyms.c, kallsyms_show_value(): CAP_SYSLOG,
 * and kernel.kptr_restrict below 2).
 */
#ifndef CORDON_KERNEL_SYMBOLS_H
#define CORDON_KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/failure.h"

#define SYMBOLS_FILE "/proc/kallsyms"

/* -EPERM: they are hidden; -errno of reading `path`. */
int symbols_check(const char *path, struct failure *failure);

struct symbol {
	const char *name;
	uint64_t address;
	bool found;
};

/*
 * Fills in the addresses of all symbols, in one pass: libbpf would read every line of the file with
 * sscanf(). -ENOENT: one of them does not exist; -EPERM: they are hidden; -errno of reading `path`.
 */
int symbols_find(const char *path, struct symbol *symbols, size_t count, struct failure *failure);

#endif
