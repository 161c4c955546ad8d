/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/symbols.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

/* As bpf/climb.bpf.h asks for them. */
static const char *const needed[] = {"rename_lock", "mount_lock"};

static int check_line(const char *line, bool found[ARRAY_SIZE(needed)], struct failure *failure)
{
	unsigned long long address;
	char name[128];

	if (sscanf(line, "%llx %*c %127s", &address, name) != 2)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		if (strcmp(name, needed[i]) != 0)
			continue;
		if (address == 0)
			return failure_set(failure, EPERM,
					   "the kernel does not tell the address of %s, which "
					   "programs read: set kernel.kptr_restrict to 1 or 0",
					   name);
		found[i] = true;
	}
	return 0;
}

int symbols_check(const char *path, struct failure *failure)
{
	_cleanup_(fclosep) FILE *file = fopen(path, "re");
	_cleanup_(freep) char *line = NULL;
	bool found[ARRAY_SIZE(needed)] = {};
	size_t size = 0;
	int r = 0;

	if (!file)
		return failure_set(failure, errno, "cannot read %s: %m", path);
	while (r == 0 && getline(&line, &size, file) > 0)
		r = check_line(line, found, failure);
	for (size_t i = 0; i < ARRAY_SIZE(needed) && r == 0; i++)
		if (!found[i])
			r = failure_set(failure, ENOENT, "the kernel has no %s in %s", needed[i],
					path);
	return r;
}
