/* SPDX-License-Identifier: Apache-2.0 */
/* The shared directories for temporary files. */
#include "base/temporary_directory.h"

#include <string.h>

#include "base/cleanup.h"

size_t temporary_directory(const char *name, size_t size)
{
	static const char *const directories[] = {"/tmp", "/var/tmp", "/dev/shm"};

	for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
		size_t n = strlen(directories[i]);

		if (size > n + 1 && memcmp(name, directories[i], n) == 0 && name[n] == '/')
			return n;
	}
	return 0;
}

bool is_directly_temporary(const char *name, size_t size)
{
	size_t n = temporary_directory(name, size);

	return n > 0 && !memchr(name + n + 1, '/', size - n - 1);
}
