/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the addresses of the kernel's variables are shown, and not as zeros. */
#include "kernel/symbols.h"

#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"

int symbols_check(const char *path, struct failure *failure)
{
	_cleanup_(fclosep) FILE *file = fopen(path, "re");
	_cleanup_(freep) char *line = NULL;
	unsigned long long address;
	size_t size = 0;

	if (!file)
		return failure_set(failure, errno, "cannot read %s: %m", path);
	/* Variables of each processor come first, and the first of them at 0. */
	while (getline(&line, &size, file) > 0)
		if (sscanf(line, "%llx", &address) == 1 && address != 0)
			return 0;
	return failure_set(failure, EPERM,
			   "the kernel does not tell the addresses of its variables, which "
			   "programs read: set kernel.kptr_restrict to 1 or 0");
}
